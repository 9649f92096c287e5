// SPDX-License-Identifier: Apache-2.0
// The library that this module is a face of.
#pragma once

namespace npu::pyacl {

/// The address of a C function; null where libanynpu.so has none of this name.
void* c_function(const char* name);

}  // namespace npu::pyacl
