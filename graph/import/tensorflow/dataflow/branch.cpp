// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dataflow/branch.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "graph/import/tensorflow/dataflow/closure.h"
#include "graph/import/tensorflow/dataflow/guard.h"
#include "graph/import/tensorflow/frame_words.h"
#include "graph/ir/literal.h"
#include "graph/ir/waiting.h"

namespace npu::graph::tensorflow {
namespace {

/// Nodes that follow each other: of one condition, or of none.
struct Run {
  std::optional<Edge> condition;
  std::vector<NodeId> nodes;
};

/// The outermost condition that decides about each node, as far as it is decided in this function.
class Level {
 public:
  explicit Level(const Function& f) : f_(f), guards_(f) {}

  const Guards& guards() const { return guards_; }
  bool dead(NodeId id) const { return !guards_.of(id).has_value(); }

  std::optional<Edge> condition(NodeId id) const {
    const Guard& guard = *guards_.of(id);
    if (!guard.empty()) return guard.front().condition;
    return is_merge(f_[id].op) ? guards_.chooses(id) : std::nullopt;
  }
  /// The side of `condition` that the node is on; none for a Merge that chooses between them.
  std::optional<bool> side(NodeId id) const {
    const Guard& guard = *guards_.of(id);
    return guard.empty() ? std::nullopt : std::optional(guard.front().taken);
  }

  /// All nodes in an order in which they can run, those of one condition together where that can be.
  std::vector<Run> runs() const;

 private:
  const Function& f_;
  const Guards guards_;
};

std::vector<Run> Level::runs() const {
  Waiting waiting(f_.nodes);
  Ready free;
  std::map<Edge, Ready> held;
  const auto ready = [&](NodeId id) {
    if (dead(id)) return free.push(id);
    const auto on = condition(id);
    on ? held[*on].push(id) : free.push(id);
  };
  for (const NodeId id : f_.order())
    if (waiting.is_ready(id)) ready(id);
  std::vector<Run> out;
  const auto drain = [&](Ready& queue, std::optional<Edge> condition) {
    Run run{condition, {}};
    std::set<NodeId> behind;  // what is chosen here comes when this If node has run
    std::vector<NodeId> later;
    while (!queue.empty()) {
      const NodeId id = queue.top();
      queue.pop();
      run.nodes.push_back(id);
      for (const NodeId user : waiting.users(id)) {
        if (condition && !side(id)) behind.insert(user);
        if (!waiting.come(user)) continue;
        behind.contains(user) ? later.push_back(user) : ready(user);
      }
    }
    for (const NodeId id : later) ready(id);
    if (!run.nodes.empty()) out.push_back(std::move(run));
  };
  while (true) {
    drain(free, std::nullopt);
    std::optional<Edge> next;
    for (const auto& [condition, queue] : held)
      if (!queue.empty() && (!next || queue.top() < held.at(*next).top())) next = condition;
    if (!next) return out;
    drain(held.at(*next), next);
  }
}

/// Users that are results.
constexpr NodeId kWanted = -1, kPassedOn = -2;

void rewrite(Function& f, Program& program, const std::vector<bool>& wanted);

/// A function written anew without the conditions of its first level.
class Rewrite {
 public:
  /// `wanted` tells of each result whether somebody asks for it who does not know about conditions.
  Rewrite(const Function& from, Program& program, const std::vector<bool>& wanted)
      : from_(from), program_(program), wanted_(wanted), level_(from), out_(from.name, *from.dialect) {}

  Function finish() {
    for (const Argument& argument : from_.arguments)
      values_[{argument.node, 0}] = {out_.add_argument(argument.name, argument.value), 0};
    find_users();
    for (const Run& run : level_.runs()) run.condition ? emit_if(run) : emit(run.nodes);
    for (size_t i = 0; i < from_.results.size(); ++i) out_.results.push_back({from_.results[i].name, result_of(i)});
    for (const NodeId id : from_.control_results)
      if (const auto at = nodes_.find(id); at != nodes_.end()) out_.control_results.push_back(at->second);
    sort_control_results(out_);
    return std::move(out_);
  }

 private:
  /// What decides in this function, or is decided, and is no node any more: values go through it. A Switch in a branch
  /// is a node of that branch.
  bool passes(NodeId id) const {
    const Node& node = from_[id];
    if (is_merge(node.op)) return !level_.guards().chooses(id);
    return is_switch(node.op) && (level_.guards().of(id)->empty() || level_.guards().value_of(node));
  }

