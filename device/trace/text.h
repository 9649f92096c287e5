// SPDX-License-Identifier: Apache-2.0
// Texts of records have numbers: 1, 2, … in the order in which the process met them, 0 is "". They are never given up,
// so that whoever holds a record may ask for its texts at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace npu::device::trace {

struct Text {
  uint32_t number = 0;
  bool is_new = false;
};
Text number_of_text(std::string_view text);
/// Null-terminated, and valid as long as the process; "" for a number that was not given out.
const char* text_of(uint32_t number);
/// All of them in order, while none can be added.
void for_each_text(const std::function<void(std::string_view)>& each);

}  // namespace npu::device::trace
