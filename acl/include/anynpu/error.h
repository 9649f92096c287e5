/* SPDX-License-Identifier: Apache-2.0 */
/* The reason of a failure in the user's words, for programs that put words of their own around it. */
#ifndef ANYNPU_ANYNPU_ERROR_H_
#define ANYNPU_ANYNPU_ERROR_H_

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** The sentence of this thread's last failure: aclGetRecentErrMsg without the name of the called function in front.
 * "" when there is none; never null. Reading it clears both; the text lives until the thread's next call. */
const char* anynpu_recent_reason(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_ERROR_H_ */
