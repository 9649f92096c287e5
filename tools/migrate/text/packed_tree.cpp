// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/packed_tree.h"

#include <functional>

namespace npu::migrate {
namespace {

// A node is: its kind; its field; where it begins, from the end of what stands before it in its parent, or from the
// parent's own begin; its length. Flags share the bytes of kind and field.
constexpr uint8_t kHasChildren = 0x80, kKindBits = 0x7F;
constexpr uint8_t kLast = 0x80, kGap = 0x40, kFieldBits = 0x3F;

static_assert(static_cast<uint8_t>(Kind::k_ERROR) <= kKindBits && static_cast<uint8_t>(Field::k_value) <= kFieldBits);

void put(std::string& out, uint32_t number) {
  for (; number > 0x7F; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

uint32_t take(const char*& at) {
  uint32_t out = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    out |= static_cast<uint32_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return out;
  }
}

size_t hash_of(const Source& source) { return std::hash<std::string>()(source.bytes()); }

}  // namespace

PackedTree::PackedTree(std::span<const FlatNode> flat, size_t error_line, const Source& source)
    : nodes_(static_cast<uint32_t>(flat.size())),
      error_line_(error_line),
      text_bytes_(source.bytes().size()),
      text_hash_(hash_of(source)) {
  packed_.reserve(flat.size() * 4);
  uint32_t place = 0;  // where the next node begins if nothing lies between
  for (uint32_t i = 0; i < nodes_; ++i) {
    const FlatNode& node = flat[i];
    const bool inner = node.past > i + 1, last = node.past == flat[node.parent].past;
    packed_ += static_cast<char>(static_cast<uint8_t>(node.kind) | (inner ? kHasChildren : 0));
    packed_ +=
        static_cast<char>(static_cast<uint8_t>(node.field) | (last ? kLast : 0) | (node.begin != place ? kGap : 0));
    if (node.begin != place) put(packed_, node.begin - place);
    put(packed_, node.end - node.begin);
    place = inner ? node.begin : node.end;
  }
  packed_.shrink_to_fit();
}

bool PackedTree::made_of(const Source& source) const {
  return source.bytes().size() == text_bytes_ && hash_of(source) == text_hash_;
}

std::vector<FlatNode> PackedTree::unpacked() const {
  std::vector<FlatNode> out;
  out.reserve(nodes_);
  const char* at = packed_.data();
  uint32_t parent = 0, place = 0;
  for (uint32_t i = 0; i < nodes_; ++i) {
    const auto kind = static_cast<uint8_t>(*at++), field = static_cast<uint8_t>(*at++);
    const bool inner = (kind & kHasChildren) != 0, last = (field & kLast) != 0;
    const uint32_t begin = place + ((field & kGap) != 0 ? take(at) : 0), end = begin + take(at);
    // While a node is open, its `past` tells whether it is its parent's last.
    out.push_back({begin, end, parent, inner ? uint32_t{last} : i + 1, static_cast<Kind>(kind & kKindBits),
                   static_cast<Field>(field & kFieldBits)});
    place = inner ? begin : end;
    if (inner) parent = i;
    for (bool closes = !inner && last && i > 0; closes; parent = out[parent].parent) {
      closes = out[parent].past != 0 && parent != 0;
      out[parent].past = i + 1;
    }
  }
  return out;
}

}  // namespace npu::migrate
