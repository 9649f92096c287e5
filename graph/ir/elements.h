// SPDX-License-Identifier: Apache-2.0
// The elements of a constant tensor: shared and never written, in memory of their own or where somebody else keeps
// them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace npu::graph {

/// Reads like a pointer to bytes; null for none. Weights of a model file are used where the mapping of the file lies.
class Elements {
 public:
  Elements() = default;
  Elements(std::nullptr_t) {}  // NOLINT: null is none
  template <class T>
    requires std::convertible_to<T, std::shared_ptr<const std::vector<std::byte>>>
  Elements(T own) {  // NOLINT: bytes are elements
    const std::shared_ptr<const std::vector<std::byte>> kept = std::move(own);
    if (!kept) return;
    bytes_ = *kept;
    keeper_ = kept;
  }
  /// Bytes that stay where they are as long as `keeper`, which is not null, lives.
  Elements(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper)
      : bytes_(bytes), keeper_(std::move(keeper)) {}

  explicit operator bool() const { return keeper_ != nullptr; }
  const std::span<const std::byte>* operator->() const { return &bytes_; }
  const std::span<const std::byte>& operator*() const { return bytes_; }
  operator std::shared_ptr<const void>() const { return keeper_; }  // NOLINT: whoever holds it holds the bytes
  /// Where they lie: equal for elements that are shared.
  const std::byte* get() const { return bytes_.data(); }
  /// Both none, or equal byte for byte.
  bool operator==(const Elements& other) const {
    if (!*this || !other) return !*this && !other;
    return std::ranges::equal(bytes_, other.bytes_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keeper_;
};

}  // namespace npu::graph
