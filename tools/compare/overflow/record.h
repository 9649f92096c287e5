// SPDX-License-Identifier: Apache-2.0
// What the device notes about an operator that overflowed: 2,048 bytes, in an old form or a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/json.h"

namespace npu::compare {

/// With the field names that readers of the decoded files expect. Raises a Refusal for bytes that are none.
OrderedJson decode_overflow(std::span<const std::byte> bytes);

/// The task that overflowed, as a decoded record names it.
struct OverflowTask {
  std::string kind;    ///< "AI Core", "AIV", …
  std::string status;  ///< a number, or several in brackets
  uint64_t task = 0, stream = 0;
  std::optional<uint64_t> context, thread;
};
/// Raises a Refusal where no part of it overflowed.
OverflowTask overflow_task(const OrderedJson& record);

}  // namespace npu::compare
