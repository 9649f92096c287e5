// SPDX-License-Identifier: Apache-2.0
// Disjoint ranges of addresses: a map from the first byte to something with `bytes`.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>

namespace npu::device {

template <class T, class Byte = const std::byte>
class RangeMap : public std::map<Byte*, T> {
 public:
  /// The range that holds `address`, or end().
  auto holding(const void* address) {
    const auto next = this->upper_bound(byte(address));
    if (next == this->begin() || byte(address) >= end_of(std::prev(next))) return this->end();
    return std::prev(next);
  }
  /// The range that holds all `bytes` from `begin`, or end().
  auto covering(const void* begin, size_t bytes) {
    const auto at = holding(begin);
    return at != this->end() && bytes <= static_cast<size_t>(end_of(at) - byte(begin)) ? at : this->end();
  }
  bool covers(const void* begin, size_t bytes) { return covering(begin, bytes) != this->end(); }
  /// Whether a range holds one of them.
  bool overlaps(const void* begin, size_t bytes) {
    const auto next = this->lower_bound(byte(begin));
    return (next != this->end() && next->first < byte(begin) + bytes) || holding(begin) != this->end();
  }

 private:
  using Iterator = typename std::map<Byte*, T>::iterator;
  static Byte* byte(const void* address) { return static_cast<Byte*>(const_cast<void*>(address)); }
  static Byte* end_of(Iterator at) { return at->first + at->second.bytes; }
};

}  // namespace npu::device
