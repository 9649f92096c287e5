// SPDX-License-Identifier: Apache-2.0
// What tfdbg_ascend, the Python package, calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "adapters/tensorflow/c_api/tf_api.h"

#define GOLDEN_EXPORT __attribute__((visibility("default")))

extern "C" {

/// Tells TensorFlow the operator that dumps; the reason where it does not take it, else null.
GOLDEN_EXPORT const char* tfdbg_ascend_load(void);
GOLDEN_EXPORT void tfdbg_ascend_set_on(bool on);
GOLDEN_EXPORT bool tfdbg_ascend_is_on(void);
GOLDEN_EXPORT void tfdbg_ascend_set_folder(const char* folder);
/// The name of a copy of `function` that dumps, until the thread's next call; null with a reason in `refused`.
GOLDEN_EXPORT const char* tfdbg_ascend_copy(TFE_Context* context, const char* function,
                                            void (*refused)(const char* reason));
/// An output of an operator outside of functions; its elements are copied.
GOLDEN_EXPORT void tfdbg_ascend_put(const char* node, int64_t output, int type, const int64_t* shape, size_t rank,
                                    const void* elements, size_t bytes);
/// Returns when all is written.
GOLDEN_EXPORT void tfdbg_ascend_finish(void);

}  // extern "C"
