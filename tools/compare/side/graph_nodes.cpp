// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/graph_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/record/data_type.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/graph_text.h"
#include "graph/dump/record/mapped_file.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

constexpr size_t kLevelsAbove = 8;

bool is_text(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("ge_proto_") && name.ends_with("_Build.txt");
}

/// The model's name, which stands in the first line.
std::string model_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const size_t begin = line.find('"'), end = line.rfind('"');
  return begin == end ? "" : line.substr(begin + 1, end - begin - 1);
}

class Search {
 public:
  explicit Search(std::string model) : model_(std::move(model)) {}
  void file(const fs::path& path) {
    if (is_text(path) && (model_.empty() || record::path_word(model_of(path)) == model_)) found_.insert(path.string());
  }
  void folder(const fs::path& path) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path, ignored)) file(entry.path());
  }
  void below(const fs::path& path) {
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) file(entry.path());
  }
  std::vector<std::string> found() const { return {found_.begin(), found_.end()}; }

 private:
  std::string model_;
  std::set<std::string> found_;
};

const Json& attribute(const Json& owner, std::string_view key) {
  static const Json none;
  const auto attrs = owner.find("attr");
  if (attrs != owner.end())
    for (const Json& attr : *attrs)
      if (attr.at("key") == key) return attr.at("value");
  return none;
}

std::vector<std::string> texts_of(const Json& value) {
  if (value.is_null() || !value.contains("list") || !value.at("list").contains("s")) return {};
  return value.at("list").at("s").get<std::vector<std::string>>();
}

Port port_of(const Json& desc) {
  Port port;
  const auto dtype = desc.find("dtype");
  if (dtype != desc.end() && dtype->is_string())
    if (const auto* type = record::find_data_type(dtype->get<std::string>())) port.type = type->number;
  if (desc.contains("shape") && desc.at("shape").contains("dim"))
    for (const Json& size : desc.at("shape").at("dim"))
      port.shape.push_back(static_cast<uint64_t>(std::max<int64_t>(0, size.get<int64_t>())));
  return port;
}

void read_maker(const std::string& reference, Port& port) {
  const size_t colon = reference.rfind(':');
  port.maker = reference.substr(0, colon);
  if (colon != reference.npos) port.output = static_cast<size_t>(std::atoi(reference.c_str() + colon + 1));
}

void read_inputs(const Json& node, Operator& op) {
  size_t index = 0;
  const auto descs = node.find("input_desc");
  if (!node.contains("input")) return;
  for (const Json& input : node.at("input")) {
    const std::string reference = input.get<std::string>();
    if (reference.empty() || reference.ends_with(":-1")) continue;
    Port port = descs != node.end() && index < descs->size() ? port_of(descs->at(index)) : Port{};
    port.label = fmt::format("input {}", index++);
    read_maker(reference, port);
    op.inputs.push_back(std::move(port));
  }
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Numbers and words, which tell why an operator computes otherwise.
void read_attributes(const Json& node, Operator& op) {
  if (!node.contains("attr")) return;
  for (const Json& attr : node.at("attr")) {
    const std::string key = attr.at("key").get<std::string>();
    const Json& value = attr.at("value");
    if (key.starts_with('_')) continue;
    for (const char* kind : {"i", "f", "b", "s", "dt"})
      if (value.contains(kind)) op.attributes[key] = text_of(value.at(kind));
  }
}

Operator operator_of(const Json& node) {
  Operator op;
  op.name = node.at("name").get<std::string>(), op.type = node.at("type").get<std::string>();
  op.originals = texts_of(attribute(node, "_datadump_original_op_names"));
  op.original_types = texts_of(attribute(node, "_datadump_original_op_types"));
  read_inputs(node, op), read_attributes(node, op);
  if (node.contains("output_desc"))
    for (const Json& desc : node.at("output_desc")) {
      op.outputs.push_back(port_of(desc));
      op.outputs.back().label = fmt::format("output {}", op.outputs.size() - 1);
    }
  return op;
}

void read_graph(const std::string& text, std::vector<Operator>& operators) {
  const record::MappedFile file(text);
  const Json parsed = record::parse_graph_text(file.text());
  for (const Json& graph : parsed.at("graph"))
    if (graph.contains("op"))
      for (const Json& node : graph.at("op")) operators.push_back(operator_of(node));
}

/// "SGD/Unique:1", an argument of a part of a model, is output 1 of "SGD/Unique".
void join_parts(std::vector<Operator>& operators) {
  std::set<std::string> made;
  for (const Operator& op : operators)
    if (op.type != "Data") made.insert(op.name);
  for (Operator& op : operators)
    for (Port& input : op.inputs) {
      const size_t colon = input.maker.rfind(':');
      if (colon != input.maker.npos && !made.contains(input.maker) && made.contains(input.maker.substr(0, colon)))
        read_maker(std::string(input.maker), input);
    }
}

}  // namespace

std::vector<std::string> find_graph_texts(const std::string& folder, const std::string& top, const std::string& model,
                                          const std::string& named) {
  Search search(model);
  if (!named.empty()) {
    Search all(fs::is_directory(named) ? model : "");
    fs::is_directory(named) ? all.below(named) : all.file(named);
    if (all.found().empty() && fs::is_regular_file(named)) return {named};
    return all.found();
  }
  search.below(top);
  fs::path above = fs::canonical(folder);
  for (size_t level = 0; level < kLevelsAbove && above.has_relative_path(); ++level, above = above.parent_path())
    search.folder(above);
  if (search.found().empty()) search.folder(fs::current_path());
  return search.found();
}

std::vector<Operator> read_graphs(const std::vector<std::string>& texts, std::vector<std::string>& notes) {
  std::vector<Operator> operators;
  for (const std::string& text : texts) {
    try {
      read_graph(text, operators);
    } catch (const Error& reason) {
      notes.push_back(fmt::format("{}: {}", text, reason.message()));
    } catch (const std::exception& reason) {
      notes.push_back(fmt::format("{}: {}", text, reason.what()));
    }
  }
  join_parts(operators);
  return operators;
}

}  // namespace npu::compare
