// SPDX-License-Identifier: Apache-2.0
// Products and convolutions with the element-wise node that takes up their result. The parts become steps as they would
// alone; then the step of the product takes over the chain, which goes over each piece of the result in the cache.
// Where shapes or layouts forbid that, the steps stay one behind the other.
#include <algorithm>
#include <optional>

#include "graph/node/fused/fused.h"
#include "graph/plan/binding.h"
#include "graph/plan/lowering.h"
#include "ops/cube/channels_last.h"
#include "ops/vector/chain/chain.h"

namespace npu::graph {
namespace {

TensorField* find(Step& step, std::string_view name) {
  for (TensorField& field : step.tensors)
    if (field.field->name == name) return &field;
  return nullptr;
}

/// The result of a step that a chain may follow, row-major (images: channels last); null for other steps.
Planned* result_of(Step& step) {
  if (step.def == nullptr || !step.def->is(ops::kTakesChain)) return nullptr;
  const bool images = step.def->is(ops::kImages);
  TensorField* field = find(step, "out");
  if (field == nullptr) field = find(step, "grad_input");
  if (field == nullptr) return nullptr;
  const Tensor& view = field->values.front().view;
  const bool fits = images ? view.rank() > 2 && ops::cube::is_channels_last(view) : view.contiguous();
  return fits ? &field->values.front() : nullptr;
}

/// A chain of one group with its tensors.
struct Group {
  ops::ChainGroup program;
  std::vector<Planned> inputs, outputs;
};

/// A step of one element-wise operator as a chain; none where it has numbers of its own, or is no step of a chain.
std::optional<Group> single(Step& step) {
  const TensorField* out = find(step, "out");
  if (out == nullptr || !step.attributes.empty() || !step.def->is(ops::kPointwise)) return std::nullopt;
  Group g;
  ops::ChainStep only{std::string(step.def->name), out->values.front().dtype(), {}};
  for (const TensorField& field : step.tensors) {
    if (&field == out) continue;
    only.operands.emplace_back(field.field->name, static_cast<int>(g.inputs.size()));
    g.inputs.push_back(field.values.front());
    g.program.inputs.push_back(field.values.front().dtype());
  }
  const bool alike = std::equal(g.program.inputs.begin() + 1, g.program.inputs.end(), g.program.inputs.begin());
  if (!alike || !ops::ChainProgram::knows(only.op, g.program.inputs.back(), only.result)) return std::nullopt;
  g.outputs = {out->values.front()};
  g.program.outputs = {static_cast<int>(g.inputs.size())};
  g.program.steps = {std::move(only)};
  return g;
}

std::vector<Group> groups_of(Step& step) {
  if (step.def == nullptr) return {};
  if (step.def->name != "chain") {
    std::optional<Group> one = single(step);
    return one ? std::vector<Group>{std::move(*one)} : std::vector<Group>{};
  }
  const auto op = make_operator(step);
  const auto& program = step.def->field("program")->of<std::shared_ptr<const ops::ChainProgram>>(*op);
  auto in = find(step, "inputs")->values.begin(), out = find(step, "outputs")->values.begin();
  std::vector<Group> groups;
  for (const ops::ChainGroup& group : program->source()) {
    Group g{group, {}, {}};
    g.inputs.assign(in, in + static_cast<int64_t>(g.program.inputs.size()));
    g.outputs.assign(out, out + static_cast<int64_t>(g.program.outputs.size()));
    in += static_cast<int64_t>(g.inputs.size()), out += static_cast<int64_t>(g.outputs.size());
    groups.push_back(std::move(g));
  }
  return groups;
}

/// Whether the group goes over the elements of `result` in the order in which they lie.
bool takes_up(const Group& g, const Planned& result) {
  if (g.outputs.front().view.count() != result.view.count()) return false;
  return std::any_of(g.inputs.begin(), g.inputs.end(), [&](const Planned& in) {
    return in.slot == result.slot && in.view.offset == result.view.offset && in.view.contiguous() &&
           in.view.count() == result.view.count() && in.dtype() == result.dtype();
  });
}

bool uses(const Step& step, SlotId slot) {
  return std::find(step.uses.begin(), step.uses.end(), slot) != step.uses.end();
}

void set_uses(Step& step) {
  step.uses.clear();
  for (const TensorField& field : step.tensors)
    for (const Planned& planned : field.values) step.uses.push_back(planned.slot);
}

/// A result that only the chain reads need not stay: it lies where the chain writes, unless something is read there.
void write_in_place(Planned& result, Group& g) {
  const auto free = [&](const Planned& out) {
    return out.dtype() == result.dtype() &&
           std::none_of(g.inputs.begin(), g.inputs.end(), [&](const Planned& in) { return in.slot == out.slot; });
  };
  const auto home = std::find_if(g.outputs.begin(), g.outputs.end(), free);
  if (home == g.outputs.end()) return;
  for (Planned& in : g.inputs)
    if (in.slot == result.slot) in = *home;
  result.slot = home->slot;
  result.view.offset = home->view.offset;
}

void add_chain(Step& step, const std::vector<Group>& groups, std::string_view inputs, std::string_view outputs,
               std::string_view program) {
  std::vector<ops::ChainGroup> programs;
  TensorField in{step.def->field(inputs), {}}, out{step.def->field(outputs), {}};
  for (const Group& g : groups) {
    programs.push_back(g.program);
    in.values.insert(in.values.end(), g.inputs.begin(), g.inputs.end());
    out.values.insert(out.values.end(), g.outputs.begin(), g.outputs.end());
  }
  step.tensors.push_back(std::move(in)), step.tensors.push_back(std::move(out));
  OperatorCall(step).set(program, ops::chain_program(std::move(programs)));
  set_uses(step);
}

/// One step of the product at `p` and the chain at `c`; what else the chain's step computes comes behind it.
void merge(Lowering& l, size_t first, size_t p, size_t c, std::vector<Group> groups, size_t mine) {
  std::vector<Step>& steps = l.steps();
  Step product = std::move(steps[p]);
  Planned& result = *result_of(product);
  bool alone = true;
  for (size_t i = 0; i < l.node().outputs.size(); ++i) alone = alone && l.output(i).slot != result.slot;
  for (size_t i = first; i < steps.size(); ++i) alone = alone && (i == p || i == c || !uses(steps[i], result.slot));
  Group taken = std::move(groups[mine]);
  groups.erase(groups.begin() + static_cast<int64_t>(mine));
  for (const Group& g : groups)
    for (const Planned& in : g.inputs) alone = alone && in.slot != result.slot;
  if (alone) write_in_place(result, taken);
  add_chain(product, {std::move(taken)}, "chain_inputs", "chain_outputs", "chain");
  Step rest = std::exchange(steps[c], std::move(product));
  if (!groups.empty()) {
    rest.tensors.clear(), rest.attributes.clear();
    add_chain(rest, groups, "inputs", "outputs", "program");
    steps.insert(steps.begin() + static_cast<int64_t>(c) + 1, std::move(rest));
  }
  steps.erase(steps.begin() + static_cast<int64_t>(p));
}

void fused_product(Lowering& l) {
  const size_t first = l.lower_parts();
  std::vector<Step>& steps = l.steps();
  for (size_t p = first; p < steps.size(); ++p) {
    const Planned* result = result_of(steps[p]);
    if (result == nullptr) continue;
    for (size_t c = p + 1; c < steps.size(); ++c) {
      std::vector<Group> groups = groups_of(steps[c]);
      const auto mine =
          std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return takes_up(g, *result); });
      if (mine != groups.end()) {
        const auto at = static_cast<size_t>(mine - groups.begin());
        return merge(l, first, p, c, std::move(groups), at);
      }
      if (uses(steps[c], result->slot)) return;
    }
  }
}

NPU_NODE(Kind::kFusedProduct, fused_product);

}  // namespace
}  // namespace npu::graph
