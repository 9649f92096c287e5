// SPDX-License-Identifier: Apache-2.0
// The library that this module is a face of.
#pragma once

#include <string>

namespace npu::pyacl {

/// The address of a C function that works; null where libanynpu.so has none of this name, or one that only refuses.
void* c_function(const char* name);
/// Why there is none: "aclmdlX is not built in this AnyNPU", or the text of the refusal.
std::string why_not(const char* name);

}  // namespace npu::pyacl
