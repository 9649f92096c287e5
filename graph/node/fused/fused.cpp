// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes, and updates of variables, as chains (ops/vector/chain/chain.h). Shapes decide: parts of one shape
// that are connected make a group of a chain; a smaller result that is broadcast in a larger part goes through memory.
#include "graph/node/fused/fused.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/node/layout.h"
#include "graph/node/resource.h"
#include "graph/plan/refusal.h"
#include "ops/runner/call.h"
#include "ops/vector/chain/chain.h"

namespace npu::graph {
namespace {

/// What is known of a value between the parts.
struct Known {
  Dims shape;
  DType dtype = DType::kUndefined;
  size_t unit = kOutside;  ///< the unit that makes it
  Planned planned = {};    ///< where it is in memory, once it is there
  static constexpr size_t kOutside = ~size_t{0};
};

/// Connected parts of one shape, which become one group of a chain.
struct Unit {
  ops::ChainGroup group = {};
  std::vector<Planned> inputs = {};
  std::vector<Edge> outputs = {};
  std::map<Edge, int> registers = {};
  std::vector<size_t> variables = {};       ///< inputs of the node; each is an input and an output of the group
  std::map<size_t, int> variable_now = {};  ///< register that holds a variable's value now
  size_t level = 0;
  bool images = false;  ///< goes over [n, spatial…, c] because an input lies so in memory
};

class Fused {
 public:
  explicit Fused(Lowering& l) : l_(l), f_(*l.node().parts) {}

  void run() {
    read_inputs();
    for (const NodeId id : f_.order())
      if (f_[id].kind != Kind::kArgument) order_.push_back(id);
    for (const NodeId id : order_) check(f_[id]), look_at(id);
    find_units();
    for (const NodeId id : order_) add_steps(id);
    find_outputs();
    for (size_t level = 0; level <= levels_; ++level) emit(level);
    for (size_t i = 0; i < f_.results.size(); ++i)
      if (Known& known = source(f_.results[i].value); !placed_.contains(i)) l_.alias(i, known.planned);
  }

 private:
  const Known& value(Edge edge) { return source(edge); }
  Known& source(Edge edge) {
    const auto found = values_.find(canonical(edge));
    if (found == values_.end()) throw Unfused{"a part takes what no part before it brings"};
    return found->second;
  }
  /// Through nodes that change nothing.
  Edge canonical(Edge edge) const {
    for (auto at = same_.find(edge); at != same_.end(); at = same_.find(edge)) edge = at->second;
    return edge;
  }

  void read_inputs() {
    for (size_t i = 0; i < l_.input_count(); ++i) {
      const Edge edge{f_.arguments[i].node, 0};
      const Planned& planned = l_.input(i);
      if (planned.type.kind == ValueKind::kResource) {
        handles_[edge] = i;
        continue;
      }
      if (is_object(planned.type) || planned.dynamic) throw Unfused{"an input holds no numbers"};
      values_[edge] = {planned.shape(), planned.dtype(), Known::kOutside, planned};
    }
  }

  /// A node that comes from a file may have any parts.
  static void check(const Node& node) {
    const auto& [part, line, form] = part_of(node);
    const bool writes = part == Part::kAssign || part == Part::kUpdate;
    const size_t points = part == Part::kPoint && !form.same ? form.fields.size() : 1;
    const size_t least = writes || part == Part::kBias ? 2 : points;
    require(node.inputs.size() >= least && (writes || !node.outputs.empty()),
            "its part {} has {} inputs and {} outputs", node.name, node.inputs.size(), node.outputs.size());
  }

  Known variable(Edge handle) {
    const auto found = handles_.find(handle);
    if (found == handles_.end()) throw Unfused{"a part takes for a variable what is none"};
    const Tensor& meta = l_.variable(found->second);
    if (!meta.defined()) throw Unfused{"a variable holds nothing yet"};
    return {meta.shape, meta.dtype};
  }

