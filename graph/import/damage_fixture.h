// SPDX-License-Identifier: Apache-2.0
// Damage to messages of protobuf, for tests: fields dropped, doubled, swapped, overwritten and cut off, anywhere in the
// tree of messages. Round n is the same every time.
#pragma once

#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/damage_fixture.h"

namespace npu::graph {

/// A message's fields as their bytes, tags included; empty when it is none.
inline std::vector<std::string> fields_of(const std::string& bytes) {
  std::vector<std::string> out;
  try {
    protozero::pbf_reader reader(bytes);
    for (size_t start = 0; reader.next(); start = bytes.size() - reader.length()) {
      reader.skip();
      out.push_back(bytes.substr(start, bytes.size() - reader.length() - start));
    }
  } catch (const protozero::exception&) {
    out.clear();
  }
  return out;
}

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

inline std::string damaged(Random& random, std::string bytes);

/// A field with something else in it.
inline std::string damaged_field(Random& random, const std::string& field) {
  protozero::pbf_reader reader(field);
  reader.next();
  const std::string tag = varint(uint64_t{reader.tag()} << 3 | static_cast<uint64_t>(reader.wire_type()));
  if (reader.wire_type() == protozero::pbf_wire_type::varint) {
    const uint64_t values[] = {0, 1, 2, 3, 9, 10, 19, 20, 255, 1ull << 31, 1ull << 62, ~0ull, random()};
    return tag + varint(values[below(random, std::size(values))]);
  }
  if (reader.wire_type() != protozero::pbf_wire_type::length_delimited) return field;
  const std::string inside = damaged(random, reader.get_string());
  return tag + varint(inside.size()) + inside;
}

inline std::string damaged_bytes(Random& random, std::string bytes) {
  if (bytes.empty() || below(random, 4) == 0) return bytes.substr(0, below(random, bytes.size() + 1));
  for (size_t n = 1 + below(random, 3); n > 0; --n) bytes[below(random, bytes.size())] = static_cast<char>(random());
  return bytes;
}

/// One change somewhere in the tree of messages.
inline std::string damaged(Random& random, std::string bytes) {
  std::vector<std::string> fields = fields_of(bytes);
  if (fields.empty() || below(random, 20) == 0) return damaged_bytes(random, std::move(bytes));
  const size_t at = below(random, fields.size()), other = below(random, fields.size());
  switch (below(random, 12)) {
    case 0: fields[at].clear(); break;
    case 1: fields[at] += fields[other]; break;
    case 2: std::swap(fields[at], fields[other]); break;
    default: fields[at] = damaged_field(random, fields[at]);
  }
  std::string out;
  for (const std::string& field : fields) out += field;
  return out;
}

/// A message with one to four changes.
inline std::string damaged_often(Random& random, std::string bytes) {
  for (size_t n = 1 + below(random, 4); n > 0; --n) bytes = damaged(random, std::move(bytes));
  return bytes;
}

}  // namespace npu::graph
