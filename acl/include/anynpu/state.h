/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of this user do on their NPUs right now, read from the status pages they publish. */
#ifndef ANYNPU_ANYNPU_STATE_H_
#define ANYNPU_ANYNPU_STATE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One device as one process uses it. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  int32_t pid;
  const char* process;  /**< name of the program */
  const char* soc;      /**< "Ascend910B1" */
  int32_t device_count; /**< NPUs this process sees */
  int32_t device;       /**< -1: the process has opened none so far */
  uint64_t capacity;    /**< bytes; this and what follows are 0 for device -1 */
  uint64_t used;        /**< bytes allocated now */
  uint64_t high_water;  /**< bytes, the most so far */
  uint64_t tasks;       /**< finished so far */
  uint64_t busy_ns;     /**< nanoseconds spent in tasks so far */
} anynpu_usage;

/** Calls `visit` for every device in use, by process and device. Texts live during the call only. */
void anynpu_each_usage(void (*visit)(const anynpu_usage* usage, void* context), void* context);

/** What this process would see with its environment. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* soc;         /**< "Ascend910B1"; null when the settings make no sense */
  int32_t device_count;    /**< NPUs */
  uint64_t capacity;       /**< bytes one NPU offers */
  uint64_t machine_memory; /**< bytes this machine has, or the control group allows */
  const char* problem;     /**< what is wrong with the settings; "" when nothing is */
} anynpu_configuration;

/** Calls `visit` once. Texts live during the call only. */
void anynpu_configured(void (*visit)(const anynpu_configuration* configuration, void* context), void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_STATE_H_ */
