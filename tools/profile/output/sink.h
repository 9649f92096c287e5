// SPDX-License-Identifier: Apache-2.0
// A file that is written from its front to its end, in large pieces.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "tools/profile/output/draft.h"

namespace npu::profile {

/// Raises npu::Error where it cannot be written. What stands here in the header is called for each part of each line.
class Sink {
 public:
  explicit Sink(const std::filesystem::path& path);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  Sink& operator<<(std::string_view text) {
    if (text.size() > kPiece - size_) return large(text);
    std::memcpy(piece_.get() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  template <class... Values>
  Sink& print(fmt::format_string<Values...> format, Values&&... values) {
    return *this << fmt::format(format, std::forward<Values>(values)...);
  }
  Sink& number(uint64_t value) {
    const fmt::format_int digits(value);
    return *this << std::string_view(digits.data(), digits.size());
  }
  /// Microseconds with three decimals: a double has not the digits of a time since 1970.
  Sink& microseconds(int64_t nanoseconds) {
    const int64_t rest = nanoseconds % 1000;
    const char tail[] = {'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
    const fmt::format_int whole(nanoseconds / 1000);
    return *this << std::string_view(whole.data(), whole.size()) << std::string_view(tail, sizeof tail);
  }

  /// Nothing more comes; the file is whole, but not under its name.
  void close();
  /// After close.
  void keep() { draft_.keep(); }

 private:
  static constexpr size_t kPiece = 1 << 18;
  static char digit(int64_t value) { return static_cast<char>('0' + value); }
  Sink& large(std::string_view text);
  void write_out(std::string_view text);

  Draft draft_;
  int file_;
  size_t size_ = 0;
  const std::unique_ptr<char[]> piece_;
};

}  // namespace npu::profile
