/* SPDX-License-Identifier: Apache-2.0 */
/* Models: those of files (acl_mdl_execute.h), recorded work of streams, which runs again with one call, and data dumps.
 */
#ifndef ANYNPU_ACL_ACL_MDL_H_
#define ANYNPU_ACL_ACL_MDL_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl_aipp.h"
#include "acl/acl_mdl_aipp_info.h"
#include "acl/acl_mdl_execute.h"
#include "acl/acl_rt.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** Before aclmdlSetDump. 100044 when it was called before. */
aclError aclmdlInitDump(void);
/** Begins a dump of executed operators, as the JSON file `dumpCfgPath` says (see acl/runtime/dump_words.h); a dump
 * that runs ends, and the new words count. 100045 without aclmdlInitDump, 100003 and 100006 for a file that cannot be
 * read, 100009 for words that it does not know, 207000 for a kind of dump that is not built. */
aclError aclmdlSetDump(const char* dumpCfgPath);
/** Ends the dump, and returns when all is written. 100045 without aclmdlInitDump. */
aclError aclmdlFinalizeDump(void);

/** Work that was recorded while a stream was captured. */
typedef void* aclmdlRI;

/** Who may call, while a stream is captured, what is not safe then: aclrtMemcpy, aclrtMemset, and aclrtMemcpyAsync of
 * host memory that aclrtMallocHost did not give. GLOBAL: no thread that did not say otherwise for itself; THREAD_LOCAL:
 * all threads but the one that captures; RELAXED: all. */
typedef enum ANYNPU_ANY_INT {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;
typedef enum ANYNPU_ANY_INT {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

/** From here on, work given to `stream` is recorded and not run: aclnn functions, single operators, asynchronous copies
 * and fills, host functions. Addresses and numbers stay as they are recorded; memory must live as long as the recording
 * is run. A stream that waits for an event recorded on a captured stream is captured with it, and must come back by
 * such a wait. Collectives cannot be recorded (the capture then gives nothing), nor can captured streams and events be
 * synchronised, queried or destroyed. 107000 for a stream that is captured already and an unknown `mode`. */
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
/** Ends the capture on the stream it began on. 107000 on another stream, and with the reason when nothing could be
 * recorded; the capture is over then, too. */
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);
/** Whether `stream` is captured, and what aclmdlRICaptureEnd will return. */
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI);
/** Sets the mode of the calling thread and returns the one before in `mode`. */
aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);
/** Between these two calls, what the captured `stream` records is a task group, whose tasks can be replaced. `handle`
 * lives as long as the recording. 107000 for a stream that is not captured, and for calls that do not alternate. */
aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);
/** Between these two calls, what is launched on `stream`, which is not captured, replaces the tasks of the group: the
 * same operators in the same order, with other arguments. The replacement takes place in the order of `stream`; an
 * event with ACL_EVENT_EXTERNAL, recorded behind it and waited for before the group, makes a run wait for it. 107017
 * for a bad handle; 107000 for calls that do not alternate and for other operators, which leave the group as it was. */
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);
/** Queues one run of what was recorded, task behind task in the order they were recorded. Runs of one recording never
 * overlap. 107000 for a recording that is not ended, a stream of another device, a captured stream. A task that fails
 * ends the run; whoever synchronises hears which one it was. */
aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);
/** Runs it on the default stream of the thread's context, and waits for the end. `timeout`: milliseconds, or -1 for no
 * limit; 507046 after it, 107000 for other numbers. */
aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);
/** Ends the run that goes on, before its next task; whoever synchronises its stream gets 500001. No effect without one.
 */
aclError aclmdlRIAbort(aclmdlRI modelRI);
/** A name for people; empty at first, the last one counts. aclmdlRIGetName writes at most 512 characters, and no more
 * than `maxLen` bytes with the closing zero. */
aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);
aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);
/** Gives the recording back; runs that are queued go on. */
aclError aclmdlRIDestroy(aclmdlRI modelRI);
/** A number of the recording, unique in the process. */
aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);
/** Writes the recorded tasks to the file `path` as JSON: {"modelRI": number, "tasks": [{"id", "name"}]}. `flags` is 0,
 * or 1 (verbose), which tells no more here. 107000 for other flags and a path that cannot be written. */
aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);
/** Prints the recorded tasks to standard output. */
aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_MDL_H_
