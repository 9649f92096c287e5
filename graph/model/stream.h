// SPDX-License-Identifier: Apache-2.0
// Numbers as they are written into sections: seven bits a byte, the lowest first, so that small ones take one byte.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace npu::graph::model {

class ByteWriter {
 public:
  void count(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  /// Of either sign; small ones are short.
  void number(int64_t value) { count((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63)); }
  void real(double value) {
    auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) bytes_.push_back(static_cast<char>(bits));
  }
  void text(std::string_view value) {
    count(value.size());
    bytes_ += value;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// Every read beyond the end, and every number that cannot be, raises 100006.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t count() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<uint64_t>(next());
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }
  /// Of things that take a byte at least: more than there are bytes cannot be.
  size_t size() { return below(bytes_.size() - at_ + 1); }
  /// A count below `end`.
  size_t below(uint64_t end) {
    const uint64_t value = count();
    if (value >= end) damaged();
    return static_cast<size_t>(value);
  }
  int64_t number() {
    const uint64_t value = count();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  double real() {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= std::to_integer<uint64_t>(next()) << (8 * i);
    return std::bit_cast<double>(bits);
  }
  std::string_view text() {
    const size_t length = size();
    if (length > bytes_.size() - at_) damaged();
    const auto* from = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += length;
    return {from, length};
  }
  bool at_end() const { return at_ == bytes_.size(); }

  [[noreturn]] static void damaged() { fail(Code::kParseFile, "what is in it does not hold together"); }

 private:
  std::byte next() {
    if (at_ >= bytes_.size()) damaged();
    return bytes_[at_++];
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace npu::graph::model
