// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/function_node.h"

#include "adapters/tensorflow/c_api/message.h"

namespace npu::tensorflow::golden {

using protozero::pbf_reader;
using protozero::pbf_writer;

void copy_field(pbf_reader& from, pbf_writer& to) {
  switch (from.wire_type()) {
    case protozero::pbf_wire_type::varint: to.add_uint64(from.tag(), from.get_uint64()); break;
    case protozero::pbf_wire_type::fixed64: to.add_fixed64(from.tag(), from.get_fixed64()); break;
    case protozero::pbf_wire_type::fixed32: to.add_fixed32(from.tag(), from.get_fixed32()); break;
    default: {
      const uint32_t tag = from.tag();
      to.add_bytes(tag, from.get_view());
    }
  }
}

Entry read_entry(pbf_reader message) {
  Entry entry;
  while (message.next()) switch (message.tag()) {
      case field::kKey: entry.key = message.get_string(); break;
      case field::kValue: entry.value = message.get_string(); break;
      default: message.skip();
    }
  return entry;
}

void write_entry(pbf_writer& message, uint32_t tag, std::string_view key, std::string_view value) {
  pbf_writer entry(message, tag);
  entry.add_bytes(field::kKey, key.data(), key.size());
  entry.add_bytes(field::kValue, value.data(), value.size());
}

FunctionNode read_node(pbf_reader message) {
  FunctionNode node;
  pbf_writer others(node.others);
  while (message.next()) switch (message.tag()) {
      case field::kNodeName: node.name = message.get_string(); break;
      case field::kNodeOp: node.op = message.get_string(); break;
      case field::kNodeInput: node.inputs.push_back(message.get_string()); break;
      case field::kNodeAttr: {
        Entry entry = read_entry(message.get_message());
        node.attributes.insert_or_assign(std::move(entry.key), std::move(entry.value));
        break;
      }
      default: copy_field(message, others);
    }
  return node;
}

void write_node(const FunctionNode& node, pbf_writer message) {
  message.add_string(field::kNodeName, node.name);
  message.add_string(field::kNodeOp, node.op);
  for (const std::string& input : node.inputs) message.add_string(field::kNodeInput, input);
  for (const auto& [name, value] : node.attributes) write_entry(message, field::kNodeAttr, name, value);
  for (pbf_reader others(node.others); others.next();) copy_field(others, message);
}

std::string_view source_of(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return input.substr(0, input.find(':'));
}

}  // namespace npu::tensorflow::golden
