// SPDX-License-Identifier: Apache-2.0
// Steps of optimisers on variables, in place. A registration names the operator, the field each input goes to, and the
// attribute that is handed on.
#include <algorithm>

#include "graph/node/resource.h"
#include "ops/call.h"

namespace npu::graph {
namespace {

/// "apply_momentum: var accum lr grad momentum; use_nesterov", taken apart.
struct Recipe {
  std::string op;
  std::vector<std::string> fields;
  std::string flag;

  explicit Recipe(std::string_view text) {
    const size_t colon = text.find(':'), semicolon = std::min(text.find(';'), text.size());
    op = text.substr(0, colon);
    if (semicolon < text.size()) flag = text.substr(semicolon + 2);
    text = text.substr(colon + 2, semicolon - colon - 2);
    while (!text.empty()) {
      const size_t space = std::min(text.find(' '), text.size());
      fields.emplace_back(text.substr(0, space));
      text.remove_prefix(std::min(space + 1, text.size()));
    }
  }
  bool has(std::string_view field) const { return std::find(fields.begin(), fields.end(), field) != fields.end(); }
};

/// The node of one step: what it reads and where that goes.
struct OptimizerStep {
  Recipe recipe;
  std::vector<Planned> inputs;
  std::vector<size_t> variables;  ///< which inputs are
  bool flag = false;

  void run(Frame& frame) const {
    std::vector<Variable*> held;
    for (const size_t i : variables) held.push_back(&variable_of(frame, inputs[i]));
    update_together(held, [&](std::span<const Tensor> tensors) {
      ops::Call call(recipe.op);
      for (size_t k = 0; k < variables.size(); ++k) call.set(recipe.fields[variables[k]], tensors[k]);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].type.is_tensor()) call.set(recipe.fields[i], frame.tensor(inputs[i]));
      if (!recipe.flag.empty()) call.set(recipe.flag, flag);
      call.run();
    });
  }
};

void apply(Lowering& l) {
  OptimizerStep step{Recipe(l.target()), {}, {}, false};
  require(step.recipe.fields.size() == l.input_count(), "it has {} inputs; {} are needed", l.input_count(),
          step.recipe.fields.size());
  for (size_t i = 0; i < l.input_count(); ++i) {
    step.inputs.push_back(l.input(i));
    if (l.input(i).type.kind == ValueKind::kResource) {
      const Tensor& meta = l.variable(i);
      if (meta.defined() && !is_floating(meta.dtype)) l.decline(fmt::format("its variable is {}", meta.dtype));
      step.variables.push_back(i);
    } else if (step.recipe.fields[i] == "grad" && step.recipe.has("indices")) {
      step.inputs.back() = in_rows(l, l.input(i));
    }
  }
  const std::string& flag = step.recipe.flag;
  // Amsgrad is a kind of its own, not an attribute.
  if (!flag.empty()) step.flag = flag == "amsgrad" || l.attributes().get_or<bool>(flag, flag == "update_slots");
  const std::vector<Planned> used = step.inputs;
  l.run(used, [step = std::move(step)](Frame& frame) { step.run(frame); });
}

// clang-format off
NPU_NODE("ResourceApplyGradientDescent", apply, "apply_gradient_descent: var lr grad");
NPU_NODE("ResourceApplyProximalGradientDescent", apply, "apply_proximal_gradient_descent: var lr l1 l2 grad");
NPU_NODE("ResourceApplyMomentum", apply, "apply_momentum: var accum lr grad momentum; use_nesterov");
NPU_NODE("ResourceApplyKerasMomentum", apply, "apply_keras_momentum: var accum lr grad momentum; use_nesterov");
NPU_NODE("ResourceApplyAdam", apply, "apply_adam: var m v beta1_power beta2_power lr beta1 beta2 eps grad; use_nesterov");
NPU_NODE("ResourceApplyAdamWithAmsgrad", apply, "apply_adam: var m v largest beta1_power beta2_power lr beta1 beta2 eps grad; amsgrad");
NPU_NODE("ResourceApplyAdaMax", apply, "apply_ada_max: var m v beta1_power lr beta1 beta2 epsilon grad");
NPU_NODE("ResourceApplyAdagrad", apply, "apply_adagrad: var accum lr grad; update_slots");
NPU_NODE("ResourceApplyAdagradV2", apply, "apply_adagrad_v2: var accum lr epsilon grad; update_slots");
NPU_NODE("ResourceApplyProximalAdagrad", apply, "apply_proximal_adagrad: var accum lr l1 l2 grad");
NPU_NODE("ResourceApplyAdagradDA", apply, "apply_adagrad_da: var gradient_sum square_sum grad lr l1 l2 global_step");
NPU_NODE("ResourceApplyAdadelta", apply, "apply_adadelta: var accum accum_update lr rho epsilon grad");
NPU_NODE("ResourceApplyRMSProp", apply, "apply_rms_prop: var ms mom lr rho momentum epsilon grad");
NPU_NODE("ResourceApplyCenteredRMSProp", apply, "apply_centered_rms_prop: var mg ms mom lr rho momentum epsilon grad");
NPU_NODE("ResourceApplyFtrl", apply, "apply_ftrl: var accum linear grad lr l1 l2 lr_power; multiply_linear_by_lr");
NPU_NODE("ResourceApplyFtrlV2", apply, "apply_ftrl_v2: var accum linear grad lr l1 l2 l2_shrinkage lr_power; multiply_linear_by_lr");
NPU_NODE("ResourceApplyPowerSign", apply, "apply_power_sign: var m lr logbase sign_decay beta grad");
NPU_NODE("ResourceApplyAddSign", apply, "apply_add_sign: var m lr alpha sign_decay beta grad");
NPU_NODE("ResourceSparseApplyMomentum", apply, "apply_momentum: var accum lr grad indices momentum; use_nesterov");
NPU_NODE("ResourceSparseApplyKerasMomentum", apply, "apply_keras_momentum: var accum lr grad indices momentum; use_nesterov");
NPU_NODE("ResourceSparseApplyAdagrad", apply, "apply_adagrad: var accum lr grad indices; update_slots");
NPU_NODE("ResourceSparseApplyAdagradV2", apply, "apply_adagrad_v2: var accum lr epsilon grad indices; update_slots");
NPU_NODE("ResourceSparseApplyProximalAdagrad", apply, "apply_proximal_adagrad: var accum lr l1 l2 grad indices");
NPU_NODE("ResourceSparseApplyAdagradDA", apply, "apply_adagrad_da: var gradient_sum square_sum grad indices lr l1 l2 global_step");
NPU_NODE("ResourceSparseApplyAdadelta", apply, "apply_adadelta: var accum accum_update lr rho epsilon grad indices");
NPU_NODE("ResourceSparseApplyRMSProp", apply, "apply_rms_prop: var ms mom lr rho momentum epsilon grad indices");
NPU_NODE("ResourceSparseApplyCenteredRMSProp", apply, "apply_centered_rms_prop: var mg ms mom lr rho momentum epsilon grad indices");
NPU_NODE("ResourceSparseApplyFtrl", apply, "apply_ftrl: var accum linear grad indices lr l1 l2 lr_power; multiply_linear_by_lr");
NPU_NODE("ResourceSparseApplyFtrlV2", apply, "apply_ftrl_v2: var accum linear grad indices lr l1 l2 l2_shrinkage lr_power; multiply_linear_by_lr");
NPU_NODE("ResourceSparseApplyProximalGradientDescent", apply, "apply_proximal_gradient_descent: var lr l1 l2 grad indices");
// clang-format on

}  // namespace
}  // namespace npu::graph
