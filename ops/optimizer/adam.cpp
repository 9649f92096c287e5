// SPDX-License-Identifier: Apache-2.0
// Adam and AdamW, one tensor a call. Numbers that do not change from element to element are worked out in double.
// Only the numbers are rounded to the kernel's type: beta^t or 1 - beta2^t in float would lose digits at small steps.
#include <cmath>
#include <initializer_list>
#include <utility>

#include "ops/optimizer/kernel.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

void check_numbers(std::initializer_list<std::pair<std::string_view, const Tensor*>> numbers) {
  for (const auto& [name, t] : numbers) require(t->count() == 1, "{} is {}: it is one number", name, *t);
}

// What the three spellings share: var, m, v and the gradient, and where amsgrad is on the largest v so far.
struct AdamBase : Operator {
  Tensor var, m, v, largest, grad;
  bool amsgrad = false;
  bool maximize = false;
  Update update;

  void plan() {
    // Before anything is planned: a missing tensor would be read as another's block.
    require(!amsgrad || largest.defined(), "amsgrad is on, but the largest second moment is missing; pass it");
    const DType slot = update_slot(var);
    const UpdateKernels& kernels = update_kernels(slot);
    update.begin(slot);
    update.add("var", var, Update::Access::kBoth);
    update.add("m", m, Update::Access::kBoth);
    update.add("v", v, Update::Access::kBoth);
    update.add("grad", grad, Update::Access::kRead);
    if (amsgrad) update.add("max_exp_avg_sq", largest, Update::Access::kBoth);
    update.plan(amsgrad ? kernels.amsgrad : kernels.adam);
  }
  // power1 and power2 are beta1^t and beta2^t.
  void run_adamw(double lr, double beta1, double beta2, double decay, double eps, double power1, double power2) const {
    // v's correction goes into the root's scale and m's into the rate, so that neither costs an element anything.
    double param[kAdamParameters] = {};
    param[kDecay] = 1 - lr * decay;
    param[kBeta1] = beta1;
    param[kBeta2] = beta2;
    param[kStepSize] = lr / (1 - power1);
    param[kRootScale] = 1 / std::sqrt(1 - power2);
    param[kEpsilon] = eps;
    param[kSign] = maximize ? -1 : 1;
    // The plain step is the first moment alone; nesterov splits it.
    param[kMomentum] = 1;
    update.run(param);
  }
  int64_t cost() const override { return update.cost(); }
};

// Hyperparameters as numbers; `step` counts the steps done before this one.
struct ApplyAdamWV2 final : AdamBase {
  Tensor step;
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, weight_decay = 0, eps = 1e-8;

  void prepare() override {
    check_numbers({{"step", &step}});
    plan();
  }
  void run() override {
    // The client counts the steps done; this one is the next.
    const double t = load_element(step) + 1;
    run_adamw(lr, beta1, beta2, weight_decay, eps, std::pow(beta1, t), std::pow(beta2, t));
  }
};

// Hyperparameters as tensors of one element; the powers are those of the last step.
struct ApplyAdamW final : AdamBase {
  Tensor beta1_power, beta2_power, lr, weight_decay, beta1, beta2, eps;

  void prepare() override {
    check_numbers({{"beta1_power", &beta1_power},
                   {"beta2_power", &beta2_power},
                   {"lr", &lr},
                   {"weight_decay", &weight_decay},
                   {"beta1", &beta1},
                   {"beta2", &beta2},
                   {"eps", &eps}});
    plan();
  }
  void run() override {
    const double b1 = load_element(beta1), b2 = load_element(beta2);
    // The powers are the last step's, so this step's are one factor further.
    run_adamw(load_element(lr), b1, b2, load_element(weight_decay), load_element(eps), load_element(beta1_power) * b1,
              load_element(beta2_power) * b2);
  }
};

