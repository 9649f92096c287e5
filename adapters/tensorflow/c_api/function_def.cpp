// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/c_api/function_def.h"

#include <protozero/pbf_reader.hpp>

#include "adapters/tensorflow/c_api/message.h"

namespace npu::tensorflow {
namespace {

protozero::pbf_reader reader_of(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

std::string_view text_of(protozero::data_view view) { return {view.data(), view.size()}; }

void each_node(std::string_view function_def, const std::function<void(protozero::pbf_reader)>& visit) {
  protozero::pbf_reader function = reader_of(function_def);
  while (function.next(field::kFunctionNode)) visit(function.get_message());
}

}  // namespace

void each_function(std::string_view attr_value, const std::function<void(std::string)>& visit) {
  const auto named = [&](protozero::pbf_reader name_attr_list) {
    while (name_attr_list.next(field::kFuncName)) visit(name_attr_list.get_string());
  };
  protozero::pbf_reader value = reader_of(attr_value);
  while (value.next()) {
    if (value.tag() == field::kFunc) {
      named(value.get_message());
    } else if (value.tag() == field::kList) {
      protozero::pbf_reader list = value.get_message();
      while (list.next(field::kListFunc)) named(list.get_message());
    } else {
      value.skip();
    }
  }
}

void each_called(std::string_view function_def, const std::function<void(std::string)>& visit) {
  each_node(function_def, [&](protozero::pbf_reader node) {
    while (node.next(field::kNodeAttr)) {
      protozero::pbf_reader entry = node.get_message();
      while (entry.next(field::kValue)) each_function(text_of(entry.get_view()), visit);
    }
  });
}

void each_operator(std::string_view function_def, const std::function<void(std::string)>& visit) {
  each_node(function_def, [&](protozero::pbf_reader node) {
    while (node.next(field::kNodeOp)) visit(node.get_string());
  });
}

std::string function_name(std::string_view function_def) {
  protozero::pbf_reader function = reader_of(function_def);
  while (function.next(field::kFunctionSignature)) {
    protozero::pbf_reader signature = function.get_message();
    while (signature.next(field::kOpName)) return signature.get_string();
  }
  return "";
}

std::pair<std::string, std::vector<std::pair<std::string, std::string>>> read_node(std::string_view node_def) {
  std::pair<std::string, std::vector<std::pair<std::string, std::string>>> out;
  protozero::pbf_reader node = reader_of(node_def);
  while (node.next()) {
    if (node.tag() == field::kNodeOp) {
      out.first = node.get_string();
    } else if (node.tag() == field::kNodeAttr) {
      protozero::pbf_reader entry = node.get_message();
      auto& [name, value] = out.second.emplace_back();
      while (entry.next()) {
        std::string& part = entry.tag() == field::kKey ? name : value;
        part = entry.get_string();
      }
    } else {
      node.skip();
    }
  }
  return out;
}

void each_stateful(std::string_view op_list, const std::function<void(std::string)>& visit) {
  protozero::pbf_reader list = reader_of(op_list);
  while (list.next(field::kOp)) {
    protozero::pbf_reader op = list.get_message();
    std::string name;
    bool stateful = false;
    while (op.next()) {
      if (op.tag() == field::kOpName)
        name = op.get_string();
      else if (op.tag() == field::kOpStateful)
        stateful = op.get_bool();
      else
        op.skip();
    }
    if (stateful) visit(name);
  }
}

}  // namespace npu::tensorflow
