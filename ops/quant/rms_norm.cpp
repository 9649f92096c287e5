// SPDX-License-Identifier: Apache-2.0
// RMS norm, alone or behind the sum of two tensors, whose result is quantised once or twice.
#include <vector>

#include "ops/operator.h"
#include "ops/quant/dynamic.h"
#include "ops/quant/normalised_rows.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

/// By given scales and zero points: one number, or a row of them.
struct RmsNormQuant final : Operator {
  struct Branch {
    Tensor scale, zero, out;
    Factors scales, zeros;
    WholeRows rows;
  };
  Tensor self, residual, gamma, beta, scale1, scale2, zero1, zero2, out1, out2, sum, rstd, norm;
  int64_t axis = -1;
  double eps = 1e-6;
  bool divide = true;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 4 * self.count(); }

 private:
  void plan(Branch& branch, const char* name) const;
  void store(const Branch& branch, int64_t row, const float* values, float* numbers) const;

  NormalisedRows rows_;
  Branch branches_[2];
};

void RmsNormQuant::plan(Branch& branch, const char* name) const {
  if (absent(branch.out)) return;
  branch.rows.plan(branch.out, self.shape, name, rows_.axes());
  branch.scales.plan(as_row(branch.scale), 1, rows_.length(), "scale");
  branch.zeros.plan(as_row(branch.zero), 1, rows_.length(), "the zero point");
}

void RmsNormQuant::prepare() {
  require(axis == -1, "axis is {}; only -1 is built", axis);
  require(!absent(scale1), "the scale has no elements; one number at least is needed");
  rows_.plan({.self = self,
              .residual = residual,
              .gamma = gamma,
              .beta = beta,
              .sum = sum,
              .rstd = rstd,
              .out = norm,
              .eps = eps});
  branches_[0].scale = scale1, branches_[0].zero = zero1, branches_[0].out = out1;
  branches_[1].scale = scale2, branches_[1].zero = zero2, branches_[1].out = out2;
  plan(branches_[0], "y1");
  plan(branches_[1], "y2");
}

void RmsNormQuant::store(const Branch& branch, int64_t row, const float* values, float* numbers) const {
  if (absent(branch.out)) return;
  const QuantKernel& kernel = quant_kernel();
  // Without scales the second result means nothing: it is 0.
  if (absent(branch.scale))
    std::fill_n(numbers, rows_.length(), 0.0f);
  else
    (divide ? kernel.divide : kernel.scale)(values, branch.scales.row(0), branch.zeros.row(0), numbers, rows_.length());
  branch.rows.store(row, numbers);
}

void RmsNormQuant::run() {
  if (self.count() == 0) return;
  rows_.load();
  for (Branch& branch : branches_) branch.scales.load(), branch.zeros.load();
  for_rows(rows_.rows(), [this](int64_t begin, int64_t end) {
    const Scratch<float> values(rows_.length()), numbers(rows_.length());
    for (int64_t row = begin; row < end; ++row) {
      rows_.row(row, values);
      for (const Branch& branch : branches_) store(branch, row, values, numbers);
    }
  });
}

/// By the extremes of each row, behind one smoothing or two. `mask` says which are wanted; without it the first one
/// is, and the second where both have a smoothing.
struct RmsNormDynamicQuant final : Operator {
  struct Branch {
    Tensor smooth{}, out{}, scale{};
    bool wanted = false;
    Factors smooths{};
    WholeRows rows{};
    Rows scales{};
  };
  Tensor self, residual, gamma, beta, smooth1, smooth2, out1, out2, sum, scale1, scale2;
  std::vector<bool> mask;
  double eps = 1e-6;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + 4 * self.count(); }

 private:
  void plan(Branch& branch, const char* name) const;

  NormalisedRows rows_;
  Branch branches_[2];
};

