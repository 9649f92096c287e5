// SPDX-License-Identifier: Apache-2.0
// Steps of optimisers on variables, in place. The table names the operator, the field each input goes to, and the
// attribute that is handed on.
#include <algorithm>

#include "base/split.h"
#include "graph/node/resource.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

/// How one kind of node is served.
struct Recipe {
  std::string_view node;
  std::string_view op;      ///< of `ops`
  std::string_view fields;  ///< where the inputs go, in order
  std::string_view flag;    ///< the attribute that is handed on, or ""
};

// clang-format off
constexpr Recipe kRecipes[] = {
    {"ResourceApplyGradientDescent", "apply_gradient_descent", "var lr grad", ""},
    {"ResourceApplyProximalGradientDescent", "apply_proximal_gradient_descent", "var lr l1 l2 grad", ""},
    {"ResourceApplyMomentum", "apply_momentum", "var accum lr grad momentum", "use_nesterov"},
    {"ResourceApplyKerasMomentum", "apply_keras_momentum", "var accum lr grad momentum", "use_nesterov"},
    {"ResourceApplyAdam", "apply_adam", "var m v beta1_power beta2_power lr beta1 beta2 eps grad", "use_nesterov"},
    {"ResourceApplyAdamWithAmsgrad", "apply_adam", "var m v largest beta1_power beta2_power lr beta1 beta2 eps grad", "amsgrad"},
    {"ResourceApplyAdaMax", "apply_ada_max", "var m v beta1_power lr beta1 beta2 epsilon grad", ""},
    {"ResourceApplyAdagrad", "apply_adagrad", "var accum lr grad", "update_slots"},
    {"ResourceApplyAdagradV2", "apply_adagrad_v2", "var accum lr epsilon grad", "update_slots"},
    {"ResourceApplyProximalAdagrad", "apply_proximal_adagrad", "var accum lr l1 l2 grad", ""},
    {"ResourceApplyAdagradDA", "apply_adagrad_da", "var gradient_sum square_sum grad lr l1 l2 global_step", ""},
    {"ResourceApplyAdadelta", "apply_adadelta", "var accum accum_update lr rho epsilon grad", ""},
    {"ResourceApplyRMSProp", "apply_rms_prop", "var ms mom lr rho momentum epsilon grad", ""},
    {"ResourceApplyCenteredRMSProp", "apply_centered_rms_prop", "var mg ms mom lr rho momentum epsilon grad", ""},
    {"ResourceApplyFtrl", "apply_ftrl", "var accum linear grad lr l1 l2 lr_power", "multiply_linear_by_lr"},
    {"ResourceApplyFtrlV2", "apply_ftrl_v2", "var accum linear grad lr l1 l2 l2_shrinkage lr_power", "multiply_linear_by_lr"},
    {"ResourceApplyPowerSign", "apply_power_sign", "var m lr logbase sign_decay beta grad", ""},
    {"ResourceApplyAddSign", "apply_add_sign", "var m lr alpha sign_decay beta grad", ""},
    {"ResourceSparseApplyMomentum", "apply_momentum", "var accum lr grad indices momentum", "use_nesterov"},
    {"ResourceSparseApplyKerasMomentum", "apply_keras_momentum", "var accum lr grad indices momentum", "use_nesterov"},
    {"ResourceSparseApplyAdagrad", "apply_adagrad", "var accum lr grad indices", "update_slots"},
    {"ResourceSparseApplyAdagradV2", "apply_adagrad_v2", "var accum lr epsilon grad indices", "update_slots"},
    {"ResourceSparseApplyProximalAdagrad", "apply_proximal_adagrad", "var accum lr l1 l2 grad indices", ""},
    {"ResourceSparseApplyAdagradDA", "apply_adagrad_da", "var gradient_sum square_sum grad indices lr l1 l2 global_step", ""},
    {"ResourceSparseApplyAdadelta", "apply_adadelta", "var accum accum_update lr rho epsilon grad indices", ""},
    {"ResourceSparseApplyRMSProp", "apply_rms_prop", "var ms mom lr rho momentum epsilon grad indices", ""},
    {"ResourceSparseApplyCenteredRMSProp", "apply_centered_rms_prop", "var mg ms mom lr rho momentum epsilon grad indices", ""},
    {"ResourceSparseApplyFtrl", "apply_ftrl", "var accum linear grad indices lr l1 l2 lr_power", "multiply_linear_by_lr"},
    {"ResourceSparseApplyFtrlV2", "apply_ftrl_v2", "var accum linear grad indices lr l1 l2 l2_shrinkage lr_power", "multiply_linear_by_lr"},
    {"ResourceSparseApplyProximalGradientDescent", "apply_proximal_gradient_descent", "var lr l1 l2 grad indices", ""},
};
// clang-format on

const Recipe& recipe_of(std::string_view node) {
  return *std::find_if(std::begin(kRecipes), std::end(kRecipes), [&](const Recipe& r) { return r.node == node; });
}

/// The node of one step: what it reads and where that goes.
struct OptimizerStep {
  const Recipe& recipe;
  std::vector<std::string_view> fields;
  std::vector<Planned> inputs;
  std::vector<size_t> variables;  ///< which inputs are
  bool flag = false;

  void run(Frame& frame) const {
    std::vector<Variable*> held;
    for (const size_t i : variables) held.push_back(&variable_of(frame, inputs[i]));
    update_together(held, [&](std::span<const Tensor> tensors) {
      ops::Call call(recipe.op);
      for (size_t k = 0; k < variables.size(); ++k) call.set(fields[variables[k]], tensors[k]);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].type.is_tensor()) call.set(fields[i], frame.tensor(inputs[i]));
      if (!recipe.flag.empty()) call.set(recipe.flag, flag);
      call.run();
    });
  }
};

void apply(Lowering& l) {
  const Recipe& recipe = recipe_of(l.node().op);
  OptimizerStep step{recipe, split(recipe.fields, " "), {}, {}, false};
  const bool by_rows = std::find(step.fields.begin(), step.fields.end(), "indices") != step.fields.end();
  require(step.fields.size() == l.input_count(), "it has {} inputs; {} are needed", l.input_count(),
          step.fields.size());
  for (size_t i = 0; i < l.input_count(); ++i) {
    step.inputs.push_back(l.input(i));
    if (l.input(i).type.kind == ValueKind::kResource) {
      const Tensor& meta = l.variable(i);
      if (meta.defined() && !is_floating(meta.dtype)) l.decline(fmt::format("its variable is {}", meta.dtype));
      step.variables.push_back(i);
    } else if (step.fields[i] == "grad" && by_rows) {
      step.inputs.back() = in_rows(l, l.input(i));
    }
  }
  const std::string flag(recipe.flag);
  // Amsgrad is a kind of its own, not an attribute.
  if (!flag.empty()) step.flag = flag == "amsgrad" || l.attributes().get_or<bool>(flag, flag == "update_slots");
  const std::vector<Planned> used = step.inputs;
  l.run(used, [step = std::move(step)](Frame& frame) { step.run(frame); });
}

const bool kRegistered = [] {
  for (const Recipe& recipe : kRecipes) NodeRegistration(recipe.node, apply);
  return true;
}();

}  // namespace
}  // namespace npu::graph