  Edge behind(Edge edge) const {
    while (passes(edge.node)) {
      const Node& node = from_[edge.node];
      edge = is_merge(node.op) ? coming(node) : node.inputs.front();
    }
    return edge;
  }

  Edge coming(const Node& merge) const {
    return *std::ranges::find_if(merge.inputs, [&](Edge edge) { return level_.guards().of(edge).has_value(); });
  }

  /// What a node reads at its input `i`. Whatever way a condition takes to a Switch, it is one value.
  Edge read(const Node& node, size_t i) const {
    return i == 1 && is_switch(node.op) ? level_.guards().condition_of(node) : behind(node.inputs[i]);
  }

  /// Of the value, and of the conditions under which it stands (see bring).
  void add_user(Edge edge, NodeId user) {
    users_[edge].push_back(user);
    const Guard guard = level_.guards().of(edge).value_or(Guard());
    for (const Side& side : guard) users_[side.condition].push_back(user);
  }

  void find_users() {
    for (size_t i = 0; i < from_.nodes.size(); ++i)
      for (size_t k = 0; k < from_.nodes[i].inputs.size(); ++k)
        if (!level_.dead(static_cast<NodeId>(i)) && level_.guards().of(from_.nodes[i].inputs[k]))
          add_user(read(from_.nodes[i], k), static_cast<NodeId>(i));
    for (size_t i = 0; i < from_.results.size(); ++i)
      if (level_.guards().of(from_.results[i].value))
        add_user(behind(from_.results[i].value), wanted_[i] ? kWanted : kPassedOn);
    for (const Node& node : from_.nodes) awaited_.insert(node.after.begin(), node.after.end());
    awaited_.insert(from_.control_results.begin(), from_.control_results.end());
  }

  Edge result_of(size_t i) {
    const Edge edge = from_.results[i].value;
    if (level_.guards().of(edge)) return values_.at(behind(edge));
    return {out_.add(wanted_[i] ? missing(edge) : absent(from_.output(edge).type)), 0};
  }

  void wait(const Node& node, std::vector<NodeId>& after) const {
    for (const NodeId before : node.after)
      if (const auto at = nodes_.find(before); at != nodes_.end()) after.push_back(at->second);
  }

  void emit(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      if (from_[id].kind == Kind::kArgument) {
        nodes_[id] = values_.at({id, 0}).node;
      } else if (level_.dead(id)) {
        continue;
      } else if (passes(id)) {
        nodes_[id] = values_.at(behind({id, 0})).node;
      } else {
        emit(id);
      }
    }
  }

  void emit(NodeId id) {
    Node node = from_[id];
    for (Edge& edge : node.inputs) edge = values_.at(behind(edge));
    node.after.clear();
    wait(from_[id], node.after);
    nodes_[id] = out_.add(std::move(node));
    for (size_t i = 0; i < from_[id].outputs.size(); ++i)
      values_[{id, static_cast<int32_t>(i)}] = {nodes_[id], static_cast<int32_t>(i)};
  }

  /// The nodes of one If node on their way into its branches.
  struct Branches {
    Edge condition;
    std::set<NodeId> members;
    std::array<std::shared_ptr<Function>, 2> sides;  ///< else, then
    std::set<Edge> brought = {};
    std::vector<bool> wanted = {};               ///< by result
    std::vector<Edge> given;                     ///< from outside, by argument
    std::array<std::map<Edge, Edge>, 2> values;  ///< of `from_`, in each side
    std::array<std::map<NodeId, NodeId>, 2> nodes;
  };

  void emit_if(const Run& run) {
    Branches b;
    b.condition = *run.condition;
    b.members = {run.nodes.begin(), run.nodes.end()};
    const std::string stem = from_.name + "/" + scope(run.nodes);
    b.sides = {function(stem + "/else"), function(stem + "/then")};
    collect(b, run.nodes);
    for (const NodeId id : run.nodes)
      if (level_.side(id)) add(b, id, *level_.side(id) ? 1 : 0);
    Node node{.name = scope(run.nodes), .kind = Kind::kIf};
    node.inputs.push_back(values_.at(behind(b.condition)));
    for (const Edge& edge : b.given) node.inputs.push_back(values_.at(edge));
    std::set<NodeId> after;
    for (const NodeId id : run.nodes)
      for (const NodeId before : from_[id].after)
        if (const auto at = nodes_.find(before); at != nodes_.end()) after.insert(at->second);
    node.after.assign(after.begin(), after.end());
    std::vector<std::pair<Edge, Edge>> outputs;  // of from_, and of the If node
    give(b, run.nodes, node, outputs);
    finish(b, node);
    const NodeId made = out_.add(std::move(node));
    for (const auto& [old, now] : outputs) values_[old] = {made, now.output};
    for (const NodeId id : run.nodes) nodes_[id] = made;
  }

