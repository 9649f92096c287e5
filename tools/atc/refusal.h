// SPDX-License-Identifier: Apache-2.0
// Refusals of the command, with the vendor's codes in front: "E10004: …".
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/error.h"

namespace npu::atc {

template <class... Args>
[[noreturn]] void refuse(std::string_view code, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  throw Error(Code::kInvalidParam, fmt::format("{}: {}", code, fmt::format(format.text, std::forward<Args>(args)...)),
              format.place);
}

/// What a code means, "" for one that is not known.
std::string_view meaning_of(std::string_view code);

/// "E10004" in front of a refusal's text; for other texts the code that stands for the number of the error.
std::string_view code_of(const Error& error);
/// The text without it.
std::string_view text_of(const Error& error);

}  // namespace npu::atc
