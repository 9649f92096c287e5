// SPDX-License-Identifier: Apache-2.0
// Life of the process: initialised or not, forked or not, and a clean end.
#pragma once

#include <atomic>
#include <cstdint>

namespace npu::device {

/// aclInit. Raises 100002 when already initialised. May follow a finalize.
void initialize();
/// aclFinalize: waits for queued work. Raises 100037 when repeated, 100001 when never initialised. Everything stays in
/// place: clients release their objects afterwards.
void finalize();
bool initialized();

namespace detail {
enum ProcessFlag : uint32_t { kForked = 1, kFinalized = 2 };
extern std::atomic<uint32_t> process_flags;
[[noreturn]] void refuse_forked();
void refuse_unusable();
/// First use of a device: fork and exit hooks, status page.
void start_process();
/// How queued work is waited for, at most `timeout_ms`: streams say so when the first one opens.
void set_drain(void (*drain)(int64_t timeout_ms));
/// After the exit hook: no thread is started any more, tasks run in their caller.
bool exiting();
}  // namespace detail

/// Raises 100001 in a child forked after the first use of a device. Every function of this room that takes a lock calls
/// it first: the parent's locks may be held for ever in the child.
inline void check_process() {
  if (detail::process_flags.load(std::memory_order_relaxed) & detail::kForked) [[unlikely]]
    detail::refuse_forked();
}
/// The same, and 100001 after finalize: for calls that make something new.
inline void check_usable() {
  if (detail::process_flags.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::refuse_unusable();
}

}  // namespace npu::device
