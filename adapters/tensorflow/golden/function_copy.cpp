// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/function_copy.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/c_api/owned.h"
#include "adapters/tensorflow/golden/function_node.h"
#include "adapters/tensorflow/golden/npy.h"
#include "adapters/tensorflow/golden/operator.h"

namespace npu::tensorflow::golden {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// What calls functions, and what does so for its effects too: a copy has the effect of being dumped.
struct Caller {
  std::string_view op, with_effects;
  bool plain;  ///< a call, which leads into the function under its own name; else branches and loops
};
constexpr std::array<Caller, 8> kCallers = {{
    {"PartitionedCall", "StatefulPartitionedCall", true},
    {"StatefulPartitionedCall", "StatefulPartitionedCall", true},
    {"StatelessWhile", "While", false},
    {"While", "While", false},
    {"StatelessIf", "If", false},
    {"If", "If", false},
    {"StatelessCase", "Case", false},
    {"Case", "Case", false},
}};

/// Attributes by which a function would be compiled, or exchanged for another: neither dumps.
constexpr std::array<std::string_view, 4> kLeftOut = {"_XlaMustCompile", "jit_compile", "api_implements",
                                                      "api_preferred_device"};

bool left_out(std::string_view attribute) { return std::ranges::find(kLeftOut, attribute) != kLeftOut.end(); }

const Caller* caller(std::string_view op) {
  const auto at = std::ranges::find(kCallers, op, &Caller::op);
  return at == kCallers.end() ? nullptr : &*at;
}

template <class Write>
std::string value_of(Write&& write) {
  std::string bytes;
  pbf_writer value(bytes);
  write(value);
  return bytes;
}

std::string text_value(std::string_view text) {
  return value_of([&](pbf_writer& value) { value.add_bytes(field::kText, text.data(), text.size()); });
}

std::string int_value(int64_t number) {
  return value_of([&](pbf_writer& value) { value.add_int64(field::kInt, number); });
}

struct Content {
  std::vector<FunctionNode> nodes;
  std::map<std::string, std::string> results, control_results;
  Attributes attributes;
  std::string signature, others;
};

Content read_function(pbf_reader message) {
  Content out;
  pbf_writer others(out.others);
  const auto insert = [&](auto& into) {
    Entry entry = read_entry(message.get_message());
    into.insert_or_assign(std::move(entry.key), std::move(entry.value));
  };
  while (message.next()) switch (message.tag()) {
      case field::kFunctionSignature: out.signature = message.get_string(); break;
      case field::kFunctionNode: out.nodes.push_back(read_node(message.get_message())); break;
      case field::kFunctionRet: insert(out.results); break;
      case field::kFunctionControlRet: insert(out.control_results); break;
      case field::kFunctionAttr: insert(out.attributes); break;
      default: copy_field(message, others);
    }
  return out;
}

/// The nodes that the function's results and effects need: no other one is executed.
std::set<std::string_view> needed_nodes(const Content& function) {
  std::map<std::string_view, const FunctionNode*> by_name;
  for (const FunctionNode& node : function.nodes) by_name[node.name] = &node;
  std::set<std::string_view> needed;
  std::vector<std::string_view> open;
  const auto need = [&](std::string_view name) {
    if (by_name.contains(name) && needed.insert(name).second) open.push_back(name);
  };
  for (const auto& [name, value] : function.results) need(source_of(value));
  for (const auto& [name, node] : function.control_results) need(node);
  while (!open.empty()) {
    const FunctionNode& node = *by_name.at(open.back());
    open.pop_back();
    for (const std::string& input : node.inputs) need(source_of(input));
  }
  return needed;
}

class Copier {
 public:
  explicit Copier(TFE_Context* context) : context_(context) {}

  /// `path`: the calls that lead to the function, each with / behind it.
  std::string copy(const std::string& function, const std::string& path) {
    static int64_t made = 0;
    Buffer bytes(TF_NewBuffer());
    checked(TFE_ContextGetFunctionDef, context_, function.c_str(), bytes.get());
    Content content = read_function({static_cast<const char*>(bytes->data), bytes->length});
    inside_.push_back(function);
    add_dumps(content, path);
    inside_.pop_back();
    const std::string name = function + "_golden_" + std::to_string(made++);
    const std::string written = write_function(content, name);
    checked(TFE_ContextAddFunctionDef, context_, written.data(), written.size());
    return name;
  }

 private:
  void add_dumps(Content& function, const std::string& path) {
    const std::set<std::string_view> needed = needed_nodes(function);
    std::vector<FunctionNode> dumps;
    std::vector<std::string> callers;
    for (FunctionNode& node : function.nodes) {
      if (!needed.contains(node.name)) continue;
      for (FunctionNode& dump : dumps_of(node, path, dumps.size())) dumps.push_back(std::move(dump));
      if (call_copies(node, path)) callers.push_back(node.name);
    }
    for (FunctionNode& dump : dumps) {
      callers.push_back(dump.name);
      function.nodes.push_back(std::move(dump));
    }
    for (const std::string& name : callers)
      function.control_results.emplace("golden_" + std::to_string(function.control_results.size()), name);
  }