  /// Shape and type of what the part brings; refuses what a chain cannot do.
  void look_at(NodeId id) {
    const Node& node = f_[id];
    Known out;
    switch (part_of(node).part) {
      case Part::kNone: throw Unfused{fmt::format("{} is not element-wise", node.op)};
      case Part::kSame: same_[{id, 0}] = node.inputs[0]; return;
      case Part::kRead: out = variable(node.inputs[0]); break;
      case Part::kAssign:
      case Part::kUpdate: {
        out = variable(node.inputs[0]);
        const Known& given = value(node.inputs[1]);
        const bool fits = given.dtype == out.dtype &&
                          (part_of(node).part == Part::kAssign ? given.shape == out.shape
                                                               : broadcast(given.shape, out.shape) == out.shape);
        if (!fits) throw Unfused{"a variable is given another shape or type"};
        break;
      }
      case Part::kCast: {
        const Known& in = value(node.inputs[0]);
        out = {in.shape, node.outputs[0].type.dtype};
        if (in.dtype == out.dtype) {
          same_[{id, 0}] = node.inputs[0];
          return;
        }
        if (!ops::ChainProgram::knows("cast", in.dtype, out.dtype)) throw Unfused{"a cast is no step of a chain"};
        break;
      }
      case Part::kBias:
        out = {value(node.inputs[0]).shape, value(node.inputs[0]).dtype};
        if (value(node.inputs[1]).dtype != out.dtype) throw Unfused{"a bias is of another type"};
        break;
      default: {
        out = {value(node.inputs[0]).shape, value(node.inputs.back()).dtype};
        for (const Edge& edge : node.inputs) out.shape = broadcast(out.shape, value(edge).shape);
        if (part_of(node).part == Part::kPoint) {
          look_at_point(node, out);
          break;
        }
        for (const Edge& edge : node.inputs)
          if (value(edge).dtype != out.dtype || !(value(edge).shape == out.shape)) throw Unfused{"a sum is uneven"};
      }
    }
    parts_[id] = out;
    if (!node.outputs.empty()) values_[{id, 0}] = out;
  }

  void look_at_point(const Node& node, Known& out) {
    const NodePart& point = part_of(node);
    const DType dtype = out.dtype;
    if (point.form.test) out.dtype = DType::kBool;
    const bool where = point.line == "where";
    if (where && value(node.inputs[0]).dtype != DType::kBool) throw Unfused{"a condition is not bool"};
    for (size_t k = where ? 1 : 0; k < node.inputs.size(); ++k)
      if (value(node.inputs[k]).dtype != dtype) throw Unfused{"inputs are of several types"};
    if (!ops::ChainProgram::knows(point.line, dtype, out.dtype))
      throw Unfused{fmt::format("{} of {} is no step of a chain", node.op, dtype)};
  }

  // ---- units
  size_t root(size_t unit) {
    while (joined_[unit] != unit) unit = joined_[unit] = joined_[joined_[unit]];
    return unit;
  }
  /// True when both have one shape, and then they are one unit.
  bool join(NodeId a, NodeId b) {
    if (!(parts_.at(a).shape == parts_.at(b).shape)) return false;
    joined_[root(index_.at(a))] = root(index_.at(b));
    return true;
  }

  void find_units() {
    for (const auto& [id, known] : parts_) index_[id] = index_.size();
    joined_.resize(index_.size());
    std::iota(joined_.begin(), joined_.end(), size_t{0});
    std::map<size_t, NodeId> touched;
    std::vector<std::pair<NodeId, NodeId>> before;  // across units
    for (const NodeId id : order_) {
      if (!parts_.contains(id)) continue;
      for (const Edge& edge : f_[id].inputs) {
        if (const auto handle = handles_.find(edge); handle != handles_.end()) {
          const auto [at, fresh] = touched.emplace(handle->second, id);
          if (!fresh && !join(id, at->second)) throw Unfused{"a variable changes its shape"};
          continue;
        }
        const NodeId from = canonical(edge).node;
        if (parts_.contains(from) && !join(id, from)) before.emplace_back(from, id);
      }
      for (const NodeId waited : f_[id].after)
        if (parts_.contains(waited) && !join(id, waited)) before.emplace_back(waited, id);
    }
    std::map<size_t, size_t> numbers;
    for (const auto& [id, known] : parts_)
      unit_of_[id] = numbers.emplace(root(index_.at(id)), numbers.size()).first->second;
    units_.resize(numbers.size());
    for (auto& [edge, known] : values_)
      if (const auto at = unit_of_.find(edge.node); at != unit_of_.end()) known.unit = at->second;
    find_levels(before);
  }

