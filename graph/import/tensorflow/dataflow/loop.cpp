// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/dataflow/loop.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "graph/import/tensorflow/dataflow/branch.h"
#include "graph/import/tensorflow/dataflow/closure.h"
#include "graph/import/tensorflow/frame_words.h"
#include "graph/import/tensorflow/reader.h"

namespace npu::graph::tensorflow {
namespace {

constexpr int kNone = -1;

struct Frame {
  std::string name;
  int parent = kNone;
  int depth = 0;
  std::vector<NodeId> enters, members;
};

/// Which frame each node is in. An Enter counts to the frame that it leads into, an Exit to the one it leads to.
class Frames {
 public:
  explicit Frames(const Function& f) : f_(f), of_(f.nodes.size(), kNone) {
    for (const NodeId id : f.order()) place(id);
  }
  int of(NodeId id) const { return of_[static_cast<size_t>(id)]; }
  const std::vector<Frame>& all() const { return frames_; }

 private:
  void place(NodeId id) {
    const Node& node = f_[id];
    int frame = kNone;
    const auto deepest = [&](NodeId before) {
      if (depth(of(before)) > depth(frame)) frame = of(before);
    };
    for (const Edge& edge : node.inputs) deepest(edge.node);
    for (const NodeId before : node.after) deepest(before);
    if (is_exit(node.op)) {
      require(frame != kNone, "node {} leaves a frame that nothing enters", node.name);
      frame = frames_[static_cast<size_t>(frame)].parent;
    }
    if (is_enter(node.op)) frame = entered(node, frame);
    of_[static_cast<size_t>(id)] = frame;
    if (frame == kNone) return;
    Frame& in = frames_[static_cast<size_t>(frame)];
    (is_enter(node.op) ? in.enters : in.members).push_back(id);
  }

  int depth(int frame) const { return frame == kNone ? 0 : frames_[static_cast<size_t>(frame)].depth; }

  int entered(const Node& enter, int parent) {
    const auto& name = enter.attributes.get<std::string>("frame_name");
    for (size_t i = 0; i < frames_.size(); ++i)
      if (frames_[i].name == name && frames_[i].parent == parent) return static_cast<int>(i);
    frames_.push_back({name, parent, depth(parent) + 1, {}, {}});
    return static_cast<int>(frames_.size()) - 1;
  }

  const Function& f_;
  std::vector<int> of_;
  std::vector<Frame> frames_;
};

/// A variable of a loop: where it comes in, and the nodes through which it goes round.
struct LoopVariable {
  Edge start;
  NodeId merge = -1, next = -1;
};

struct Invariant {
  NodeId enter = -1;
  Edge start;
};

/// One frame on its way to a While node.
class Loop {
 public:
  Loop(Function& f, Program& program, const Frames& frames, int index)
      : f_(f), program_(program), frames_(frames), index_(index), frame_(frames.all()[static_cast<size_t>(index)]) {
    find_condition();
    find_variables();
  }

  void replace() {
    const std::string stem = f_.name + "/" + scope();
    const auto condition = function(stem + "/cond"), body = function(stem + "/body");
    fill_condition(*condition);
    fill_body(*body);
    program_.add(condition);
    program_.add(body);
    make_branches(*condition, program_);
    make_branches(*body, program_);
    const NodeId loop = f_.add(node(condition->name, body->name, holds_state(*condition) || holds_state(*body)));
    for (size_t i = 0; i < variables_.size(); ++i) leave(variables_[i], {loop, static_cast<int32_t>(i)});
  }

 private:
  /// What the program calls the loop: its frame without the word that TensorFlow puts behind.
  std::string scope() const {
    const size_t end = frame_.name.rfind('/');
    return end == std::string::npos ? frame_.name : frame_.name.substr(0, end);
  }

  void find_condition() {
    for (const NodeId id : frame_.members) {
      if (!is_loop_condition(f_[id].op)) continue;
      require(condition_ < 0, "frame {} has two conditions, {} and {}; a loop has one", frame_.name,
              f_[condition_].name, f_[id].name);
      condition_ = id;
    }
    require(condition_ >= 0, "frame {} (node {}) has no LoopCond; only loops of tf.while_loop are known", frame_.name,
            f_[frame_.enters.front()].name);
  }

