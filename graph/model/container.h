// SPDX-License-Identifier: Apache-2.0
// The file that compiled functions and models are kept in: a head, a table of sections, the sections, each beginning at
// a multiple of 64 bytes of the file, so that weights can be used where a mapping of the file puts them. Numbers are
// little-endian.
//
//   0  8 bytes  89 'N' 'P' 'U' 'G' 0d 0a 1a
//   8  u32 version of the container   12  u32 count of sections   16  u64 bytes of the file
//  24  u64 u64 checksum of all other bytes                        40  24 bytes of zeros
//  64  for each section: u32 kind, u32 whether it stands apart, u64 where it begins, u64 its bytes
//
// A section that stands apart is left out of the checksum: gigabytes of weights are then read when they are used, not
// when the file is opened; their writer keeps a digest of them elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::graph::model {

inline constexpr uint32_t kContainerVersion = 2;
inline constexpr size_t kAlignment = 64;

/// What a section holds. Numbers stay; a reader passes over those that it does not know.
enum class SectionKind : uint32_t {
  kTexts = 1,      ///< the texts that the others name by their number
  kFunctions = 2,  ///< functions, nodes and attributes
  kData = 3,       ///< elements of constants, each at a multiple of 64
  kNote = 4,       ///< what a writer adds for its own readers
};

enum class Apart : bool { kNone, kData };

/// The bytes of a file with these sections, in this order; with Apart::kData, sections of that kind stand apart.
std::string to_container(std::span<const std::pair<SectionKind, std::string>> sections, Apart apart = Apart::kNone);

/// The sections of bytes that outlive it.
class Container {
 public:
  /// Raises 100006: it is no container, one of a later version, cut short, or its checksum says that it is damaged.
  explicit Container(std::span<const std::byte> bytes);
  /// Of the first section of this kind; nothing for none.
  std::span<const std::byte> section(SectionKind kind) const;

 private:
  std::vector<std::pair<SectionKind, std::span<const std::byte>>> sections_;
};

}  // namespace npu::graph::model