  /// How many units must be done before each.
  void find_levels(const std::vector<std::pair<NodeId, NodeId>>& before) {
    for (size_t round = 0; round <= units_.size(); ++round) {
      bool changed = false;
      for (const auto& [from, to] : before) {
        const size_t wanted = units_[unit_of_.at(from)].level + 1;
        size_t& level = units_[unit_of_.at(to)].level;
        if (level < wanted) level = wanted, changed = true;
        levels_ = std::max(levels_, level);
      }
      if (!changed) return;
    }
    throw Unfused{"parts of one shape wait for each other through another"};
  }

  // ---- steps
  /// The register of a value in `unit`; one from outside becomes an input.
  int operand(Unit& unit, size_t number, Edge edge) {
    edge = canonical(edge);
    if (const auto at = unit.registers.find(edge); at != unit.registers.end()) return at->second;
    const Known& known = values_.at(edge);
    if (known.unit == number) fail(Code::kInternal, "a part of a fused node is read before it is computed");
    return unit.registers[edge] = input(unit, known.planned, edge, known.dtype);
  }
  int input(Unit& unit, const Planned& planned, Edge edge, DType dtype) {
    unit.group.inputs.push_back(dtype);
    unit.inputs.push_back(planned);
    sources_[{&unit, unit.inputs.size() - 1}] = edge;
    return -static_cast<int>(unit.inputs.size());  // numbered when all inputs are known
  }
  static int add(Unit& unit, std::string_view op, DType result, std::vector<std::pair<std::string, int>> operands) {
    unit.group.steps.push_back({std::string(op), result, std::move(operands)});
    return static_cast<int>(unit.group.steps.size()) - 1;
  }
  int variable_register(Unit& unit, size_t handle, DType dtype) {
    if (const auto at = unit.variable_now.find(handle); at != unit.variable_now.end()) return at->second;
    unit.variables.push_back(handle);
    Planned planned;
    planned.slot = -1;
    return unit.variable_now[handle] = input(unit, planned, {-1, static_cast<int32_t>(handle)}, dtype);
  }

  void add_steps(NodeId id) {
    const auto at = unit_of_.find(id);
    if (at == unit_of_.end()) return;
    const size_t number = at->second;
    Unit& unit = units_[number];
    const Node& node = f_[id];
    const Known& out = parts_.at(id);
    const auto reg = [&](size_t i) { return operand(unit, number, node.inputs[i]); };
    const auto now = [&] { return variable_register(unit, handles_.at(node.inputs[0]), out.dtype); };
    int result = 0;
    switch (part_of(node).part) {
      case Part::kRead: result = now(); break;
      case Part::kAssign:
        now();
        unit.variable_now[handles_.at(node.inputs[0])] = reg(1);
        return;
      case Part::kUpdate: {
        const int before = now();
        unit.variable_now[handles_.at(node.inputs[0])] =
            add(unit, part_of(node).line, out.dtype, {{"self", before}, {"other", reg(1)}});
        return;
      }
      case Part::kCast: result = add(unit, "cast", out.dtype, {{"self", reg(0)}}); break;
      case Part::kSum:
        result = reg(0);
        for (size_t i = 1; i < node.inputs.size(); ++i)
          result = add(unit, "add", out.dtype, {{"self", result}, {"other", reg(i)}});
        break;
      case Part::kBias: result = add_bias(unit, id, number); break;
      default: {
        const auto& [part, line, form] = part_of(node);
        std::vector<std::pair<std::string, int>> operands;
        for (size_t k = 0; k < form.fields.size(); ++k) operands.emplace_back(form.fields[k], reg(form.same ? 0 : k));
        result = add(unit, line, out.dtype, std::move(operands));
        if (form.numbers == nullptr) break;
        for (const auto& [field, number] : form.numbers(node.attributes))
          unit.group.steps.back().numbers.emplace_back(field, number);
      }
    }
    unit.registers[{id, 0}] = result;
  }

