// SPDX-License-Identifier: Apache-2.0
// The two steps of gradient scaling in mixed precision: take the scale out of the gradients and notice overflow; adapt
// the scale.
#include <atomic>
#include <cmath>

#include "ops/optimizer/kernel.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

// found_inf becomes 1 when any gradient is infinite or NaN, and keeps its value otherwise. All gradients are multiplied
// by inv_scale, the others too.
struct UnscaleGradients final : UpdateList {
  std::vector<Tensor> grads;
  Tensor found_inf, inv_scale;

  void prepare() override;
  void run() override;
};

// The walk over a gradient hands the kernel nothing but numbers: where to note an overflow travels among them.
template <class T>
void unscale(void* const* blocks, int64_t count, const double* param) {
  const UpdateKernels& kernels = update_kernels(DTypeOf<T>::value);
  if (!kernels.finite(blocks[0], count)) {
    auto* found = reinterpret_cast<std::atomic<bool>*>(std::bit_cast<uintptr_t>(param[1]));
    found->store(true, std::memory_order_relaxed);
  }
  // Factor 1 leaves the gradients as they are: only the check is wanted.
  if (param[0] != 1) kernels.scale(blocks, count, param);
}

void UnscaleGradients::prepare() {
  require(found_inf.count() == 1 && is_floating(found_inf.dtype), "found_inf is {}: it is one floating number",
          found_inf);
  require(inv_scale.count() == 1 && is_floating(inv_scale.dtype), "inv_scale is {}: it is one floating number",
          inv_scale);
  updates.resize(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    const DType slot = update_slot(grads[i]);
    updates[i].begin(slot);
    updates[i].add("gradient", grads[i], Update::Access::kBoth);
    updates[i].plan(slot == DType::kDouble ? &unscale<double> : &unscale<float>);
  }
}

void UnscaleGradients::run() {
  // One flag for all threads: it is only ever set, so their order does not matter.
  std::atomic<bool> found{false};
  const double param[2] = {load_element(inv_scale), std::bit_cast<double>(reinterpret_cast<uintptr_t>(&found))};
  for (const Update& update : updates) update.run(param);
  if (found.load()) store_element(found_inf, 0, 1);
}

// After an overflow the scale shrinks; after growth_interval steps without one it grows, as long as it stays finite.
struct UpdateScale final : Operator {
  Tensor scale, growth_tracker, found_inf, out_scale, out_tracker;
  double growth_factor = 2, backoff_factor = 0.5;
  int64_t growth_interval = 2000;

  void prepare() override {
    for (const auto& [name, t] :
         {std::pair{"current_scale", &scale}, {"growth_tracker", &growth_tracker}, {"found_inf", &found_inf}}) {
      require(t->count() == 1, "{} is {}: it is one number", name, *t);
    }
  }
  void run() override {
    double factor = load_element(scale), tracker = load_element(growth_tracker);
    if (load_element(found_inf) != 0) {
      // After an overflow the count begins anew, as in torch.
      factor *= backoff_factor;
      tracker = 0;
    } else if (++tracker == static_cast<double>(growth_interval)) {
      // Checked in float, which the scale is kept in: a double would not overflow where the scale does.
      const auto grown = static_cast<float>(factor * growth_factor);
      if (std::isfinite(grown)) factor = static_cast<double>(grown);
      tracker = 0;
    }
    for (const Tensor* t : {&scale, &out_scale}) {
      if (t->defined()) store_element(*t, 0, factor);
    }
    for (const Tensor* t : {&growth_tracker, &out_tracker}) {
      if (t->defined()) store_element(*t, 0, tracker);
    }
  }
  int64_t cost() const override { return 100; }
};

NPU_OPERATOR(UnscaleGradients, "unscale_gradients", "optimizer", inout<&UnscaleGradients::grads>("grads"),
             inout<&UnscaleGradients::found_inf>("found_inf"), in<&UnscaleGradients::inv_scale>("inv_scale"));
NPU_OPERATOR(UpdateScale, "update_scale", "optimizer", inout<&UpdateScale::scale>("scale"),
             inout<&UpdateScale::growth_tracker>("growth_tracker"), in<&UpdateScale::found_inf>("found_inf"),
             attr<&UpdateScale::growth_factor>("growth_factor"), attr<&UpdateScale::backoff_factor>("backoff_factor"),
             attr<&UpdateScale::growth_interval>("growth_interval"), optional_out<&UpdateScale::out_scale>("out_scale"),
             optional_out<&UpdateScale::out_tracker>("out_tracker"));

}  // namespace
}  // namespace npu::ops