  void find_variables() {
    std::set<NodeId> started;
    for (const NodeId id : frame_.members) {
      const Node& node = f_[id];
      const auto* next = node.attributes.find<std::string>(kTurnsBack);
      if (next == nullptr) continue;
      require(node.inputs.size() == 1 && is_enter(f_[node.inputs.front().node].op),
              "node {} goes round a loop, and starts with something else than an Enter", node.name);
      const NodeId enter = node.inputs.front().node;
      started.insert(enter);
      merge_at_[id] = variables_.size();
      variables_.push_back({f_[enter].inputs.front(), id, f_.find(*next)});
    }
    for (const NodeId enter : frame_.enters) {
      if (started.contains(enter)) continue;
      invariant_at_[enter] = invariants_.size();
      invariants_.push_back({enter, f_[enter].inputs.front()});
    }
  }

  std::shared_ptr<Function> function(std::string name) const {
    while (program_.functions.contains(name)) name += "_";
    auto out = std::make_shared<Function>(std::move(name), *f_.dialect);
    for (const LoopVariable& variable : variables_)
      out->add_argument(f_[variable.merge].name, {f_.output(variable.start).type, PartialShape::unknown()});
    for (const Invariant& one : invariants_)
      out->add_argument(f_[one.enter].name, {f_.output(one.start).type, PartialShape::unknown()});
    return out;
  }

  /// Whether the node decides about a variable going round.
  bool turns(const Node& node) const { return is_switch(node.op) && node.inputs[1].node == condition_; }

  std::optional<size_t> argument_of(Edge edge) const {
    const Node& node = f_[edge.node];
    if (const auto at = merge_at_.find(edge.node); at != merge_at_.end()) return at->second;
    if (const auto at = invariant_at_.find(edge.node); at != invariant_at_.end()) return variables_.size() + at->second;
    if (!turns(node)) return std::nullopt;
    const auto at = merge_at_.find(node.inputs.front().node);
    require(at != merge_at_.end(), "node {} takes {} into a loop, which is none of its variables", node.name,
            f_[node.inputs.front().node].name);
    return at->second;
  }

  Closure closure(Function& into) const {
    return Closure(
        f_, into,
        [this, &into](Edge edge) -> std::optional<Edge> {
          const auto at = argument_of(edge);
          if (!at) return std::nullopt;
          return Edge{into.arguments[*at].node, 0};
        },
        [this](NodeId id) {
          return frames_.of(id) == index_ && id != condition_ && !merge_at_.contains(id) && !is_enter(f_[id].op) &&
                 !is_next_iteration(f_[id].op) && !turns(f_[id]);
        });
  }

  void fill_condition(Function& into) const {
    const Node& condition = f_[condition_];
    Closure parts = closure(into);
    parts.copy({condition.inputs.front()}, condition.after);
    into.results.push_back({condition.name, parts.at(condition.inputs.front())});
    keep(into, parts, condition.after);
  }

  void fill_body(Function& into) const {
    std::vector<Edge> values;
    std::vector<NodeId> nodes;
    for (const LoopVariable& variable : variables_) {
      const Node& next = f_[variable.next];
      values.push_back(next.inputs.front());
      nodes.insert(nodes.end(), next.after.begin(), next.after.end());
    }
    Closure parts = closure(into);
    parts.copy(values, nodes);
    for (size_t i = 0; i < values.size(); ++i)
      into.results.push_back({f_[variables_[i].next].name, parts.at(values[i])});
    for (size_t i = 0; i < invariants_.size(); ++i)
      into.results.push_back({f_[invariants_[i].enter].name, {into.arguments[variables_.size() + i].node, 0}});
    keep(into, parts, nodes);
  }

  static void keep(Function& into, const Closure& parts, const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes)
      if (const auto at = parts.copied().find(id); at != parts.copied().end())
        into.control_results.push_back(at->second);
    for (const auto& [from, to] : parts.copied())
      if (into[to].stateful) into.control_results.push_back(to);
    sort_control_results(into);
  }

