// SPDX-License-Identifier: Apache-2.0
// signatures.tsv as signatures: formals "name:T" (type of an attribute), "name:=1" (that DataType), "name:N*T" (as many
// as an attribute says), "name:[T]" (a list of types); defaults "attribute=" and the bytes of an AttrValue in hex.
#include "graph/import/tensorflow/signatures.h"

#include "base/split.h"
#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

struct Row {
  std::string_view op, inputs, outputs, defaults, stateful;
};

constexpr Row kRows[] = {
#include "signatures.inc"
};

std::vector<std::string_view> words(std::string_view cell) {
  return cell == "-" ? std::vector<std::string_view>{} : split(cell, " ");
}

Formal formal_of(std::string_view word) {
  Formal formal;
  const size_t colon = word.find(':');
  formal.name = word.substr(0, colon);
  std::string_view type = word.substr(colon + 1);
  if (type.starts_with('[')) {
    formal.type_list_attr = type.substr(1, type.size() - 2);
    return formal;
  }
  if (const size_t star = type.find('*'); star != std::string_view::npos) {
    formal.number_attr = type.substr(0, star);
    type.remove_prefix(star + 1);
  }
  if (type.starts_with('='))
    formal.type = value_type(std::stoll(std::string(type.substr(1))));
  else
    formal.type_attr = type;
  return formal;
}

std::string bytes_of_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

Signature signature_of(const Row& row) {
  Signature s;
  s.name = row.op, s.stateful = row.stateful == "1";
  for (const std::string_view word : words(row.inputs)) s.inputs.push_back(formal_of(word));
  for (const std::string_view word : words(row.outputs)) s.outputs.push_back(formal_of(word));
  for (const std::string_view word : words(row.defaults)) {
    const size_t equals = word.find('=');
    s.defaults.emplace(word.substr(0, equals), bytes_of_hex(word.substr(equals + 1)));
  }
  return s;
}

}  // namespace

const Catalogue& known_operators() {
  static const Catalogue known = [] {
    std::vector<Signature> all;
    for (const Row& row : kRows) all.push_back(signature_of(row));
    return Catalogue(std::move(all));
  }();
  return known;
}

}  // namespace npu::graph::tensorflow
