// SPDX-License-Identifier: Apache-2.0
// Rows flattened by two small matrices before they become 4-bit numbers: left @ x[k] @ right for each k, with one scale
// for all numbers of k.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/operator.h"
#include "ops/quant/dynamic.h"
#include "ops/quant/factors.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct FlatQuant final : Operator {
  Tensor self, left, right, out, scale;
  double clip_ratio = 1, dst_type_max = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 500 + self.count() * (m_ + n_) / 16; }

 private:
  void run_item(int64_t item, const float* left_rows, const float* right_rows) const;
  const float* whole(const Rows& rows, float* buffer) const { return static_cast<const float*>(rows.load(0, buffer)); }

  Rows x_, left_, right_, scale_;
  WholeRows out_;
  int64_t m_ = 0, n_ = 0;
};

void FlatQuant::prepare() {
  require((self.dtype == DType::kHalf || self.dtype == DType::kBFloat16) && self.rank() == 3,
          "x is {}; use float16 or bfloat16 [k, m, n]", self);
  m_ = self.shape[1], n_ = self.shape[2];
  check_shape(left, "kronecker_p1", {m_, m_});
  check_shape(right, "kronecker_p2", {n_, n_});
  require(left.dtype == self.dtype && right.dtype == self.dtype,
          "x is {}, kronecker_p1 is {}, kronecker_p2 is {}: they must be of one type", self, left, right);
  require(clip_ratio > 0 && clip_ratio <= 1, "clip_ratio is {}; it is above 0 and at most 1", clip_ratio);
  require(dst_type_max == 0, "dst_type_max is {}; only 0, the type's own largest number, is built", dst_type_max);
  x_ = Rows(self, last_axes(self, 2), DType::kFloat);
  left_ = Rows(left, last_axes(left, 2), DType::kFloat);
  right_ = Rows(right, last_axes(right, 2), DType::kFloat);
  out_.plan(out, self.shape, "out", 2);
  require(out_.high() == 7, "out is {}; it takes int4, or int32 with eight in each", out);
  check_shape(scale, "quant_scale", {self.shape[0]});
  scale_ = Rows(scale, std::span<const size_t>(), DType::kFloat);
}

void FlatQuant::run_item(int64_t item, const float* left_rows, const float* right_rows) const {
  const int64_t count = m_ * n_;
  const Scratch<float> buffer(count), half(count), whole(count);
  cube::GemmArgs<float> args;
  args.m = m_, args.n = n_, args.k = n_;
  args.a = static_cast<const float*>(x_.load(item, buffer)), args.b = right_rows, args.c = half;
  args.lda = args.ldb = args.ldc = n_;
  cube::gemm_serial(args);
  args.a = left_rows, args.b = half, args.c = whole, args.k = args.lda = m_;
  cube::gemm_serial(args);
  const QuantKernel& kernel = quant_kernel();
  const float factor = kernel.largest(whole, count) / (out_.high() / static_cast<float>(clip_ratio));
  kernel.divide(whole, {&factor, false}, {}, whole, count);
  out_.store(item, whole);
  store_number(scale_, item, factor);
}

void FlatQuant::run() {
  if (self.count() == 0) return;
  const Scratch<float> left_room(m_ * m_), right_room(n_ * n_);
  const float* left_rows = whole(left_, left_room);
  const float* right_rows = whole(right_, right_room);
  parallel_for(self.shape[0], 8, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) run_item(item, left_rows, right_rows);
  });
}

NPU_OPERATOR(FlatQuant, "flat_quant", "quant", in<&FlatQuant::self>("self"), in<&FlatQuant::left>("left"),
             in<&FlatQuant::right>("right"), attr<&FlatQuant::clip_ratio>("clip_ratio"),
             attr<&FlatQuant::dst_type_max>("dst_type_max"), out<&FlatQuant::out>("out"),
             out<&FlatQuant::scale>("scale"));

}  // namespace
}  // namespace npu::ops
