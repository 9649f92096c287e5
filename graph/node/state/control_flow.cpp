// SPDX-License-Identifier: Apache-2.0
// Calls, loops and branches. Only the run tells what comes out of them, so a plan ends there and goes on with what
// came.
#include "graph/ir/control_flow.h"

#include <algorithm>

#include "graph/plan/lowering.h"
#include "graph/run/executable.h"
#include "graph/run/run_scope.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

using Values = std::vector<Value>;

bool truth(const Value& value) {
  // Any tensor: numbers other than zero are true, others than 0-dim when they have elements.
  if (value.tensor.rank() != 0) return value.tensor.count() > 0;
  return Scalar(value.tensor.bytes(), value.tensor.dtype).to_bool();
}

Values run_function(Environment& environment, const Call& call, Values inputs) {
  return environment.body(call.bodies.front())->run(std::move(inputs));
}

/// The variables of a loop for its condition, which reads few of them: those it does not read keep their type alone.
Values looked_at(const Executable& condition, const Values& values) {
  Values out(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (condition.reads(i))
      out[i] = values[i];
    else
      out[i].tensor.dtype = values[i].tensor.dtype;
  }
  return out;
}

/// Whether it holds the step of an optimizer, itself or in a function that it runs.
bool trains(const Function& function, const Program& program) {
  return std::any_of(function.nodes.begin(), function.nodes.end(), [&](const Node& node) {
    if (node.removed) return false;
    if (node.kind == Kind::kVariableUpdate || node.op.starts_with("ResourceApply") ||
        node.op.starts_with("ResourceSparseApply"))
      return true;
    const std::vector<FunctionName> called = called_functions(node);
    return std::any_of(called.begin(), called.end(), [&](const FunctionName& name) {
      const auto at = program.functions.find(name.name);
      return at != program.functions.end() && trains(*at->second, program);
    });
  });
}

Values run_while(Environment& environment, const Call& call, Values values) {
  const auto condition = environment.body(call.condition), body = environment.body(call.bodies.front());
  RunScope::Loop loop(ops::observed() && trains(body->function(), environment.program()));
  while (truth(condition->run(looked_at(*condition, values)).front())) {
    loop.turn();
    values = body->run(std::move(values));
  }
  return values;
}

Values run_branch(Environment& environment, const Call& call, Values inputs) {
  const Value& selector = inputs.front();
  size_t branch = 0;
  if (call.kind == Kind::kIf) {
    branch = truth(selector) ? 0 : 1;
  } else {
    const int64_t index = Scalar(selector.tensor.bytes(), selector.tensor.dtype).to_int();
    // TensorFlow: an index outside takes the last branch.
    branch =
        index >= 0 && std::cmp_less(index, call.bodies.size()) ? static_cast<size_t>(index) : call.bodies.size() - 1;
  }
  inputs.erase(inputs.begin());
  return environment.body(call.bodies[branch])->run(std::move(inputs));
}

Values run_any(Environment& environment, const Call& call, Values inputs) {
  switch (call.kind) {
    case Kind::kCall: return run_function(environment, call, std::move(inputs));
    case Kind::kWhile: return run_while(environment, call, std::move(inputs));
    default: return run_branch(environment, call, std::move(inputs));
  }
}

void lower(Lowering& l) {
  const Call call = *as_call(l.node());
  const std::vector<Planned> inputs = l.inputs();
  for (const Planned& input : inputs) l.keep(input);
  std::vector<Planned> outputs;
  for (size_t i = 0; i < l.node().outputs.size(); ++i) outputs.push_back(l.unknown(i));
  l.run(inputs, outputs, [call, inputs, outputs](Frame& frame) {
    Values results = run_any(frame.environment(), call, frame.take(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) frame.set(outputs[i], std::move(results[i]));
  });
  // A function may have assigned to variables, and so changed what the plan counts on.
  l.end_plan();
}

NPU_NODE(Kind::kCall, lower);
NPU_NODE(Kind::kWhile, lower);
NPU_NODE(Kind::kIf, lower);
NPU_NODE(Kind::kCase, lower);

}  // namespace
}  // namespace npu::graph
