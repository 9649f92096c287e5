// SPDX-License-Identifier: Apache-2.0
// The one pool of the process, shared by devices and streams. ANYNPU_THREADS sets its size (default: cores.h's share of
// this process). The caller always takes part, so nested and concurrent calls make progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace npu {

/// Threads that parallel_for may use, the caller included (at least 1).
size_t thread_count();

namespace detail {
void parallel_run(int64_t parts, void (*body)(void* context, int64_t part), void* context);
}

/// Calls `body(i)` once for every i in [0, parts), on any threads, and returns when all are done. `body` must not
/// throw. What a part computes must depend on its index only, never on the number of threads: results are reproducible.
template <class F>
void parallel_parts(int64_t parts, F&& body) {
  if (parts <= 1 || thread_count() == 1) {
    for (int64_t i = 0; i < parts; ++i) body(i);
    return;
  }
  using Body = std::remove_reference_t<F>;
  detail::parallel_run(
      parts, [](void* context, int64_t part) { (*static_cast<Body*>(context))(part); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Calls `body(begin, end)` over [0, count) in parts of `grain` elements.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& body) {
  if (count <= grain) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  parallel_parts((count + grain - 1) / grain, [&](int64_t part) {
    const int64_t begin = part * grain;
    body(begin, begin + grain < count ? begin + grain : count);
  });
}

}  // namespace npu
