// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/side/array_name.h"
#include "tools/compare/side/load.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

struct Array {
  ArrayName name;
  std::string path;
};

/// The newest file of each output of each operator.
std::map<std::pair<std::string, size_t>, Array> newest_arrays(const std::string& folder) {
  std::map<std::pair<std::string, size_t>, Array> newest;
  const graph::record::Mapping mapping = graph::record::read_mapping(folder);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto mapped = mapping.find(entry.path().filename().string());
    const auto name = parse_array_name(mapped == mapping.end() ? entry.path().filename().string() : mapped->second);
    if (!name) continue;
    const auto [at, added] = newest.try_emplace({name->op, name->output}, Array{*name, entry.path().string()});
    if (!added && at->second.name.timestamp < name->timestamp) at->second = {*name, entry.path().string()};
  }
  return newest;
}

Port port_of(const Array& array) {
  Port port;
  port.label = fmt::format("output {}", array.name.output);
  port.source = Source{array.path, false, array.name.output};
  const Elements elements(port);
  port.shape = elements.tensor().facts.shape, port.type = elements.tensor().facts.data_type;
  return port;
}

}  // namespace

Run load_arrays(const Place& place) {
  Run run;
  std::map<std::string, Operator> operators;
  for (const auto& [key, array] : newest_arrays(place.folder)) {
    try {
      Operator& op = operators[key.first];
      Port port = port_of(array);
      if (op.outputs.size() <= key.second) op.outputs.resize(key.second + 1);
      op.outputs[key.second] = std::move(port);
    } catch (const std::exception& reason) {
      run.notes.emplace_back(reason.what());
    }
  }
  for (auto& [name, op] : operators) {
    op.name = name, op.ran = !op.outputs.empty();
    if (op.ran) run.add(std::move(op));
  }
  return run;
}

}  // namespace npu::compare
