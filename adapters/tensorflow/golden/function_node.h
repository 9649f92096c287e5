// SPDX-License-Identifier: Apache-2.0
// A node of a function, taken out of its message and put into one.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/golden/output_list.h"

namespace npu::tensorflow::golden {

struct FunctionNode {
  std::string name, op;
  std::vector<std::string> inputs;  ///< "node:output:index", "argument", "^node"
  Attributes attributes;
  std::string others;  ///< fields that nobody here asks for, as they were
};

FunctionNode read_node(protozero::pbf_reader message);
void write_node(const FunctionNode& node, protozero::pbf_writer message);

/// The node or argument that an input or a result names.
std::string_view source_of(std::string_view input);

/// A field as it stands, with its tag.
void copy_field(protozero::pbf_reader& from, protozero::pbf_writer& to);
/// One pair of a map of texts.
void write_entry(protozero::pbf_writer& message, uint32_t tag, std::string_view key, std::string_view value);
struct Entry {
  std::string key, value;
};
Entry read_entry(protozero::pbf_reader message);

}  // namespace npu::tensorflow::golden