  /// What the program calls the branches, as far as a Merge tells.
  std::string scope(const std::vector<NodeId>& nodes) const {
    const auto merge = std::ranges::find_if(nodes, [&](NodeId id) { return !level_.side(id); });
    const std::string& name = from_[merge == nodes.end() ? nodes.front() : *merge].name;
    const size_t end = name.rfind('/');
    return end == std::string::npos ? name : name.substr(0, end);
  }

  std::shared_ptr<Function> function(std::string name) const {
    while (program_.functions.contains(name)) name += "_";
    auto out = std::make_shared<Function>(name, *from_.dialect);
    program_.add(out);
    return out;
  }

  void collect(Branches& b, const std::vector<NodeId>& nodes) const {
    for (const NodeId id : nodes)
      for (size_t i = 0; i < from_[id].inputs.size(); ++i)
        if (level_.guards().of(from_[id].inputs[i])) bring(b, read(from_[id], i));
  }

  /// A value from outside becomes an argument of both sides. One that an If node before this one gave stands under the
  /// conditions that it had there.
  void bring(Branches& b, Edge edge) const {
    if (b.members.contains(edge.node) || !b.brought.insert(edge).second) return;
    const Guard guard = level_.guards().of(edge).value_or(Guard());
    for (const Side& inner : guard)
      if (inner.condition != b.condition) bring(b, inner.condition);
    b.given.push_back(edge);
    for (const size_t side : {0, 1}) {
      const std::string name = fmt::format("{}:{}", from_[edge.node].name, edge.output);
      Edge value{b.sides[side]->add_argument(name, {from_.output(edge).type, {}}), 0};
      const bool elsewhere = std::ranges::find(guard, Side{b.condition, side == 0}) != guard.end();
      for (const Side& inner : guard)
        if (inner.condition != b.condition && !elsewhere)
          value = under(*b.sides[side], value, b.values[side].at(inner.condition), inner.taken);
      b.values[side][edge] = value;
    }
  }

  static Edge under(Function& f, Edge value, Edge condition, bool taken) {
    const Output output = f.output(value);
    const NodeId id =
        f.add({.name = f[value.node].name, .op = "Switch", .inputs = {value, condition}, .outputs = {output, output}});
    return {id, taken ? 1 : 0};
  }

