// SPDX-License-Identifier: Apache-2.0
// Damaged graphs with frames and branches: nodes rewired, doubled and left out, operators taken for each other, and
// bytes overwritten. Each is refused with an Error, or becomes functions that hold together.
#include <gtest/gtest.h>

#include "graph/import/damage_fixture.h"
#include "graph/import/tensorflow/dataflow/frame_fixture.h"
#include "graph/import/tensorflow/frozen.h"
#include "graph/import/tensorflow/session/slice.h"
#include "graph/import/tensorflow/signatures.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/verify.h"

namespace npu::graph::tensorflow {
namespace {

/// A node taken apart, so that a change of it is still a node.
struct Parts {
  std::string name, op;
  std::vector<std::string> inputs, attributes;
};

Parts parts_of(const std::string& node_def) {
  Parts out;
  protozero::pbf_reader reader(node_def);
  while (reader.next()) {
    if (reader.tag() == field::kName)
      out.name = reader.get_string();
    else if (reader.tag() == field::kOp)
      out.op = reader.get_string();
    else if (reader.tag() == field::kInput)
      out.inputs.push_back(reader.get_string());
    else
      out.attributes.push_back(reader.get_string());
  }
  return out;
}

std::string node_of(const Parts& parts) {
  return message([&](auto& w) {
    w.add_string(field::kName, parts.name);
    w.add_string(field::kOp, parts.op);
    for (const std::string& one : parts.inputs) w.add_string(field::kInput, one);
    for (const std::string& one : parts.attributes) w.add_message(field::kAttr, one);
  });
}

void rewire(Random& random, std::vector<Parts>& nodes) {
  const auto any = [&]() -> Parts& { return nodes[below(random, nodes.size())]; };
  Parts& node = any();
  const std::string to[] = {any().name, any().name + ":1", "^" + any().name};
  const std::string& input = to[below(random, 3)];
  switch (below(random, 6)) {
    case 0: node.inputs.push_back(input); break;
    case 1: node.op = any().op; break;
    case 2: nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(below(random, nodes.size()))); break;
    case 3: std::swap(node.inputs, any().inputs); break;
    case 4: std::swap(node.attributes, any().attributes); break;
    default:
      if (!node.inputs.empty()) node.inputs[below(random, node.inputs.size())] = input;
  }
}

std::string rewired(Random& random, const std::vector<std::string>& graph) {
  std::vector<Parts> nodes;
  for (const std::string& one : graph) nodes.push_back(parts_of(one));
  for (size_t n = 1 + below(random, 3); n > 0; --n) rewire(random, nodes);
  std::vector<std::string> out;
  for (const Parts& one : nodes) out.push_back(node_of(one));
  return graph_def(out);
}

/// Nothing of dataflow control is left, and all functions hold together.
void check(const Program& program) {
  verify(program);
  for (const auto& [name, function] : program.functions)
    for (const Node& node : function->nodes)
      for (const char* word : {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})
        EXPECT_NE(node.op, word) << name;
}

TEST(Fuzz, DamagedFramesAndBranchesAreRefusedOrBecomeFunctions) {
  const std::vector<std::string> whole[] = {loop_graph(), branch_graph()};
  const auto read = [&](size_t round, Random& random) {
    const std::vector<std::string>& graph = whole[round % 2];
    const std::string bytes = below(random, 4) == 0 ? damaged_often(random, graph_def(graph)) : rewired(random, graph);
    if (round % 4 < 2) return check(read_frozen(bytes, {.out_nodes = {"y"}}).program);
    Program program;
    read_slice(GraphMessage(bytes), {.name = "run", .feeds = {"x:0", "end:0"}, .fetches = {"y:0"}}, known_operators(),
               program);
    check(program);
  };
  const Rounds rounds = fuzz(3000, read, 20000);
  EXPECT_GT(rounds.refused, 300u);
  EXPECT_GT(rounds.accepted, 100u);
}

}  // namespace
}  // namespace npu::graph::tensorflow