  static std::vector<FunctionNode> dumps_of(const FunctionNode& node, const std::string& path, size_t number) {
    std::vector<FunctionNode> out;
    int64_t index = -1;
    for (const OutputName& output : outputs_of(node.op, node.attributes)) {
      ++index;
      if (npy_type(output.type).empty()) continue;
      FunctionNode dump;
      dump.name = "golden_dump_" + std::to_string(number + out.size()), dump.op = kDumpOperator;
      dump.inputs = {node.name + ":" + output.reference};
      pbf_writer(dump.others).add_string(field::kNodeDevice, "/device:CPU:0");
      const std::string whose = path + node.name;
      dump.attributes[kTypeAttribute] = value_of([&](pbf_writer& value) { value.add_enum(field::kType, output.type); });
      dump.attributes[kNodeAttribute] = text_value(whose);
      dump.attributes[kLengthAttribute] = int_value(static_cast<int64_t>(whose.size()));
      dump.attributes[kOutputAttribute] = int_value(index);
      out.push_back(std::move(dump));
    }
    return out;
  }

  /// Lets a node that calls functions call their copies; false for one that calls none.
  bool call_copies(FunctionNode& node, const std::string& path) {
    const Caller* call = caller(node.op);
    if (call == nullptr) return false;
    const std::string below = call->plain ? path + node.name + "/" : "";
    node.op = call->with_effects;
    std::erase_if(node.attributes, [](const auto& entry) { return left_out(entry.first); });
    for (auto& [name, value] : node.attributes) value = with_copies(value, below);
    return true;
  }

  /// A value of an attribute with copies in place of the functions that it names.
  std::string with_copies(const std::string& value, const std::string& path) {
    return value_of([&](pbf_writer& to) {
      for (pbf_reader from(value); from.next();) {
        if (from.tag() == field::kFunc)
          copy_name(from.get_message(), pbf_writer(to, field::kFunc), path);
        else if (from.tag() == field::kList)
          copy_list(from.get_view(), to, path);
        else
          copy_field(from, to);
      }
    });
  }

  void copy_list(protozero::data_view list, pbf_writer& value, const std::string& path) {
    if (list.empty()) return value.add_bytes(field::kList, list);  // a writer leaves out messages without content
    pbf_writer to(value, field::kList);
    pbf_reader from(list);
    while (from.next()) {
      if (from.tag() == field::kListFunc)
        copy_name(from.get_message(), pbf_writer(to, field::kListFunc), path);
      else
        copy_field(from, to);
    }
  }

  void copy_name(pbf_reader from, pbf_writer to, const std::string& path) {
    while (from.next()) {
      if (from.tag() != field::kFuncName) {
        copy_field(from, to);
        continue;
      }
      const std::string name = from.get_string();
      const bool itself = std::ranges::find(inside_, name) != inside_.end();  // recursion ends at what dumps nothing
      to.add_string(field::kFuncName, itself ? name : copy(name, path));
    }
  }

  static std::string write_function(const Content& content, const std::string& name) {
    std::string bytes;
    pbf_writer to(bytes);
    {
      pbf_writer signature(to, field::kFunctionSignature);
      signature.add_string(field::kOpName, name);
      for (pbf_reader from(content.signature); from.next();) {
        if (from.tag() == field::kOpName || from.tag() == field::kOpControlOutput || from.tag() == field::kOpStateful)
          from.skip();
        else
          copy_field(from, signature);
      }
      signature.add_bool(field::kOpStateful, true);
      for (const auto& [key, node] : content.control_results) signature.add_string(field::kOpControlOutput, key);
    }
    for (const FunctionNode& node : content.nodes) write_node(node, pbf_writer(to, field::kFunctionNode));
    for (const auto& [key, value] : content.results) write_entry(to, field::kFunctionRet, key, value);
    for (const auto& [key, node] : content.control_results) write_entry(to, field::kFunctionControlRet, key, node);
    for (const auto& [key, value] : content.attributes)
      if (!left_out(key)) write_entry(to, field::kFunctionAttr, key, value);
    for (pbf_reader others(content.others); others.next();) copy_field(others, to);
    return bytes;
  }

  TFE_Context* const context_;
  std::vector<std::string> inside_;
};

}  // namespace

std::string dumping_copy(TFE_Context* context, const std::string& function) {
  static std::mutex mutex;
  static auto& copies = *new std::map<std::pair<TFE_Context*, std::string>, std::string>;
  const std::lock_guard lock(mutex);
  std::string& copy = copies[{context, function}];
  if (copy.empty() || TFE_ContextHasFunction(context, copy.c_str()) == 0) copy = Copier(context).copy(function, "");
  return copy;
}

}  // namespace npu::tensorflow::golden
