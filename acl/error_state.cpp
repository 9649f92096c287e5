// SPDX-License-Identifier: Apache-2.0
#include "acl/error_state.h"

#include <new>
#include <string>

namespace npu::acl {
namespace {

struct ErrorState {
  std::string pending;  // not read yet
  std::string handed_out;
};

ErrorState& state() {
  thread_local ErrorState instance;
  return instance;
}

int keep(Code code, const char* message, const char* prefix) noexcept {
  try {
    const bool named = prefix != nullptr && *prefix != '\0';
    state().pending = named ? fmt::format("[{}] {}", prefix, message) : std::string(message);
  } catch (...) {  // no memory for the text: the code alone must do
    state().pending.clear();
  }
  return static_cast<int>(code);
}

}  // namespace

int set_error(const Error& error, const char* prefix) { return keep(error.code(), error.what(), prefix); }

const char* recent_error() {
  ErrorState& s = state();
  s.handed_out.swap(s.pending);
  s.pending.clear();
  return s.handed_out.c_str();
}

int set_current_exception(const char* prefix) {
  try {
    throw;
  } catch (const Error& error) {
    return set_error(error, prefix);
  } catch (const std::bad_alloc&) {
    return keep(Code::kNnInner, "host memory is used up; close other programs or use smaller tensors", prefix);
  } catch (const std::exception& error) {
    return keep(Code::kNnInner, error.what(), prefix);
  } catch (...) {
    return keep(Code::kNnInner, "an exception of unknown type was raised inside the operator", prefix);
  }
}

}  // namespace npu::acl