// TensorFlow's Adam: the bias corrections go into the rate, epsilon is added to the uncorrected root, and the powers
// are those of this step.
struct ApplyAdam final : AdamBase {
  Tensor beta1_power, beta2_power, lr, beta1, beta2, eps;
  bool use_nesterov = false;

  void prepare() override {
    check_numbers({{"beta1_power", &beta1_power},
                   {"beta2_power", &beta2_power},
                   {"lr", &lr},
                   {"beta1", &beta1},
                   {"beta2", &beta2},
                   {"eps", &eps}});
    plan();
  }
  void run() override {
    double param[kAdamParameters] = {};
    const double b1 = load_element(beta1);
    param[kDecay] = 1;
    param[kBeta1] = b1;
    param[kBeta2] = load_element(beta2);
    // TensorFlow's formula, in which epsilon is not divided by the root's correction: results differ from torch's.
    param[kStepSize] = load_element(lr) * std::sqrt(1 - load_element(beta2_power)) / (1 - load_element(beta1_power));
    param[kRootScale] = 1;
    param[kEpsilon] = load_element(eps);
    param[kSign] = 1;
    param[kMomentum] = use_nesterov ? b1 : 1;
    param[kGradient] = use_nesterov ? 1 - b1 : 0;
    update.run(param);
  }
};

NPU_OPERATOR(ApplyAdamWV2, "apply_adam_w_v2", "optimizer", inout<&ApplyAdamWV2::var>("var"),
             inout<&ApplyAdamWV2::m>("m"), inout<&ApplyAdamWV2::v>("v"), optional<&ApplyAdamWV2::largest>("largest"),
             in<&ApplyAdamWV2::grad>("grad"), in<&ApplyAdamWV2::step>("step"), attr<&ApplyAdamWV2::lr>("lr"),
             attr<&ApplyAdamWV2::beta1>("beta1"), attr<&ApplyAdamWV2::beta2>("beta2"),
             attr<&ApplyAdamWV2::weight_decay>("weight_decay"), attr<&ApplyAdamWV2::eps>("eps"),
             attr<&ApplyAdamWV2::amsgrad>("amsgrad"), attr<&ApplyAdamWV2::maximize>("maximize"));
NPU_OPERATOR(ApplyAdamW, "apply_adam_w", "optimizer", inout<&ApplyAdamW::var>("var"), inout<&ApplyAdamW::m>("m"),
             inout<&ApplyAdamW::v>("v"), in<&ApplyAdamW::beta1_power>("beta1_power"),
             in<&ApplyAdamW::beta2_power>("beta2_power"), in<&ApplyAdamW::lr>("lr"),
             in<&ApplyAdamW::weight_decay>("weight_decay"), in<&ApplyAdamW::beta1>("beta1"),
             in<&ApplyAdamW::beta2>("beta2"), in<&ApplyAdamW::eps>("eps"), in<&ApplyAdamW::grad>("grad"),
             optional<&ApplyAdamW::largest>("largest"), attr<&ApplyAdamW::amsgrad>("amsgrad"),
             attr<&ApplyAdamW::maximize>("maximize"));
NPU_OPERATOR(ApplyAdam, "apply_adam", "optimizer", inout<&ApplyAdam::var>("var"), inout<&ApplyAdam::m>("m"),
             inout<&ApplyAdam::v>("v"), in<&ApplyAdam::beta1_power>("beta1_power"),
             in<&ApplyAdam::beta2_power>("beta2_power"), in<&ApplyAdam::lr>("lr"), in<&ApplyAdam::beta1>("beta1"),
             in<&ApplyAdam::beta2>("beta2"), in<&ApplyAdam::eps>("eps"), in<&ApplyAdam::grad>("grad"),
             optional<&ApplyAdam::largest>("largest"), attr<&ApplyAdam::use_nesterov>("use_nesterov"),
             attr<&ApplyAdam::amsgrad>("amsgrad"));

}  // namespace
}  // namespace npu::ops