  void add(Branches& b, NodeId id, size_t side) {
    if (passes(id)) return;
    Node node = from_[id];
    for (size_t i = 0; i < node.inputs.size(); ++i) node.inputs[i] = b.values[side].at(read(from_[id], i));
    node.after.clear();
    for (const NodeId before : from_[id].after)
      if (const auto at = b.nodes[side].find(before); at != b.nodes[side].end()) node.after.push_back(at->second);
    const NodeId added = b.sides[side]->add(std::move(node));
    b.nodes[side][id] = added;
    for (size_t i = 0; i < from_[id].outputs.size(); ++i)
      b.values[side][{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
  }

  void give(Branches& b, const std::vector<NodeId>& nodes, Node& node,
            std::vector<std::pair<Edge, Edge>>& outputs) const {
    const auto add_output = [&](Edge old, std::array<Edge, 2> sides) {
      b.wanted.push_back(is_wanted(old));
      for (const size_t side : {0, 1})
        b.sides[side]->results.push_back({fmt::format("{}:{}", from_[old.node].name, old.output), sides[side]});
      outputs.emplace_back(old, Edge{-1, static_cast<int32_t>(node.outputs.size())});
      node.outputs.push_back({from_.output(old).type, {}});
    };
    for (const NodeId id : nodes) {
      if (!level_.side(id)) {
        choose(b, id, add_output);
        continue;
      }
      const size_t own = *level_.side(id) ? 1 : 0;
      for (size_t i = 0; i < from_[id].outputs.size(); ++i) {
        const Edge edge{id, static_cast<int32_t>(i)};
        if (!leaves(b, edge)) continue;
        std::array<Edge, 2> sides;
        sides[own] = b.values[own].at(edge);
        const Node none = is_wanted(edge) ? missing(edge) : absent(from_.output(edge).type);
        sides[1 - own] = {b.sides[1 - own]->add(none), 0};
        add_output(edge, sides);
      }
    }
  }

  template <class Add>
  void choose(Branches& b, NodeId id, Add&& add_output) const {
    std::array<Edge, 2> sides, indices;
    for (size_t i = 0; i < 2; ++i) {
      const Edge input = from_[id].inputs[i];
      const Guard guard = *level_.guards().of(input);
      const auto at = std::ranges::find(guard, b.condition, &Side::condition);
      const size_t side = at->taken ? 1 : 0;
      sides[side] = b.values[side].at(behind(input));
      indices[side] = {b.sides[side]->add_constant(from_[id].name + "/index", scalar_literal(static_cast<int32_t>(i))),
                       0};
    }
    add_output(Edge{id, 0}, sides);
    if (users_.contains(Edge{id, 1})) add_output(Edge{id, 1}, indices);
  }

  /// Whether a node that is not of this If node reads the value.
  bool leaves(const Branches& b, Edge edge) const {
    const auto at = users_.find(edge);
    return at != users_.end() &&
           std::ranges::any_of(at->second, [&](NodeId user) { return !b.members.contains(user); });
  }

  /// What a branch gives for a value that only the other one computes. Only nodes of that one read it.
  static Node absent(const ValueType& type) {
    Node node{.name = "absent", .op = "FakeParam", .outputs = {{type, {}}}};
    node.attributes.set("dtype", type);  // what tells it from one of another type
    return node;
  }

  bool is_wanted(Edge edge) const {
    const auto at = users_.find(edge);
    return at != users_.end() && std::ranges::find(at->second, kWanted) != at->second.end();
  }

  /// The same where the value is a result with no Merge behind it: there is none, as the run says then.
  Node missing(Edge edge) const {
    Node node{.name = "missing", .op = std::string(kMissing), .outputs = {from_.output(edge)}};
    node.client_name = from_[edge.node].client_name;
    node.stateful = true;
    return node;
  }

  void finish(Branches& b, Node& node) {
    for (const size_t side : {0, 1}) {
      Function& f = *b.sides[side];
      for (const auto& [old, added] : b.nodes[side])
        if (f[added].stateful || f[added].outputs.empty() || awaited_.contains(old)) f.control_results.push_back(added);
      std::ranges::sort(f.control_results);
      node.stateful |= std::ranges::any_of(f.nodes, &Node::stateful);
      rewrite(f, program_, b.wanted);
      node.attributes.set(side == 1 ? "then_branch" : "else_branch", FunctionName{f.name});
    }
  }

  const Function& from_;
  Program& program_;
  const std::vector<bool> wanted_;
  const Level level_;
  Function out_;
  std::map<Edge, Edge> values_;
  std::map<NodeId, NodeId> nodes_;
  std::map<Edge, std::vector<NodeId>> users_;
  std::set<NodeId> awaited_;
};

/// A value that is a result as a Switch gives it gets a node that has it on that side alone.
void name_guarded_results(Function& f) {
  for (Result& result : f.results) {
    const Node& node = f[result.value.node];
    if (!is_switch(node.op)) continue;
    Node copy{.name = node.name + ":result",
              .kind = Kind::kIdentity,
              .inputs = {result.value},
              .outputs = {f.output(result.value)}};
    copy.client_name = node.client_name;
    copy_attribute(node.attributes, "T", copy.attributes, "T");
    result.value = {f.add(std::move(copy)), 0};
  }
}

void rewrite(Function& f, Program& program, const std::vector<bool>& wanted) {
  const auto decides = [](const Node& node) { return !node.removed && (is_switch(node.op) || is_merge(node.op)); };
  if (std::ranges::none_of(f.nodes, decides)) return;
  name_guarded_results(f);
  f = Rewrite(f, program, wanted).finish();
}

}  // namespace

void make_branches(Function& f, Program& program) { rewrite(f, program, std::vector<bool>(f.results.size(), true)); }

}  // namespace npu::graph::tensorflow
