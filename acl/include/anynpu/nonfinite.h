/* SPDX-License-Identifier: Apache-2.0 */
/* Which operator made the first infinity or NaN. Off until it is asked for; then what every operator reads and writes
 * is looked at, and nothing of it is changed. */
#ifndef ANYNPU_ANYNPU_NONFINITE_H_
#define ANYNPU_ANYNPU_NONFINITE_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** A result with infinities of inputs that were finite, or with NaN of inputs that held none. An infinite number among
 * the call's arguments (a mask filled with -inf) counts as an input. Members are only ever added at the end; texts live
 * during the call. */
typedef struct {
  size_t struct_size;
  int32_t device;
  const char* type;   /**< "aclnnLog", or the vendor's name of a graph's operator: "Log" */
  const char* node;   /**< the client's name; that of the call outside of graphs */
  const char* graph;  /**< that the node is in; "" outside of graphs */
  int64_t step;       /**< of that graph, from 0 */
  const char* output; /**< which result; "" of a graph's node */
  aclDataType dtype;
  int32_t rank;
  const int64_t* sizes; /**< `rank` sizes */
  int64_t infinities;
  int64_t nans;
  int32_t of_infinities; /**< 1 where inputs held infinities, of which it made NaN */
  const char* text;      /**< all of it in one line */
} anynpu_nonfinite;

/** From now on calls `visit` for each, on the thread that ran the operator: with ASCEND_LAUNCH_BLOCKING=1 that which
 * launched it. `visit` must not run operators. Another call takes its place, null ends it. Collectives are not told:
 * what they bring, another rank has made. A device that saturates makes none; see overflow.h. */
void anynpu_watch_nonfinite(void (*visit)(const anynpu_nonfinite* found, void* context), void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_NONFINITE_H_ */
