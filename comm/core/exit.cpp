// SPDX-License-Identifier: Apache-2.0
#include "comm/core/exit.h"

#include <atomic>

namespace npu::comm {
namespace {

std::atomic<void (*)()> to_call{nullptr};

}  // namespace

void when_all_have_left(void (*last)()) { to_call = last; }

void all_have_left() {
  if (void (*const last)() = to_call.exchange(nullptr)) last();
}

}  // namespace npu::comm
