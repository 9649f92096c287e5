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

thread_local constinit int last_code = 0;
thread_local constinit ErrorState* current = nullptr;

// Frees the state with its thread. Clients call on while the process ends, after the main thread's own objects are
// gone: that late state is made anew and never freed.
struct Guard {
  ~Guard() {
    delete current;
    current = nullptr;
  }
};

ErrorState& state() {
  if (current == nullptr) {
    thread_local Guard guard;
    current = new ErrorState;
  }
  return *current;
}

int keep(Code code, const char* message, const char* prefix) noexcept {
  last_code = static_cast<int>(code);
  try {
    const bool named = prefix != nullptr && *prefix != '\0';
    state().pending = named ? fmt::format("[{}] {}", prefix, message) : std::string(message);
  } catch (...) {  // no memory for the text: the code alone must do
    if (current != nullptr) current->pending.clear();
  }
  return last_code;
}

}  // namespace

int set_error(const Error& error, const char* prefix) { return keep(error.code(), error.what(), prefix); }

int last_error() noexcept { return last_code; }
void clear_last_error() noexcept { last_code = 0; }

const char* recent_error() {
  if (current == nullptr) return "";
  ErrorState& s = *current;
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
