/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning as the vendor's AOE does it: kernels and fused nodes are measured in all their ways when they are met for the
 * first time, and what wins is kept in banks, which later processes use. docs/tuning.md tells what is tuned, where the
 * banks are, and what they hold. */
#ifndef ANYNPU_ANYNPU_TUNING_H_
#define ANYNPU_ANYNPU_TUNING_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Begins tuning: job 1 of graphs (what fusion makes of them), 2 of operators (their kernels). `work_path`: the folder,
 * which must be there, that gets aoe_result_{sgat|opat}_{time}_{process}.json at the end; null or "" for the current
 * one. `config`: the text of the vendor's tuning configuration, or null. `notice`, which may be null, hears of what in
 * it has no effect. Ends with the process, or by anynpu_tuning_end.
 * 100000 for another job (4, gradient segments, is refused with 207000), a folder that cannot be written, or where
 * tuning is under way; 100006 for a configuration that is none. */
aclError anynpu_tuning_begin(int32_t job, const char* work_path, const char* config,
                             void (*notice)(const char* text, void* context), void* context);
/** Ends it and writes the report. Nothing happens where none is under way. */
void anynpu_tuning_end(void);
/** The job under way, 0 for none. */
int32_t anynpu_tuning_running(void);

/** Calls `visit` for each place where one of several ways is taken: its name in banks, what it is, and the ways, with
 * commas between them. */
void anynpu_each_tuned(void (*visit)(const char* name, const char* purpose, const char* ways, void* context),
                       void* context);

/** Calls `visit` with the path of this process's bank of a job, which need not be there. 100000 for no job. */
aclError anynpu_bank_file(int32_t job, void (*visit)(const char* file, void* context), void* context);
/** Reads a bank and calls `visit` for each entry as a JSON object (docs/tuning.md). 100003 for a file that cannot be
 * read, 100006 for one that is no bank. */
aclError anynpu_bank_read(const char* file, void (*visit)(const char* entry, void* context), void* context);
/** Calls `visit` for whatever keeps entries of a bank from being used by this process: another SoC, CPU or version,
 * ways that are not there; and for what is damaged. Not at all for a bank that is in order. Errors as above. */
aclError anynpu_bank_verify(const char* file, void (*visit)(const char* finding, void* context), void* context);
/** Puts the entries of `from` into `into`, which is made where it is missing; of two for one question the newer stays.
 * `*changed` is how many came in. 161002 where they are of another job, SoC or CPU; errors as above. */
aclError anynpu_bank_merge(const char* into, const char* from, size_t* changed);
/** Calls `visit` for each question that two banks answer differently, one line each. Errors as above. */
aclError anynpu_bank_differences(const char* left, const char* right, void (*visit)(const char* line, void* context),
                                 void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_TUNING_H_ */
