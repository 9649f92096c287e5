// SPDX-License-Identifier: Apache-2.0
// Marks of ours that say for which module of the client's a thread works from then on, until the next one of the
// thread: a MarkRecord of the domain below that is a moment; its text is the module's name, "" outside of all, and its
// number the phase.
#pragma once

#include <cstdint>

namespace npu::device::trace {

inline constexpr const char* kModuleDomain = "anynpu.module";

/// What is done for a module. A step is an optimizer's, which counts as a module of its own.
enum class Phase : uint64_t { kForward, kGradient, kStep };

}  // namespace npu::device::trace
