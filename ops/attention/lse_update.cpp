// SPDX-License-Identifier: Apache-2.0
// Joins what attention gave over several parts of the keys, each with the logarithm of its rows' sums of exponentials:
// lse = log(sum of exp(lse_i)), out = sum of out_i * exp(lse_i - lse).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

struct LseUpdate final : Operator {
  std::vector<Tensor> lse, local_out;  ///< of each part [rows] and [rows, D]
  int64_t update_type = 0;             ///< 1: lse_out is written, too
  Tensor out, lse_out;

  void prepare() override;
  void run() override;
  int64_t cost() const override {
    return 1000 + static_cast<int64_t>(lse.size()) * (out.count() + 16 * lse[0].count());
  }

 private:
  void join(int64_t row, float* sum, float* part) const;
  bool tells_lse() const { return update_type == 1 && lse_out.defined() && lse_out.count() > 0; }
};

void LseUpdate::prepare() {
  require(!lse.empty() && lse.size() == local_out.size(),
          "lse has {} tensors, localOut {}: give one of each for every part of the keys", lse.size(), local_out.size());
  require(update_type == 0 || update_type == 1, "updateType is {}; it is 0, or 1 for lseOut besides", update_type);
  require(out.dtype == DType::kFloat || out.dtype == DType::kHalf || out.dtype == DType::kBFloat16,
          "out is {}; it must be float32, float16 or bfloat16", out.dtype);
  require(out.rank() == 2, "out is {}; it must be [rows, depth]", out);
  const Dims rows{out.shape[0]};
  for (size_t i = 0; i < lse.size(); ++i) {
    require(lse[i].dtype == DType::kFloat && lse[i].shape == rows, "lse[{}] is {}; it must be float32 {}", i, lse[i],
            rows);
    require(local_out[i].dtype == out.dtype && local_out[i].shape == out.shape,
            "localOut[{}] is {}; out is {}, and they must be alike", i, local_out[i], out);
  }
  require(!tells_lse() || (lse_out.dtype == DType::kFloat && lse_out.shape == rows),
          "lseOut is {}; it must be float32 {}", lse_out, rows);
}

void LseUpdate::join(int64_t row, float* sum, float* part) const {
  const int64_t depth = out.shape[1];
  const auto lse_of = [&](const Tensor& t) { return t.as<float>()[row * t.strides[0]]; };
  float top = -std::numeric_limits<float>::infinity();
  for (const Tensor& t : lse) top = std::max(top, lse_of(t));
  // Where no part has a key: minus infinity everywhere, and the result is 0.
  const float shift = std::isinf(top) ? 0.0f : top;
  float total = 0;
  for (const Tensor& t : lse) total += std::exp(lse_of(t) - shift);
  const float joined = shift + std::log(total);
  std::fill_n(sum, depth, 0.0f);
  for (size_t i = 0; i < lse.size() && total > 0; ++i) {
    const Tensor& t = local_out[i];
    const float factor = std::exp(lse_of(lse[i]) - joined);
    if (factor == 0) continue;  // what a part without a key left in its result does not matter
    converter(t.dtype, DType::kFloat)(t.bytes() + row * t.strides[0] * static_cast<int64_t>(size_of(t.dtype)),
                                      t.strides[1], part, 1, depth);
    for (int64_t d = 0; d < depth; ++d) sum[d] += part[d] * factor;
  }
  converter(DType::kFloat, out.dtype)(
      sum, 1, out.bytes() + row * out.strides[0] * static_cast<int64_t>(size_of(out.dtype)), out.strides[1], depth);
  if (tells_lse()) lse_out.as<float>()[row * lse_out.strides[0]] = joined;
}

void LseUpdate::run() {
  parallel_for(out.shape[0], 64, [&](int64_t begin, int64_t end) {
    const Scratch<float> sum(out.shape[1]), part(out.shape[1]);
    for (int64_t row = begin; row < end; ++row) join(row, sum, part);
  });
}

using L = LseUpdate;
NPU_OPERATOR(L, "attention_update", "attention", in<&L::lse>("lse"), in<&L::local_out>("local_out"),
             attr<&L::update_type>("update_type"), out<&L::out>("out"), optional_out<&L::lse_out>("lse_out"));

}  // namespace
}  // namespace npu::ops
