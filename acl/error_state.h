// SPDX-License-Identifier: Apache-2.0
// The error text that each thread keeps for aclGetRecentErrMsg, and the one place where exceptions end. Every failed
// call is a line of the process log, too.
#pragma once

#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace npu::acl {

/// Keeps "[prefix] message" for this thread, logs it at `level` and returns the code. A null or empty prefix adds
/// nothing.
int set_error(const Error& error, const char* prefix, LogLevel level = LogLevel::kError);

/// This thread's last text, "" when there is none; never null. Reading clears it; the pointer stays valid until the
/// thread's next call.
const char* recent_error();
/// The same without "[prefix] ".
const char* recent_reason();

/// Code of this thread's last failure, of whatever function; 0 for none. Clients show it in place of the code they got.
int last_error() noexcept;
void clear_last_error() noexcept;

/// Turns the exception being handled into a code and a text: call it inside `catch (...)` only.
int set_current_exception(const char* prefix);

/// Runs `body`; returns 0, or the code of what it threw.
template <class F>
int guarded(const char* prefix, F&& body) noexcept {
  try {
    std::forward<F>(body)();
    return 0;
  } catch (...) {
    return set_current_exception(prefix);
  }
}

/// The same for functions that hand out a pointer: null when `body` threw.
template <class F>
auto guarded_create(const char* prefix, F&& body) noexcept -> decltype(body()) {
  try {
    return std::forward<F>(body)();
  } catch (...) {
    set_current_exception(prefix);
    return nullptr;
  }
}

}  // namespace npu::acl