  static bool holds_state(const Function& f) { return std::ranges::any_of(f.nodes, &Node::stateful); }

  Node node(const std::string& condition, const std::string& body, bool stateful) const {
    Node out{.name = scope(), .kind = Kind::kWhile};
    out.attributes.set("cond", FunctionName{condition});
    out.attributes.set("body", FunctionName{body});
    for (const LoopVariable& variable : variables_) add(out, variable.start);
    for (const Invariant& one : invariants_) add(out, one.start);
    for (const NodeId enter : frame_.enters)
      for (const NodeId before : f_[enter].after)
        if (frames_.of(before) == frame_.parent) out.after.push_back(before);
    out.stateful = stateful;
    return out;
  }

  void add(Node& loop, Edge start) const {
    loop.inputs.push_back(start);
    loop.outputs.push_back({f_.output(start).type, PartialShape::unknown()});
  }

  /// What read the variable behind the loop reads the While node.
  void leave(const LoopVariable& variable, Edge value) {
    for (size_t i = 0; i < f_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (!is_exit(f_[id].op)) continue;
      const Node& decides = f_[f_[id].inputs.front().node];
      if (!turns(decides) || decides.inputs.front().node != variable.merge) continue;
      f_.replace({id, 0}, value);
      for (Node& node : f_.nodes) std::ranges::replace(node.after, id, value.node);
      std::ranges::replace(f_.control_results, id, value.node);
    }
  }

  Function& f_;
  Program& program_;
  const Frames& frames_;
  const int index_;
  const Frame& frame_;
  NodeId condition_ = -1;
  std::vector<LoopVariable> variables_;
  std::vector<Invariant> invariants_;
  std::map<NodeId, size_t> merge_at_, invariant_at_;
};

/// The frame in which no other begins; none where there is no frame.
int innermost(const Frames& frames) {
  int deepest = kNone;
  for (size_t i = 0; i < frames.all().size(); ++i)
    if (deepest == kNone || frames.all()[i].depth > frames.all()[static_cast<size_t>(deepest)].depth)
      deepest = static_cast<int>(i);
  return deepest;
}

void require_left(const Function& f, NodeId id, std::string_view frame) {
  require(!f[id].removed, "the value of {} is inside the loop {}; name what comes out of it", f[id].name, frame);
}

/// The nodes of a frame that a While node has taken the place of, with its Exits.
void drop_frame(Function& f, const Frame& frame) {
  for (const auto* list : {&frame.enters, &frame.members})
    for (const NodeId id : *list) f[id].removed = true;
  for (Node& node : f.nodes) {
    if (is_exit(node.op)) node.removed |= f[node.inputs.front().node].removed;
    if (node.removed) continue;
    for (const Edge& edge : node.inputs)
      require(!f[edge.node].removed, "node {} reads {}, which is inside the loop {}", node.name, f[edge.node].name,
              frame.name);
    for (const NodeId id : node.after)
      require(!f[id].removed, "node {} waits for {}, which is inside the loop {}", node.name, f[id].name, frame.name);
  }
  for (const Result& result : f.results) require_left(f, result.value.node, frame.name);
  for (const NodeId id : f.control_results) require_left(f, id, frame.name);
  f.compact();
}

/// Damaged graphs may go round without a frame.
void refuse_left_over(const Function& f) {
  for (const Node& node : f.nodes)
    require(node.removed || !(node.attributes.has(kTurnsBack) || is_frame_word(node.op)),
            "node {} ({}) belongs to a loop, and nothing enters it", node.name, node.op);
}

}  // namespace

void make_loops(Function& f, Program& program) {
  while (true) {
    const Frames frames(f);
    const int index = innermost(frames);
    if (index == kNone) break;
    Loop(f, program, frames, index).replace();
    drop_frame(f, frames.all()[static_cast<size_t>(index)]);
  }
  refuse_left_over(f);
}

std::vector<bool> in_frames(const Function& f) {
  const Frames frames(f);
  std::vector<bool> out(f.nodes.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = frames.of(static_cast<NodeId>(i)) != kNone;
  return out;
}

}  // namespace npu::graph::tensorflow
