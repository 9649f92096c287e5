// SPDX-License-Identifier: Apache-2.0
// SGD with momentum over lists of tensors. With a gradient scale the gradients are left unscaled in place, as torch
// does.
#include "ops/optimizer/kernel.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

struct FusedSgd final : UpdateList {
  std::vector<Tensor> params, grads, momentum_buffers;
  Tensor grad_scale;
  double weight_decay = 0, momentum = 0, lr = 1e-3, dampening = 0;
  bool nesterov = false, maximize = false, is_first_step = false;

  void prepare() override;
  void run() override;
};

void FusedSgd::prepare() {
  require(grads.size() == params.size(), "there are {} params and {} grads: give each parameter one", params.size(),
          grads.size());
  require(momentum_buffers.empty() || momentum_buffers.size() == params.size(),
          "there are {} params and {} momentum buffers: give each parameter one, or none", params.size(),
          momentum_buffers.size());
  require(!grad_scale.defined() || grad_scale.count() == 1, "grad_scale is {}: it is one number", grad_scale);
  updates.resize(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const DType slot = update_slot(params[i]);
    // Without momentum a buffer may be given and is left as it is.
    const bool buffered = !momentum_buffers.empty() && momentum != 0;
    updates[i].begin(slot);
    updates[i].add("param", params[i], Update::Access::kBoth);
    updates[i].add("grad", grads[i], grad_scale.defined() ? Update::Access::kBoth : Update::Access::kRead);
    if (buffered) updates[i].add("momentum buffer", momentum_buffers[i], Update::Access::kBoth);
    updates[i].plan(buffered ? update_kernels(slot).momentum : update_kernels(slot).plain);
  }
}

void FusedSgd::run() {
  double param[kSgdParameters] = {};
  param[kScale] = grad_scale.defined() ? 1 / load_element(grad_scale) : 1;
  param[kWeightDecay] = weight_decay;
  param[kFactor] = momentum;
  param[kUndamped] = 1 - dampening;
  param[kRate] = lr;
  param[kNesterov] = nesterov ? 1 : 0;
  param[kFirst] = is_first_step ? 1 : 0;
  param[kMaximize] = maximize ? 1 : 0;
  for (const Update& update : updates) update.run(param);
}

NPU_OPERATOR(FusedSgd, "fused_sgd", "optimizer", inout<&FusedSgd::params>("params"), in<&FusedSgd::grads>("grads"),
             inout<&FusedSgd::momentum_buffers>("momentum_buffers"), optional<&FusedSgd::grad_scale>("grad_scale"),
             attr<&FusedSgd::weight_decay>("weight_decay"), attr<&FusedSgd::momentum>("momentum"),
             attr<&FusedSgd::lr>("lr"), attr<&FusedSgd::dampening>("dampening"), attr<&FusedSgd::nesterov>("nesterov"),
             attr<&FusedSgd::maximize>("maximize"), attr<&FusedSgd::is_first_step>("is_first_step"));

}  // namespace
}  // namespace npu::ops
