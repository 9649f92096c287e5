// SPDX-License-Identifier: Apache-2.0
#include "acl/error_state.h"

#include <new>
#include <string>

namespace npu::acl {
namespace {

struct ErrorState {
  std::string pending;     // "[function] reason", not read yet
  size_t reason_from = 0;  // where in it the reason begins
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

bool given(const char* prefix) { return prefix != nullptr && *prefix != '\0'; }

void keep_text(const Error& error, const char* prefix) noexcept {
  try {
    ErrorState& s = state();
    s.pending = given(prefix) ? fmt::format("[{}] {}", prefix, error.message()) : error.message();
    s.reason_from = s.pending.size() - error.message().size();
  } catch (...) {  // no memory for the text: the code alone must do
    if (current != nullptr) current->pending.clear();
  }
}

/// The line names where the refusal was raised, and the function that the client called.
void log(const Error& error, const char* prefix, LogLevel level) noexcept {
  if (!log_enabled(level, "ASCENDCL")) return;
  try {
    const std::string text = fmt::format("returns {}: {}", static_cast<int>(error.code()), error.message());
    log_line(level, {"ASCENDCL", given(prefix) ? prefix : "call", error.place().file_name(), error.place().line()},
             text);
  } catch (...) {  // no memory for the text
  }
}

}  // namespace

int set_error(const Error& error, const char* prefix, LogLevel level) {
  last_code = static_cast<int>(error.code());
  keep_text(error, prefix);
  log(error, prefix, level);
  return last_code;
}

int last_error() noexcept { return last_code; }
void clear_last_error() noexcept { last_code = 0; }

const char* recent_error() {
  if (current == nullptr) return "";
  ErrorState& s = *current;
  s.handed_out.swap(s.pending);
  s.pending.clear();
  return s.handed_out.c_str();
}

const char* recent_reason() {
  const char* text = recent_error();
  return *text == '\0' ? text : text + current->reason_from;
}

int set_current_exception(const char* prefix) {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return set_error(error, prefix);
    } catch (const std::bad_alloc&) {
      return set_error(Error(Code::kNnInner, "host memory is used up; close other programs or use smaller tensors"),
                       prefix);
    } catch (const std::exception& error) {
      return set_error(Error(Code::kNnInner, error.what()), prefix);
    } catch (...) {
      return set_error(Error(Code::kNnInner, "an exception of unknown type was raised inside the operator"), prefix);
    }
  } catch (...) {  // no memory for the text either
    if (current != nullptr) current->pending.clear();
    return last_code = static_cast<int>(Code::kNnInner);
  }
}

}  // namespace npu::acl