  int add_bias(Unit& unit, NodeId id, size_t number) {
    const Node& node = f_[id];
    const Known& bias = value(node.inputs[1]);
    if (bias.unit == number) throw Unfused{"a bias is made of what it is added to"};
    const int self = operand(unit, number, node.inputs[0]);
    const int other = input(unit, bias.planned, canonical(node.inputs[1]), bias.dtype);
    const auto format = node.attributes.get_or<std::string>("data_format", "NHWC");
    biases_[{&unit, unit.inputs.size() - 1}] = !format.starts_with("NC");
    return add(unit, "add", bias.dtype, {{"self", self}, {"other", other}});
  }

  /// Values that leave their unit.
  void find_outputs() {
    const auto leave = [&](Edge edge) {
      edge = canonical(edge);
      const Known& known = values_.at(edge);
      if (known.unit == Known::kOutside) return;
      std::vector<Edge>& outputs = units_[known.unit].outputs;
      if (std::find(outputs.begin(), outputs.end(), edge) == outputs.end()) outputs.push_back(edge);
    };
    for (const Result& result : f_.results) leave(result.value);
    for (const auto& [place, edge] : sources_)
      if (edge.node >= 0) leave(edge);
  }

  // ---- emitting
  Planned place(Edge edge, const Known& known, bool images) {
    for (size_t i = 0; i < f_.results.size(); ++i)
      if (canonical(f_.results[i].value) == edge) {
        placed_.insert({i, true});
        return images ? make_images(l_, i, known.dtype, known.shape) : l_.make(i, known.dtype, known.shape);
      }
    if (images) return channels_first(l_.scratch(known.dtype, in_format(known.shape, true)), true);
    return l_.scratch(known.dtype, known.shape);
  }

  /// Where an input lies with channels last, all goes over elements in that order.
  static void follow_images(Unit& unit, const Dims& shape) {
    const auto lies_so = [&](const Planned& in) { return in.shape() == shape && lies_channels_last(in); };
    unit.images = unit.variables.empty() && std::ranges::any_of(unit.inputs, lies_so);
    if (!unit.images) return;
    for (Planned& in : unit.inputs)
      if (in.view.count() != 1) in = in_order_of_memory(expanded(in, shape));
  }
  static Planned seen_by(const Unit& unit, const Planned& planned) {
    return unit.images ? in_order_of_memory(planned) : planned;
  }

  /// Inputs that come from other units are in memory by now.
  void finish(Unit& unit, const Dims& shape) {
    // Steps and inputs were told apart by their sign while both grew.
    const auto inputs = static_cast<int>(unit.inputs.size());
    const auto numbered = [&](int reg) { return reg < 0 ? -reg - 1 : reg + inputs; };
    for (ops::ChainStep& step : unit.group.steps)
      for (auto& [name, reg] : step.operands) reg = numbered(reg);
    for (auto& [edge, reg] : unit.registers) reg = numbered(reg);
    for (auto& [handle, reg] : unit.variable_now) reg = numbered(reg);
    for (size_t i = 0; i < unit.inputs.size(); ++i) {
      const Edge edge = sources_.at({&unit, i});
      if (edge.node < 0) continue;
      unit.inputs[i] = values_.at(edge).planned;
      if (const auto bias = biases_.find({&unit, i}); bias != biases_.end())
        unit.inputs[i] = along_channels(unit.inputs[i], shape, bias->second);
    }
  }

