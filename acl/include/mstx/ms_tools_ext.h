/* SPDX-License-Identifier: Apache-2.0 */
/* Marks in time lines (MSTX). Moments and ranges of the calling thread; with a stream, also the moments when the stream
 * comes to them. They are kept while somebody records them: a collection with ACL_PROF_MSPROFTX (acl_prof.h), or
 * markers of mspti. Texts end with a null and are copied. What is wrong (a null text, no stream) is told in the process
 * log and by aclGetRecentErrMsg, and changes nothing else.
 * Source: vendor documentation of MindStudio, "MSTX". Ranges of heaps and regions are not there: nothing here checks
 * memory by them. */
#ifndef ANYNPU_MSTX_MS_TOOLS_EXT_H_
#define ANYNPU_MSTX_MS_TOOLS_EXT_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;

/** Marks this moment. `stream` null: on the host alone. */
void mstxMarkA(const char* message, aclrtStream stream);
/** Begins a range, which any thread may end. 0 when refused. */
mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
/** Ends it, in the stream too where it began with one. Does nothing for 0 and for a range that began unrecorded. */
void mstxRangeEnd(mstxRangeId id);

/** Marks by name of domain are told apart; the same handle for the same name. Null for a null or empty name. */
mstxDomainHandle_t mstxDomainCreateA(const char* name);
/** What was marked in it stays. */
void mstxDomainDestroy(mstxDomainHandle_t handle);
void mstxDomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream);
mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream);
void mstxDomainRangeEnd(mstxDomainHandle_t handle, mstxRangeId id);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_MSTX_MS_TOOLS_EXT_H_
