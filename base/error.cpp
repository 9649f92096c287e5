// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

namespace npu {

const char* Error::what() const noexcept { return message_.c_str(); }

void detail::raise(Code code, fmt::string_view text, fmt::format_args arguments, const std::source_location& place) {
  throw Error(code, fmt::vformat(text, arguments), place);
}

}  // namespace npu
