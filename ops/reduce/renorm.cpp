// SPDX-License-Identifier: Apache-2.0
// renorm: slices along dim whose p-norm is above maxnorm are scaled down to it. With `factors` out receives, at its
// start, the factor of each slice alone.
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/reduction/p_norm.h"

namespace npu::ops {
namespace {

struct Renorm final : Operator {
  Tensor self, out;
  double p = 2, maxnorm = 1;
  int64_t dim = 0;
  bool factors = false;
  Rows slices, target;

  void prepare() override {
    require(self.rank() >= 2, "self is {}; renorm needs 2 dimensions or more", self);
    require(p >= 0 && maxnorm >= 0, "p is {}, maxnorm is {}; neither may be negative", p, maxnorm);
    require(is_floating(self.dtype), "self is {}; renorm needs a real floating dtype", self);
    const size_t axis = wrap_dim(dim, self.rank());
    std::vector<size_t> others;
    for (size_t i = 0; i < self.rank(); ++i) {
      if (i != axis) others.push_back(i);
    }
    slices = Rows(self, others, DType::kDouble);
    plan_target(others, self.shape[axis]);
  }
  void run() override {
    for_rows(slices, [this](int64_t begin, int64_t end) {
      std::vector<double> from(static_cast<size_t>(slices.length())), to(from.size());
      for (int64_t slice = begin; slice < end; ++slice) {
        const auto* x = static_cast<const double*>(slices.load(slice, from.data()));
        const double norm = p_norm(x, slices.length(), p);
        // The 1e-7 is torch's. Slices within maxnorm keep their bits: a factor of 1 in double changes nothing.
        const double factor = norm > maxnorm ? maxnorm / (norm + 1e-7) : 1.0;
        auto* y = static_cast<double*>(target.target(slice, to.data()));
        for (int64_t i = 0; i < target.length(); ++i) y[i] = factors ? factor : x[i] * factor;
        target.store(slice, y);
      }
    });
  }
  int64_t cost() const override { return 500 + 5 * self.count(); }

 private:
  void plan_target(const std::vector<size_t>& others, int64_t count) {
    if (!factors) {
      check_shape(out, "out", self.shape);
      target = Rows(out, others, DType::kDouble);
      return;
    }
    require(out.contiguous() && out.count() >= count, "out is {}; {} factors lie in it one after another", out, count);
    target = Rows(out.view({count}, {1}), std::span<const size_t>{}, DType::kDouble);
  }
};

NPU_OPERATOR(Renorm, "renorm", "reduce", in<&Renorm::self>("self"), attr<&Renorm::p>("p"), attr<&Renorm::dim>("dim"),
             attr<&Renorm::maxnorm>("maxnorm"), attr<&Renorm::factors>("factors"), out<&Renorm::out>("out"));

}  // namespace
}  // namespace npu::ops
