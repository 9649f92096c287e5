// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tools/compare/folder/below.h"
#include "tools/compare/side/graph_nodes.h"
#include "tools/compare/side/load.h"

namespace npu::compare {
namespace {

namespace record = graph::record;

Port port_of(const record::DumpTensor& facts, const std::string& path, bool input, size_t index) {
  Port port;
  port.label = fmt::format("{} {}", input ? "input" : "output", index);
  port.shape = facts.shape, port.type = facts.data_type;
  port.source = Source{path, input, index};
  return port;
}

Operator operator_of(const Named& file) {
  const record::DumpFile dump(file.path);
  Operator op;
  op.name = dump.data().op_name.empty() ? file.name.op_name : dump.data().op_name;
  op.type = file.name.op_type, op.ran = true;
  for (size_t i = 0; i < dump.data().inputs.size(); ++i)
    op.inputs.push_back(port_of(dump.data().inputs[i], file.path, true, i));
  for (size_t i = 0; i < dump.data().outputs.size(); ++i)
    op.outputs.push_back(port_of(dump.data().outputs[i], file.path, false, i));
  return op;
}

bool holds(const Operator& node, const std::string& name) {
  return std::ranges::find(node.originals, name) != node.originals.end();
}

/// What the graph knows of an operator that ran: of parts of a model, the one that has it as it ran. A fused node may
/// have run under the name of one that it holds.
const Operator* node_of(const Operator& op, const std::vector<Operator>& nodes) {
  const Operator *found = nullptr, *holder = nullptr;
  for (const Operator& node : nodes) {
    if (node.name != op.name) {
      if (holder == nullptr && holds(node, op.name)) holder = &node;
    } else if (found == nullptr ||
               (record::path_word(node.type) == op.type && record::path_word(found->type) != op.type)) {
      found = &node;
    }
  }
  return found == nullptr ? holder : found;
}

bool as_large(const Port& a, const Port& b) { return elements(a.shape) == elements(b.shape); }

/// Inputs that were not dumped are those of the graph.
void complete(Operator& op, const Operator& node) {
  if (op.name == node.name) op.type = node.type;
  op.originals = node.originals, op.original_types = node.original_types;
  op.attributes = node.attributes;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i >= op.inputs.size()) {
      op.inputs.push_back(node.inputs[i]);
    } else if (node.inputs[i].shape.empty() || as_large(op.inputs[i], node.inputs[i])) {
      op.inputs[i].maker = node.inputs[i].maker, op.inputs[i].output = node.inputs[i].output;
    }
  }
}

/// Calls outside of graphs have one name for all of a kind.
void number(Operator& op, std::map<std::string, size_t>& counts) {
  const size_t count = ++counts[op.name];
  if (count > 1) op.name += fmt::format("#{}", count);
}

}  // namespace

Run load_device(const Place& place, const std::vector<std::string>& graphs) {
  Run run;
  const std::vector<Operator> nodes = read_graphs(graphs, run.notes);
  std::map<std::string, size_t> counts;
  std::vector<Named> files = files_below(place.folder);
  std::erase_if(files, [&](const Named& file) {
    return file.path.substr(0, file.path.rfind('/')) != place.folder || file.name.op_type == "Opdebug";
  });
  std::ranges::stable_sort(files, {}, [](const Named& f) { return std::pair(f.name.timestamp, f.name.task); });
  for (const Named& file : files) {
    try {
      Operator op = operator_of(file);
      const Operator* node = node_of(op, nodes);
      if (node != nullptr) complete(op, *node);
      number(op, counts);
      run.add(std::move(op));
      if (node != nullptr) run.by_name.try_emplace(node->name, run.operators.size() - 1);
    } catch (const Error& reason) {
      run.notes.push_back(reason.message());
    }
  }
  for (const Operator& node : nodes)
    if (run.find(node.name) == nullptr) run.add(node);
  return run;
}

Run load(const Place& place, const std::vector<std::string>& graphs) {
  Run run = place.kind == Kind::kDevice   ? load_device(place, graphs)
            : place.kind == Kind::kArrays ? load_arrays(place)
                                          : load_msprobe(place);
  run.kind = place.kind;
  return run;
}

}  // namespace npu::compare
