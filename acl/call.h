// SPDX-License-Identifier: Apache-2.0
// What every body of a runtime function stands in: exceptions end here, and a
// forked child is refused before it can meet a lock that nobody will release.
#pragma once

#include <utility>

#include "acl/include/acl/acl_base.h"
#include "base/error.h"
#include "device/process/init.h"
#include "device/trace/recorder.h"

namespace npu::acl {

/// Keeps the exception being handled as this thread's error and returns its code. Inside `catch (...)` only. The
/// process log gets it at ERROR, or at INFO when its code is `answer`.
aclError refuse_current(const char* function, Code answer = Code::kOk) noexcept;

template <class F>
aclError call(const char* function, F&& body) noexcept {
  const device::trace::CallScope traced(function, device::trace::Level::kRuntime);
  try {
    device::check_process();
    std::forward<F>(body)();
    return ACL_SUCCESS;
  } catch (...) {
    return refuse_current(function);
  }
}

/// The same for a call that clients repeat, or make to learn something, and whose refusal `answer` tells it to them: no
/// error for the log.
template <class F>
aclError ask(const char* function, Code answer, F&& body) noexcept {
  try {
    device::check_process();
    std::forward<F>(body)();
    return ACL_SUCCESS;
  } catch (...) {
    return refuse_current(function, answer);
  }
}

/// For functions that answer a value in place of a code: `nothing` when the body fails, the error text says why.
template <class T, class F>
T call_or(const char* function, T nothing, F&& body) noexcept {
  try {
    device::check_process();
    return std::forward<F>(body)();
  } catch (...) {
    refuse_current(function);
    return nothing;
  }
}

/// The place a result goes to. Raises 100000 for null.
template <class T>
T& result(T* place, const char* argument) {
  if (place == nullptr) [[unlikely]]
    fail(Code::kInvalidParam, "{} is null; pass the address that receives the result", argument);
  return *place;
}

/// What `make` makes goes to `place`. Null raises 100000 before anything is made: an assignment to result() would make
/// first what nobody then owns.
template <class T, class Make>
void give_made(T* place, const char* argument, Make&& make) {
  T& to = result(place, argument);
  to = make();
}

/// Raises 100000 when an argument that must be given is null.
template <class T>
T* given(T* pointer, const char* argument) {
  if (pointer == nullptr) [[unlikely]]
    fail(Code::kInvalidParam, "{} is null; it must be given", argument);
  return pointer;
}

/// A limit in milliseconds as the client gives it: -1 for none. Raises 107000 for other negative numbers.
inline int64_t milliseconds(int32_t timeout) {
  if (timeout < -1) fail(Code::kRtParamInvalid, "timeout is {}; give milliseconds, or -1 for no limit", timeout);
  return timeout;
}

}  // namespace npu::acl
