// SPDX-License-Identifier: Apache-2.0
// A file that is written from its front to its end, in large pieces.
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "tools/profile/output/draft.h"

namespace npu::profile {

/// Raises npu::Error where it cannot be written.
class Sink {
 public:
  explicit Sink(const std::filesystem::path& path);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  Sink& operator<<(std::string_view text) { return buffer_.append(text), drained(); }
  template <class... Values>
  Sink& print(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    return drained();
  }
  Sink& number(uint64_t value) {
    const fmt::format_int digits(value);
    return *this << std::string_view(digits.data(), digits.size());
  }
  /// Microseconds with three decimals: a double has not the digits of a time since 1970.
  Sink& microseconds(int64_t nanoseconds);

  /// Nothing more comes; the file is whole, but not under its name.
  void close();
  /// After close.
  void keep() { draft_.keep(); }

 private:
  static constexpr size_t kPiece = 1 << 18;
  Sink& drained() {
    if (buffer_.size() >= kPiece) drain();
    return *this;
  }
  void drain();

  Draft draft_;
  int file_;
  fmt::memory_buffer buffer_;
};

}  // namespace npu::profile
