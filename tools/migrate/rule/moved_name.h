// SPDX-License-Identifier: Apache-2.0
// Names that TensorFlow 2.15 has not, and the place that means exactly the same (rules/moved.tsv).
#pragma once

#include <string>
#include <string_view>

namespace npu::migrate {

struct MovedName {
  std::string place;    ///< the new dotted name
  std::string import;   ///< the module that is imported so that `place` can be written
  std::string from;     ///< the module that `from … import` takes it from; "" where the place has no module
  std::string without;  ///< names of arguments that the place does not take, with blanks between; "()" unnamed ones
  std::string told;     ///< what a user of it is told, or ""
  std::string_view last() const { return std::string_view(place).substr(place.rfind('.') + 1); }
};

/// Where this very name is now; null where it has no such place.
const MovedName* moved_name(std::string_view name);
/// The same for a name that moved with the module it is in. Its place is "" where there is none.
MovedName moved_place(std::string_view name);

}  // namespace npu::migrate
