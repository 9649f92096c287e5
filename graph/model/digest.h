// SPDX-License-Identifier: Apache-2.0
// 128 bits that stand for bytes: names of content, and checksums. They guard against damage and chance, not against
// somebody who wants two contents to have one digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace npu::graph::model {

struct Digest {
  uint64_t first = 0, second = 0;
  bool operator==(const Digest&) const = default;
  /// 32 digits of base 16.
  std::string text() const;
};

/// The same on every machine, however the bytes lie in memory.
Digest digest_of(std::span<const std::byte> bytes);
inline Digest digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

}  // namespace npu::graph::model
