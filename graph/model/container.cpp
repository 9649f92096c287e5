// SPDX-License-Identifier: Apache-2.0
#include "graph/model/container.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/model/digest.h"

namespace npu::graph::model {
namespace {

constexpr std::string_view kMagic("\x89NPUG\r\n\x1a", 8);
constexpr size_t kHead = 64, kRow = 24;
constexpr size_t kVersionAt = 8, kCountAt = 12, kBytesAt = 16, kChecksumAt = 24, kChecksumBytes = 16;
constexpr uint32_t kMostSections = 1 << 16;

/// A number of `count` bytes, the lowest first.
void put(std::string& to, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) to[at + i] = static_cast<char>(value >> (8 * i));
}

uint64_t number(std::span<const std::byte> bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) out |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
  return out;
}

size_t aligned(size_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

using Range = std::pair<size_t, size_t>;  // where it begins and ends

/// Of all but the place where it stands itself, and these ranges, which are in order.
Digest checksum(std::span<const std::byte> bytes, std::span<const Range> left_out) {
  Digest sum = digest_of(bytes.first(kChecksumAt));
  const auto add = [&](size_t from, size_t to) {
    const Digest part = digest_of(bytes.subspan(from, to - from));
    sum = {sum.first * 3 ^ part.first, sum.second * 3 + part.second};
  };
  size_t at = kChecksumAt + kChecksumBytes;
  for (const auto& [begin, end] : left_out) {
    add(at, begin);
    at = end;
  }
  add(at, bytes.size());
  return sum;
}

[[noreturn]] void damaged(std::string_view how) { fail(Code::kParseFile, "the container is damaged: {}", how); }

}  // namespace

std::string to_container(std::span<const std::pair<SectionKind, std::string>> sections, Apart apart) {
  std::vector<Range> left_out;
  std::string out(kHead + sections.size() * kRow, '\0');
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto& [kind, bytes] = sections[i];
    out.resize(aligned(out.size()));
    const size_t row = kHead + i * kRow;
    const bool stands_apart = apart == Apart::kData && kind == SectionKind::kData;
    if (stands_apart) left_out.emplace_back(out.size(), out.size() + bytes.size());
    put(out, row, static_cast<uint32_t>(kind), 4);
    put(out, row + 4, stands_apart ? 1 : 0, 4);
    put(out, row + 8, out.size(), 8);
    put(out, row + 16, bytes.size(), 8);
    out += bytes;
  }
  kMagic.copy(out.data(), kMagic.size());
  put(out, kVersionAt, kContainerVersion, 4);
  put(out, kCountAt, sections.size(), 4);
  put(out, kBytesAt, out.size(), 8);
  const Digest sum = checksum(std::as_bytes(std::span(out)), left_out);
  put(out, kChecksumAt, sum.first, 8);
  put(out, kChecksumAt + 8, sum.second, 8);
  return out;
}

Container::Container(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail(Code::kParseFile, "it is no container of compiled functions");
  if (bytes.size() < kHead) damaged("it ends in its head");
  if (const uint64_t version = number(bytes, kVersionAt, 4); version != kContainerVersion)
    fail(Code::kParseFile, "it is a container of version {}; this is made for version {}", version, kContainerVersion);
  const uint64_t count = number(bytes, kCountAt, 4), whole = number(bytes, kBytesAt, 8);
  if (whole != bytes.size()) damaged(fmt::format("it has {} bytes of {}", bytes.size(), whole));
  if (count > kMostSections || kHead + count * kRow > whole) damaged(fmt::format("{} sections have no room", count));
  std::vector<Range> left_out;
  uint64_t end = kHead + count * kRow;
  for (size_t row = kHead; row < kHead + count * kRow; row += kRow) {
    const uint64_t begin = number(bytes, row + 8, 8), size = number(bytes, row + 16, 8);
    if (begin > whole || size > whole - begin) damaged("a section lies beyond its end");
    if (begin < end) damaged("sections overlap");
    end = begin + size;
    if (number(bytes, row + 4, 4) != 0) left_out.emplace_back(begin, end);
    sections_.emplace_back(static_cast<SectionKind>(number(bytes, row, 4)), bytes.subspan(begin, size));
  }
  if (Digest{number(bytes, kChecksumAt, 8), number(bytes, kChecksumAt + 8, 8)} != checksum(bytes, left_out))
    damaged("its checksum is another");
}

std::span<const std::byte> Container::section(SectionKind kind) const {
  const auto at =
      std::find_if(sections_.begin(), sections_.end(), [kind](const auto& one) { return one.first == kind; });
  return at == sections_.end() ? std::span<const std::byte>{} : at->second;
}

}  // namespace npu::graph::model
