// SPDX-License-Identifier: Apache-2.0
// Graphs with dataflow control, as TensorFlow 1 builds them, for tests.
#pragma once

#include <string>
#include <vector>

#include "graph/import/tensorflow/message_fixture.h"

namespace npu::graph::tensorflow {

inline const Attrs kFloats = {{"T", type_value(kFloat)}};

inline std::string graph_def(const std::vector<std::string>& nodes) {
  return message([&](auto& w) {
    for (const std::string& one : nodes) w.add_message(field::kNode, one);
  });
}

inline std::string float_placeholder(const std::string& name, const std::vector<int64_t>& dims) {
  const std::string of_shape = message([&](auto& w) { w.add_message(field::kShape, shape(dims)); });
  return node(name, "Placeholder", {}, {{"dtype", type_value(kFloat)}, {"shape", of_shape}});
}

inline std::string enter(const std::string& name, const std::string& input, const std::string& frame) {
  const std::string text = message([&](auto& w) { w.add_string(field::kS, frame); });
  return node(name, "Enter", {input}, {{"T", type_value(kFloat)}, {"frame_name", text}});
}

inline std::string merge(const std::string& name, const std::string& one, const std::string& other) {
  return node(name, "Merge", {one, other}, {{"T", type_value(kFloat)}, {"N", int_value(2)}});
}

/// while (v < end) v += v; all its names begin with `stem`.
inline std::vector<std::string> doubling(const std::string& stem, const std::string& start, const std::string& end) {
  const auto at = [&](const std::string& name) { return stem + "/" + name; };
  const std::string frame = stem + "/while_context";
  return {enter(at("Enter"), start, frame),
          enter(at("Less/Enter"), end, frame),
          merge(at("Merge"), at("Enter"), at("NextIteration")),
          node(at("Less"), "Less", {at("Merge"), at("Less/Enter")}, kFloats),
          node(at("LoopCond"), "LoopCond", {at("Less")}),
          node(at("Switch"), "Switch", {at("Merge"), at("LoopCond")}, kFloats),
          node(at("Identity"), "Identity", {at("Switch:1")}, kFloats),
          node(at("add"), "AddV2", {at("Identity"), at("Identity")}, kFloats),
          node(at("NextIteration"), "NextIteration", {at("add")}, kFloats),
          node(at("Exit"), "Exit", {at("Switch")}, kFloats)};
}

/// x, doubled until it is not below `end`, and x more.
inline std::vector<std::string> loop_graph() {
  std::vector<std::string> out = {float_placeholder("x", {}), float_placeholder("end", {})};
  for (const std::string& one : doubling("while", "x", "end")) out.push_back(one);
  out.push_back(node("y", "AddV2", {"while/Exit", "x"}, kFloats));
  return out;
}

/// x < end ? x, doubled until it is not : -x; and x more.
inline std::vector<std::string> branch_graph() {
  std::vector<std::string> out = {
      float_placeholder("x", {}), float_placeholder("end", {}), node("Less", "Less", {"x", "end"}, kFloats),
      node("cond/Switch", "Switch", {"x", "Less"}, kFloats), node("cond/end", "Switch", {"end", "Less"}, kFloats)};
  for (const std::string& one : doubling("cond/while", "cond/Switch:1", "cond/end:1")) out.push_back(one);
  out.push_back(node("cond/Neg", "Neg", {"cond/Switch"}, kFloats));
  out.push_back(merge("cond/Merge", "cond/Neg", "cond/while/Exit"));
  out.push_back(node("y", "AddV2", {"cond/Merge", "x"}, kFloats));
  return out;
}

}  // namespace npu::graph::tensorflow