  void emit(size_t level) {
    std::vector<Unit*> plain, updating;
    for (size_t u = 0; u < units_.size(); ++u) {
      Unit& unit = units_[u];
      if (unit.level != level) continue;
      const auto part = std::find_if(unit_of_.begin(), unit_of_.end(), [&](const auto& p) { return p.second == u; });
      finish(unit, parts_.at(part->first).shape);
      follow_images(unit, parts_.at(part->first).shape);
      for (const Edge& edge : unit.outputs) {
        Known& known = values_.at(edge);
        known.planned = place(edge, known, unit.images);
        unit.group.outputs.push_back(unit.registers.at(edge));
      }
      (unit.variables.empty() ? plain : updating).push_back(&unit);
    }
    std::erase_if(plain, [](const Unit* unit) { return unit->outputs.empty(); });
    if (!plain.empty()) emit_plain(plain);
    if (!updating.empty()) emit_updates(updating);
  }

  void emit_plain(const std::vector<Unit*>& units) {
    std::vector<ops::ChainGroup> groups;
    std::vector<Planned> inputs, outputs;
    for (const Unit* unit : units) {
      if (unit->group.steps.size() == 1 && unit->group.steps.front().op != "cast") {
        emit_single(*unit);
        continue;
      }
      groups.push_back(unit->group);
      inputs.insert(inputs.end(), unit->inputs.begin(), unit->inputs.end());
      for (const Edge& edge : unit->outputs) outputs.push_back(seen_by(*unit, values_.at(edge).planned));
    }
    if (groups.empty()) return;
    l_.call("chain")
        .set("inputs", inputs)
        .set("outputs", outputs)
        .set("program", ops::chain_program(std::move(groups)));
  }

  /// One operator alone is called as ever.
  void emit_single(const Unit& unit) {
    const ops::ChainStep& step = unit.group.steps.front();
    OperatorCall call = l_.call(step.op);
    for (const auto& [name, reg] : step.operands) call.set(name, unit.inputs[static_cast<size_t>(reg)]);
    for (const auto& [name, value] : step.numbers) call.set(name, ops::Operand{{}, Scalar(value)});
    call.set("out", seen_by(unit, values_.at(unit.outputs.front()).planned));
  }

  void emit_updates(const std::vector<Unit*>& units);

  Lowering& l_;
  const Function& f_;
  std::vector<NodeId> order_;
  std::map<Edge, size_t> handles_;  ///< arguments that are variables, by input of the node
  std::map<Edge, Known> values_;
  std::map<Edge, Edge> same_;
  std::map<NodeId, Known> parts_;
  std::map<NodeId, size_t> index_, unit_of_;
  std::vector<size_t> joined_;
  std::vector<Unit> units_;
  size_t levels_ = 0;
  std::map<std::pair<const Unit*, size_t>, Edge> sources_;  ///< where a unit's input comes from
  std::map<std::pair<const Unit*, size_t>, bool> biases_;   ///< inputs laid along the channels; whether those are last
  std::map<size_t, bool> placed_;                           ///< results that have memory
};

/// What a run needs to update variables: a program, and where its tensors come from. Shared by all runs of a plan; a
/// chain that is bound waits here for the next one.
class UpdateStep {
 public:
  struct Source {
    int variable = -1;  ///< position in `handles`, or …
    Planned planned;    ///< … a tensor of the frame
  };
  std::vector<Planned> handles;
  std::vector<Source> inputs, outputs;

  explicit UpdateStep(std::vector<ops::ChainGroup> groups) : program_(ops::chain_program(std::move(groups))) {}