void RmsNormDynamicQuant::plan(Branch& branch, const char* name) const {
  if (!branch.wanted) return;
  branch.rows.plan(branch.out, self.shape, name);
  branch.smooths.plan(branch.smooth, 1, rows_.length(), "smooth_scale");
  branch.scales = one_per_row(branch.scale, "scale", self, self.rank() - 1, DType::kFloat);
  require(branch.scale.defined(), "scale is null, {} is wanted: pass both", name);
}

void RmsNormDynamicQuant::prepare() {
  require(mask.empty() || mask.size() == 2, "the mask has {} elements; it has one for each of 2 results", mask.size());
  rows_.plan({.self = self, .residual = residual, .gamma = gamma, .beta = beta, .sum = sum, .eps = eps});
  require(rows_.axes() == 1, "gamma is {}; it has one dimension", gamma);
  branches_[0] = {.smooth = smooth1, .out = out1, .scale = scale1};
  branches_[1] = {.smooth = smooth2, .out = out2, .scale = scale2};
  branches_[0].wanted = mask.empty() || mask[0];
  branches_[1].wanted = mask.empty() ? !absent(smooth1) && !absent(smooth2) : mask[1];
  plan(branches_[0], "y1");
  plan(branches_[1], "y2");
}

void RmsNormDynamicQuant::run() {
  if (self.count() == 0) return;
  rows_.load();
  for (Branch& branch : branches_) branch.smooths.load();
  for_rows(rows_.rows(), [this](int64_t begin, int64_t end) {
    const Scratch<float> values(rows_.length()), smoothed(rows_.length());
    for (int64_t row = begin; row < end; ++row) {
      rows_.row(row, values);
      for (const Branch& branch : branches_) {
        if (!branch.wanted) continue;
        quant_kernel().scale(values, branch.smooths.row(0), {}, smoothed, rows_.length());
        store_number(branch.scales, row, quantise_row(branch.rows, row, smoothed).scale);
      }
    }
  });
}

NPU_OPERATOR(RmsNormQuant, "rms_norm_quant", "quant", in<&RmsNormQuant::self>("self"),
             optional<&RmsNormQuant::residual>("residual"), in<&RmsNormQuant::gamma>("gamma"),
             optional<&RmsNormQuant::beta>("beta"), in<&RmsNormQuant::scale1>("scale1"),
             optional<&RmsNormQuant::scale2>("scale2"), optional<&RmsNormQuant::zero1>("zero1"),
             optional<&RmsNormQuant::zero2>("zero2"), attr<&RmsNormQuant::axis>("axis"),
             attr<&RmsNormQuant::eps>("eps"), attr<&RmsNormQuant::divide>("divide"), out<&RmsNormQuant::out1>("out1"),
             optional_out<&RmsNormQuant::out2>("out2"), optional_out<&RmsNormQuant::sum>("sum"),
             optional_out<&RmsNormQuant::rstd>("rstd"), optional_out<&RmsNormQuant::norm>("norm"));
NPU_OPERATOR(RmsNormDynamicQuant, "rms_norm_dynamic_quant", "quant", in<&RmsNormDynamicQuant::self>("self"),
             optional<&RmsNormDynamicQuant::residual>("residual"), in<&RmsNormDynamicQuant::gamma>("gamma"),
             optional<&RmsNormDynamicQuant::beta>("beta"), optional<&RmsNormDynamicQuant::smooth1>("smooth1"),
             optional<&RmsNormDynamicQuant::smooth2>("smooth2"), attr<&RmsNormDynamicQuant::mask>("mask"),
             attr<&RmsNormDynamicQuant::eps>("eps"), optional_out<&RmsNormDynamicQuant::out1>("out1"),
             optional_out<&RmsNormDynamicQuant::out2>("out2"), optional_out<&RmsNormDynamicQuant::sum>("sum"),
             optional_out<&RmsNormDynamicQuant::scale1>("scale1"),
             optional_out<&RmsNormDynamicQuant::scale2>("scale2"));

}  // namespace
}  // namespace npu::ops
