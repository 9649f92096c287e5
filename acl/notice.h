// SPDX-License-Identifier: Apache-2.0
// What a client asks for, is allowed, and does not get: told once, so that nobody waits for it.
#pragma once

#include <string_view>

namespace npu::acl {

/// `text` as one line on stderr, the first time that something of this `key` is told. True then.
bool print_once(std::string_view key, std::string_view text) noexcept;

/// One line on stderr and, at WARNING, in the process log; the same text again says nothing.
void tell_once(std::string_view text) noexcept;

}  // namespace npu::acl