  void run(Frame& frame) {
    std::vector<Variable*> held;
    for (const Planned& handle : handles) held.push_back(&variable_of(frame, handle));
    update_together(held, [&](std::span<const Tensor> variables) {
      const auto tensors = [&](const std::vector<Source>& sources) {
        std::vector<Tensor> out;
        for (const Source& s : sources)
          out.push_back(s.variable < 0 ? frame.tensor(s.planned) : variables[static_cast<size_t>(s.variable)]);
        return out;
      };
      if (ops::InsideScope::open()) [[unlikely]]  // who looks inside sees operators
        return ops::Call("chain")
            .set("inputs", tensors(inputs))
            .set("outputs", tensors(outputs))
            .set("program", program_)
            .run();
      std::unique_ptr<ops::Chain> chain = bound(tensors(inputs), tensors(outputs));
      chain->run();
      const std::lock_guard lock(mutex_);
      idle_ = std::move(chain);
    });
  }

 private:
  std::unique_ptr<ops::Chain> bound(const std::vector<Tensor>& in, const std::vector<Tensor>& out) {
    std::unique_ptr<ops::Chain> chain;
    {
      const std::lock_guard lock(mutex_);
      chain = std::move(idle_);
    }
    if (chain && same_shapes(out)) {
      chain->move(in, out);
      return chain;
    }
    chain = std::make_unique<ops::Chain>(program_);
    chain->bind(in, out);
    return chain;
  }
  /// Another thread may have given a variable another shape since the plan was chosen.
  bool same_shapes(const std::vector<Tensor>& out) const {
    for (size_t i = 0; i < out.size(); ++i)
      if (outputs[i].variable >= 0 && (!(out[i].shape == outputs[i].planned.shape()) || !out[i].contiguous() ||
                                       out[i].dtype != outputs[i].planned.dtype()))
        return false;
    return true;
  }

  const std::shared_ptr<const ops::ChainProgram> program_;
  std::mutex mutex_;
  std::unique_ptr<ops::Chain> idle_;
};

void Fused::emit_updates(const std::vector<Unit*>& units) {
  std::vector<ops::ChainGroup> groups;
  std::vector<Planned> handles, used;
  std::vector<UpdateStep::Source> inputs, outputs;
  for (Unit* unit : units) {
    std::map<size_t, int> position;  // of the unit's handles
    for (const size_t handle : unit->variables) {
      position[handle] = static_cast<int>(handles.size());
      handles.push_back(l_.input(handle));
    }
    for (size_t i = 0; i < unit->inputs.size(); ++i) {
      const Edge edge = sources_.at({unit, i});
      if (edge.node < 0)
        inputs.push_back({position.at(static_cast<size_t>(edge.output)), {}});
      else
        inputs.push_back({-1, unit->inputs[i]}), used.push_back(unit->inputs[i]);
    }
    for (const Edge& edge : unit->outputs) {
      outputs.push_back({-1, values_.at(edge).planned});
      used.push_back(values_.at(edge).planned);
    }
    for (const size_t handle : unit->variables) {
      unit->group.outputs.push_back(unit->variable_now.at(handle));
      const Tensor& meta = l_.variable(handle);
      Planned planned{ValueType::tensor(meta.dtype)};
      planned.view = make_tensor(nullptr, meta.dtype, meta.shape);
      outputs.push_back({position.at(handle), std::move(planned)});
    }
    groups.push_back(unit->group);
  }
  const auto step = std::make_shared<UpdateStep>(std::move(groups));
  used.insert(used.end(), handles.begin(), handles.end());
  step->handles = std::move(handles), step->inputs = std::move(inputs), step->outputs = std::move(outputs);
  l_.run(used, [step](Frame& frame) { step->run(frame); });
}

void fused(Lowering& l) { Fused(l).run(); }

NPU_NODE(Kind::kElementwise, fused);
NPU_NODE(Kind::kVariableUpdate, fused);

}  // namespace

std::optional<size_t> role(const Lowering& l, std::string_view name) {
  const int64_t* at = l.attributes().find<int64_t>(name);
  return at == nullptr ? std::nullopt : std::optional(static_cast<size_t>(*at));
}

size_t place_of(const Lowering& l, std::string_view name) {
  const std::optional<size_t> at = role(l, name);
  require(at.has_value(), "it does not tell which of its inputs is {}", name);
  return *at;
}

}  // namespace npu::graph
