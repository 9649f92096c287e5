// SPDX-License-Identifier: Apache-2.0
// Refusals of a conversion, which have a code of their own in front: "E10018: …".
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/error.h"

namespace npu::graph::convert {

/// Raises 100000 with "code: text". Say what was got, why it cannot be, and what to write instead.
template <class... Args>
[[noreturn]] void refuse(std::string_view code, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  throw Error(Code::kInvalidParam, fmt::format("{}: {}", code, fmt::format(format.text, std::forward<Args>(args)...)),
              format.place);
}

}  // namespace npu::graph::convert
