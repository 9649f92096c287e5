// SPDX-License-Identifier: Apache-2.0
// What layer norm and RMS norm share: the last axes of a tensor form rows, which are normalised one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/norm/parameter.h"
#include "ops/norm/row_kernel.h"
#include "ops/operator.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {

struct RowBuffers;

/// All of a small tensor as one row in a compute dtype.
class WholeRow {
 public:
  void plan(const Tensor& t, DType slot);
  /// The row, or null where the tensor is absent. `keep` backs it.
  const void* load(std::vector<std::byte>& keep) const;
  /// Writes it from elements of the compute dtype; nothing happens where the tensor is absent.
  void store(const void* row) const;
  bool present() const { return present_; }

 private:
  Rows rows_;
  bool present_ = false;
};

/// out = normalise(self + residual + residual_bias) * weight + bias. Absent tensors take no part. mean and rstd hold
/// one number a row, in any floating type.
struct RowNormArguments {
  Tensor self{}, residual{}, residual_bias{}, weight{}, bias{};
  Tensor out{}, mean{}, rstd{}, sum{};  ///< sum: what was normalised
  int64_t axes = 1;                     ///< how many of the last axes form a row
  bool rms = false;
  double eps = 1e-5;
  double weight_offset = 0;  ///< added to the weight (Gemma keeps weight - 1)
};

class RowNorm {
 public:
  /// Raises 161002 when shapes or dtypes do not fit.
  void plan(const RowNormArguments& arguments);
  void run() const;
  int64_t cost() const { return 500 + 2 * x_.count() * x_.length(); }

 private:
  void run_rows(int64_t begin, int64_t end, const void* weight, const void* bias, const void* residual_bias) const;
  const void* load(int64_t row, const void* residual_bias, const RowBuffers& buffers) const;

  RowNormArguments a_;
  const RowKernel* kernel_ = nullptr;
  DType slot_ = DType::kFloat;
  Rows x_, residual_, out_, sum_;
  RowNumbers mean_, rstd_;
  WholeRow weight_, bias_, residual_bias_;
};

/// The gradient. `extra` (of self's shape) is added to grad_self. Absent results are not computed. Without rstd the
/// statistics are taken from self again, with `eps`.
struct RowNormGradientArguments {
  Tensor grad_output{}, self{}, residual{}, mean{}, rstd{}, weight{}, extra{};
  Tensor grad_self{}, grad_weight{}, grad_bias{};
  int64_t axes = 1;
  bool rms = false;
  double eps = 0;
  double weight_offset = 0;
};

/// Sums for weight and bias are taken over parts that depend on sizes only: 64 rows in the compute dtype, the rest in
/// double, parts joined in order. Bits do not depend on the number of threads.
class RowNormGradient {
 public:
  void plan(const RowNormGradientArguments& arguments);
  void run();
  int64_t cost() const { return 500 + 4 * x_.count() * x_.length(); }

 private:
  void run_part(int64_t part, const void* weight);
  RowMoments moments(int64_t row, const void* x) const;
  void join_parts();

  RowNormGradientArguments a_;
  const RowKernel* kernel_ = nullptr;
  DType slot_ = DType::kFloat;
  Rows g_, x_, residual_, extra_, out_;
  RowNumbers mean_, rstd_;
  WholeRow weight_, grad_weight_, grad_bias_;
  int64_t parts_ = 1, rows_per_part_ = 1;
  std::vector<double> totals_;  ///< per part: a row for the weight, a row for the bias
};

/// What the operators of this kind share: RowNorm or RowNormGradient does the work, `prepare` names its arguments.
template <class Engine>
struct RowNormOperator : Operator {
  Engine engine;
  void run() override { engine.run(); }
  int64_t cost() const override { return engine.cost(); }
};

}  // namespace npu::ops
