// SPDX-License-Identifier: Apache-2.0
// What a fused node stands for, as operators: its parts planned alone, as if no pass had joined them.
#include "graph/passes/pattern/unfuse.h"
#include "graph/plan/binding.h"
#include "graph/plan/planner.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

/// Nobody is there to run what is no operator.
class Nowhere final : public Surroundings {
 public:
  explicit Nowhere(int device) : device_(device) {}
  int device() const override { return device_; }
  std::function<void(Frame&)> on_host(HostStep step) override {
    fail(Code::kOpNotFound, "its part {} is no operator", step.node.op);
  }
  std::shared_ptr<NodeState> state(const std::string& /*function*/, const std::string& node,
                                   const std::function<std::shared_ptr<NodeState>()>& /*make*/) override {
    fail(Code::kOpNotFound, "its part {} keeps a state", node);
  }
  void unfused(const std::string& /*function*/, const Node& /*node*/, const std::string& /*reason*/) override {}

 private:
  const int device_;
};

std::byte* number_of(const Planned& planned) {
  if (planned.slot < 0) fail(Code::kOpNotFound, "a part has an output that is no tensor");
  return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(planned.slot) + 1);
}

Tensor placed(const Planned& planned) {
  Tensor tensor = planned.view;
  tensor.data = number_of(planned);
  return tensor;
}

}  // namespace

ops::Parts Frame::parts_of(const PlannedNode& planned) const {
  std::vector<ArgumentTraits> traits;
  for (const Planned& input : planned.inputs) {
    if (!input.type.is_tensor() || input.dynamic) fail(Code::kOpNotFound, "a fused node reads what is no tensor");
    traits.push_back({input.type, input.view, input.literal, nullptr});
  }
  Nowhere nowhere(device_);
  const Function parts = unfused(*planned.node->parts);
  const Plan plan = Planner(parts, nowhere, traits).make();
  if (plan.rest) fail(Code::kOpNotFound, "a part has a shape that only the run tells");
  ops::Parts all;
  for (const Step& step : plan.steps) {
    if (step.def == nullptr) fail(Code::kOpNotFound, "its part {} is no operator", step.node->op);
    bind_tensors(*all.operators.emplace_back(make_operator(step)), step, number_of);
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    if (slot.kind != SlotKind::kConstant || !slot.literal->bytes) continue;
    Tensor memory =
        make_tensor(const_cast<std::byte*>(slot.literal->bytes->data()), slot.literal->type.dtype, slot.literal->shape);
    Tensor place = memory;
    place.data = reinterpret_cast<void*>(i + 1);
    all.given.push_back({place, memory});
  }
  for (size_t i = 0; i < planned.inputs.size(); ++i)
    if (plan.arguments[i].slot >= 0 && !plan.arguments[i].literal)
      all.given.push_back({placed(plan.arguments[i]), tensor(planned.inputs[i])});
  for (size_t i = 0; i < planned.outputs.size(); ++i)
    all.results.push_back({placed(plan.results[i]), tensor(planned.outputs[i])});
  return all;
}

}  // namespace npu::graph
