// SPDX-License-Identifier: Apache-2.0
// The one way in which importers walk a client's messages: bad bytes of any kind become an Error.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace npu::graph {

using Bytes = protozero::data_view;
using Reader = protozero::pbf_reader;

inline std::string text(Bytes bytes) { return {bytes.data(), bytes.size()}; }

/// One field of a message. Each accessor raises 100006 when the bytes hold another wire type.
class Field {
 public:
  explicit Field(Reader& reader) : reader_(reader) {}
  uint32_t number() const { return reader_.tag(); }
  Bytes bytes() { return of(protozero::pbf_wire_type::length_delimited).get_view(); }
  std::string text() { return npu::graph::text(bytes()); }
  int64_t integer() { return of(protozero::pbf_wire_type::varint).get_int64(); }
  bool boolean() { return integer() != 0; }
  float real() { return of(protozero::pbf_wire_type::fixed32).get_float(); }
  uint32_t fixed32() { return of(protozero::pbf_wire_type::fixed32).get_fixed32(); }

  /// The values of a repeated field, packed into one run of bytes or one by one.
  template <class Add>
  void integers(Add&& add) {
    if (!packed()) return add(integer());
    for (const int64_t v : reader_.get_packed_int64()) add(v);
  }
  template <class Add>
  void floats(Add&& add) {
    if (!packed()) return add(real());
    for (const float v : reader_.get_packed_float()) add(v);
  }
  template <class Add>
  void doubles(Add&& add) {
    if (!packed()) return add(of(protozero::pbf_wire_type::fixed64).get_double());
    for (const double v : reader_.get_packed_double()) add(v);
  }

 private:
  bool packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }
  Reader& of(protozero::pbf_wire_type type) {
    if (reader_.wire_type() != type) {
      fail(Code::kParseFile, "field {} has wire type {} where {} belongs", number(),
           static_cast<int>(reader_.wire_type()), static_cast<int>(type));
    }
    return reader_;
  }
  Reader& reader_;
};

/// Calls `visit(field)` once a field; one that the visitor does not read is skipped.
template <class Visit>
void each_field(Bytes message, Visit&& visit) {
  Reader reader(message);
  while (reader.next()) {
    const char* before = reader.data().data();
    visit(Field(reader));
    if (reader.data().data() == before) reader.skip();
  }
}

/// One entry of a `map<string, …>`, or of a list of pairs that looks the same: calls `visit(key, value)`.
template <class Visit>
void map_entry(Bytes entry, Visit&& visit) {
  constexpr uint32_t kKey = 1, kValue = 2;
  Bytes key, value;
  each_field(entry, [&](Field f) {
    if (f.number() == kKey) key = f.bytes();
    if (f.number() == kValue) value = f.bytes();
  });
  visit(text(key), value);
}

/// Runs `read`; whatever the bytes make protozero throw becomes Error 100006 that names `what`.
template <class Read>
auto parsed(std::string_view what, Read&& read) {
  try {
    return read();
  } catch (const protozero::exception& e) {
    fail(Code::kParseFile, "{} cannot be read: {}; the bytes are cut off or damaged", what, e.what());
  }
}

}  // namespace npu::graph
