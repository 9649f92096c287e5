// SPDX-License-Identifier: Apache-2.0
#include "graph/run/busy.h"

#include <utility>

#include "device/process/status_page.h"

namespace npu::graph {
namespace {

constinit thread_local Busy* current = nullptr;

}  // namespace

Busy::Busy(int device) : device_(device), outer_(current) {
  if (outer_ != nullptr) return;
  current = this;
  since_ = Clock::now();
}

Busy::~Busy() {
  if (outer_ != nullptr) return;
  count();
  current = nullptr;
}

void Busy::count() {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since_).count();
  device::counters(device_).busy_ns.fetch_add(static_cast<uint64_t>(ns), std::memory_order_relaxed);
}

Busy::Pause::Pause() : busy_(std::exchange(current, nullptr)) {
  if (busy_ != nullptr) busy_->count();
}

Busy::Pause::~Pause() {
  if (busy_ == nullptr) return;
  busy_->since_ = Clock::now();
  current = busy_;
}

}  // namespace npu::graph
