// SPDX-License-Identifier: Apache-2.0
// The application's lines in the process log.
#include "base/log.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "acl/include/acl/acl_base.h"

namespace {
const char* or_empty(const char* text) { return text == nullptr ? "" : text; }
}  // namespace

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...) {
  const auto level = static_cast<npu::LogLevel>(std::clamp<int>(logLevel, ACL_DEBUG, ACL_ERROR));
  if (fmt == nullptr || !npu::log_enabled(level, "APP")) return;
  char text[1025];
  va_list arguments;
  va_start(arguments, fmt);
  const int length = std::vsnprintf(text, sizeof text, fmt, arguments);
  va_end(arguments);
  if (length < 0) return;  // a format the C library refuses
  npu::log_line(level, {"APP", or_empty(func), or_empty(file), line}, text);
}
