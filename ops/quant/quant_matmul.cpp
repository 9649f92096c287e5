// SPDX-License-Identifier: Apache-2.0
// Products of int8 or 4-bit matrices, brought back to floats or quantised again by the scales of both.
// A float32 product of at most 1024 terms of two int8 numbers is a whole number below 2^24, so it is exact in whatever
// order it is added: slices of that depth go to the float engine, and their sums to int32, as on the matrix unit.
#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/matmul/blocked.h"
#include "ops/operator.h"
#include "ops/quant/column_scale.h"
#include "ops/quant/whole_matrix.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr int64_t kDepth = 1024, kRows = 256, kColumns = 256;

/// out = (x1 @ x2 + bias) * x2_scale * x1_scale + addend with an int32 bias; one in floats is added behind the scales,
/// as is the addend, a matrix. An int8
/// result is shifted by x2_offset and rounded; an int32 one is the sum itself. With groups along k,
/// out = x1_scale * sum over groups of x2_scale[g] * (x1[g] @ (x2[g] - x2_offset[g])).
struct QuantMatmul final : Operator {
  Tensor x1, x2, x1_scale, x2_scale, y_scale, x1_offset, x2_offset, y_offset, bias, addend, out;
  bool transpose_x1 = false, transpose_x2 = false;
  int64_t group_size = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + items_ * m_ * n_ * k_ / 16; }

 private:
  struct Part {
    int64_t item, row, rows, column, columns;
  };
  void check_types() const;
  void plan_shapes();
  void plan_groups();
  void plan_bias();
  void plan_addend();
  void run_part(const Part& part) const;
  void sum_whole(const Part& part, int32_t* sums) const;
  void sum_groups(const Part& part, float* sums) const;
  void multiply(const Part& part, int64_t begin, int64_t depth, int64_t group, float* product) const;
  void add_whole_bias(const Part& part, int32_t* sums) const;
  void finish_row(const Part& part, int64_t row, const int32_t* sums) const;
  void add_matrix(const Part& part, int64_t row, float* values) const;
  int64_t position(const Tensor& t, const Part& part, int64_t row) const;
  void store(const Part& part, int64_t row, const void* values) const;

  WholeMatrix a_, b_;
  PlainWeight weight_;
  Tensor out_;
  int64_t items_ = 1, m_ = 0, n_ = 0, k_ = 0, groups_ = 1;
  int64_t group_ = 0;  ///< rows of x2 in a group; 0 without groups
  Dims batch_;
  ColumnScale scales_;
  Factors row_scales_, offsets_, bias_;
  Rows whole_bias_;  ///< of an int32 bias
  bool has_whole_bias_ = false;
  Convert convert_ = nullptr, convert_addend_ = nullptr;
};

void QuantMatmul::check_types() const {
  require(absent(y_scale), "y_scale is {}; it is not built: leave it out and scale the result", y_scale);
  require(absent(x1_offset), "x1_offset is {}; it is not built: leave it out", x1_offset);
  require(absent(y_offset), "y_offset is {}; it is not built: leave it out and add it to the result", y_offset);
  require(!absent(x2_scale), "x2_scale has no elements; one number at least is needed");
  const bool whole = out.dtype == DType::kInt8 || out.dtype == DType::kInt32;
  require(whole || out.dtype == DType::kHalf || out.dtype == DType::kBFloat16,
          "out is {}; use int8, float16, bfloat16 or int32", out);
  require(!whole || absent(x1_scale), "out is {}, x1_scale is given: use float16 or bfloat16", out);
  require(absent(x2_offset) || group_ > 0 || out.dtype == DType::kInt8,
          "x2_offset is given, out is {}: only int8 results are shifted", out);
}

void QuantMatmul::plan_shapes() {
  a_.plan(x1, transpose_x1, "x1");
  weight_.plan(x2, "x2");
  b_.plan(x2, transpose_x2, "x2");
  require(a_.four_bits() == b_.four_bits(),
          "x1 is {}, x2 is {}: 8-bit numbers times 4-bit ones are not built; use npu_weight_quant_batchmatmul", x1, x2);
  m_ = a_.rows(), k_ = a_.columns(), n_ = b_.columns();
  require(b_.rows() == k_, "x1 is {}, x2 is {}: inner sizes differ ({} and {})", x1, x2, k_, b_.rows());
  batch_ = broadcast(a_.batch(), b_.batch());
  a_.expand(batch_), b_.expand(batch_);
  Dims wanted = batch_;
  wanted.push_back(m_), wanted.push_back(n_);
  check_shape(out, "out", wanted);
  items_ = count_of(batch_);
}

// Sizes along m, n and k in one number, 16 bits each.
void QuantMatmul::plan_groups() {
  const int64_t m = group_size >> 32 & 0xFFFF, n = group_size >> 16 & 0xFFFF, k = group_size & 0xFFFF;
  groups_ = 1, group_ = 0;
  if (k == 0) return;
  require(m <= 1 && n <= 1, "group_size is {} x {} x {}: groups along m and n are not built; use 1 x 1 x {}", m, n, k,
          k);
  require(a_.four_bits() && !absent(x1_scale) && absent(bias) && x2_scale.dtype == DType::kFloat,
          "group_size is {} along k: groups need 4-bit x1 and x2, a float32 x2_scale, x1_scale, and no bias", k);
  groups_ = (k_ + k - 1) / k, group_ = k;
}

void QuantMatmul::plan_bias() {
  has_whole_bias_ = !absent(bias) && bias.dtype == DType::kInt32;
  bias_.plan(has_whole_bias_ ? Tensor() : bias, items_, n_, "bias");
  if (has_whole_bias_) {
    const bool shared = bias.count() == n_;
    require(bias.shape.back() == n_ && (shared || bias.count() == items_ * n_), "bias is {}; it has {} numbers, or {}",
            bias, n_, Dims{items_, 1, n_});
    whole_bias_ = Rows(bias, bias.rank() - 1, DType::kInt32);
  } else {
    require(absent(bias) || (out.dtype != DType::kInt8 && out.dtype != DType::kInt32 && !scales_.words()),
            "bias is {}, out is {}, x2_scale is {}: use an int32 bias", bias, out, x2_scale);
  }
}

void QuantMatmul::plan_addend() {
  convert_addend_ = nullptr;
  if (absent(addend)) return;
  require(group_ == 0 && is_floating(out.dtype) && addend.dtype == out.dtype,
          "addend is {}, out is {}: they must be of one floating type, without groups", addend, out);
  check_shape(addend, "addend", out.shape);
  convert_addend_ = converter(addend.dtype, DType::kFloat);
}

void QuantMatmul::prepare() {
  plan_shapes();
  plan_groups();
  check_types();
  scales_.plan(x2_scale, groups_, n_, "x2_scale");
  require(group_ == 0 || x2_scale.shape == Dims({groups_, n_}), "x2_scale is {}; {} rows of {} groups need {}",
          x2_scale, k_, groups_, Dims{groups_, n_});
  require(!scales_.words() || absent(x1_scale), "x2_scale is {}, x1_scale is given: use a float32 x2_scale", x2_scale);
  row_scales_.plan(x1_scale, m_, 1, "x1_scale", true);
  offsets_.plan(x2_offset, groups_, n_, "x2_offset");
  plan_bias();
  plan_addend();
  out_ = out;
  convert_ = converter(out.dtype == DType::kInt32 ? DType::kInt32 : DType::kFloat, out.dtype);
}

// product = x1[rows, begin … begin + depth) @ x2[…, columns)
void QuantMatmul::multiply(const Part& part, int64_t begin, int64_t depth, int64_t group, float* product) const {
  const Scratch<float> a(part.rows * depth), b(depth * part.columns);
  a_.load(part.item, part.row, part.rows, begin, depth, a);
  b_.load(part.item, begin, depth, part.column, part.columns, b);
  if (group_ > 0 && offsets_.given()) {
    const Factor shift = offsets_.row(group);
    for (int64_t i = 0; i < depth * part.columns; ++i) {
      const int64_t column = part.column + (b_.by_rows() ? i % part.columns : i / depth);
      b[i] -= shift.data[shift.each ? column : 0];
    }
  }
  cube::GemmArgs<float> args;
  args.trans_a = !a_.by_rows(), args.trans_b = !b_.by_rows();
  args.m = part.rows, args.n = part.columns, args.k = depth;
  args.a = a, args.lda = args.trans_a ? part.rows : depth;
  args.b = b, args.ldb = args.trans_b ? depth : part.columns;
  args.c = product, args.ldc = part.columns;
  cube::gemm_serial(args);
}

void QuantMatmul::sum_whole(const Part& part, int32_t* sums) const {
  const int64_t count = part.rows * part.columns;
  const Scratch<float> product(count);
  std::fill_n(sums, count, 0);
  for (int64_t begin = 0; begin < k_; begin += kDepth) {
    multiply(part, begin, std::min(kDepth, k_ - begin), 0, product);
    // Sums beyond 2^31 wrap.
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                     static_cast<uint32_t>(static_cast<int32_t>(product[i])));
    }
  }
}

void QuantMatmul::sum_groups(const Part& part, float* sums) const {
  const int64_t count = part.rows * part.columns;
  const Scratch<float> product(count);
  std::fill_n(sums, count, 0.0f);
  for (int64_t begin = 0; begin < k_;) {
    const int64_t group = begin / group_, end = std::min(k_, (group + 1) * group_);
    const int64_t depth = std::min(kDepth, end - begin);
    multiply(part, begin, depth, group, product);
    for (int64_t row = 0; row < part.rows; ++row) {
      float* line = product + row * part.columns;
      quant_kernel().scale(line, scales_.scale(group, part.column), {sums + row * part.columns, true},
                           sums + row * part.columns, part.columns);
    }
    begin += depth;
  }
}

void QuantMatmul::add_whole_bias(const Part& part, int32_t* sums) const {
  const Scratch<int32_t> buffer(n_);
  const int64_t item = whole_bias_.count() == 1 ? 0 : part.item;
  const auto* addend = static_cast<const int32_t*>(whole_bias_.load(item, buffer)) + part.column;
  for (int64_t i = 0; i < part.rows * part.columns; ++i) {
    sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(addend[i % part.columns]));
  }
}

void QuantMatmul::finish_row(const Part& part, int64_t row, const int32_t* sums) const {
  if (out.dtype == DType::kInt32) return store(part, row, sums);
  const QuantKernel& kernel = quant_kernel();
  const int64_t n = part.columns;
  const Scratch<float> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(sums[i]);
  kernel.scale(values, scales_.scale(0, part.column), {}, values, n);
  Factor shift = out.dtype == DType::kInt8 ? scales_.shift(part.column) : bias_.row(part.item);
  if (shift.each && out.dtype != DType::kInt8) shift.data += part.column;
  kernel.scale(values, row_scales_.row(row), shift, values, n);
  if (convert_addend_ != nullptr) add_matrix(part, row, values);
  if (out.dtype == DType::kInt8) kernel.round(values, Rounding::kNearest, -128, 127, n);
  store(part, row, values);
}

void QuantMatmul::add_matrix(const Part& part, int64_t row, float* values) const {
  const Scratch<float> terms(part.columns);
  convert_addend_(addend.bytes() + position(addend, part, row), addend.strides.back(), terms, 1, part.columns);
  quant_kernel().scale(values, {}, {terms, true}, values, part.columns);
}

// In bytes, of the first column.
int64_t QuantMatmul::position(const Tensor& t, const Part& part, int64_t row) const {
  const size_t axes = t.rank() - 2;
  int64_t at = row * t.strides[axes] + part.column * t.strides[axes + 1], item = part.item;
  for (size_t i = axes; i-- > 0; item /= t.shape[i]) at += item % t.shape[i] * t.strides[i];
  return at * static_cast<int64_t>(size_of(t.dtype));
}

void QuantMatmul::store(const Part& part, int64_t row, const void* values) const {
  convert_(values, 1, out_.bytes() + position(out_, part, row), out_.strides.back(), part.columns);
}

void QuantMatmul::run_part(const Part& part) const {
  const int64_t n = part.columns;
  if (group_ > 0) {
    const Scratch<float> sums(part.rows * n);
    sum_groups(part, sums);
    for (int64_t r = 0; r < part.rows; ++r) {
      quant_kernel().scale(sums + r * n, row_scales_.row(part.row + r), {}, sums + r * n, n);
      store(part, part.row + r, sums + r * n);
    }
    return;
  }
  const Scratch<int32_t> sums(part.rows * n);
  sum_whole(part, sums);
  if (has_whole_bias_) add_whole_bias(part, sums);
  for (int64_t r = 0; r < part.rows; ++r) finish_row(part, part.row + r, sums + r * n);
}

void QuantMatmul::run() {
  if (out.count() == 0) return;
  Scratch<std::byte> room;
  b_.lie_at(weight_.of(x2, room).data);
  offsets_.load(), row_scales_.load(), bias_.load();
  scales_.load(offsets_.row(0));
  const int64_t row_parts = (m_ + kRows - 1) / kRows, column_parts = (n_ + kColumns - 1) / kColumns;
  parallel_parts(items_ * row_parts * column_parts, [&](int64_t index) {
    const int64_t column = index % column_parts * kColumns, row = index / column_parts % row_parts * kRows;
    run_part(
        {index / column_parts / row_parts, row, std::min(kRows, m_ - row), column, std::min(kColumns, n_ - column)});
  });
}

NPU_OPERATOR(QuantMatmul, "quant_matmul", "quant", in<&QuantMatmul::x1>("x1"), in<&QuantMatmul::x2>("x2"),
             optional<&QuantMatmul::x1_scale>("x1_scale"), in<&QuantMatmul::x2_scale>("x2_scale"),
             optional<&QuantMatmul::y_scale>("y_scale"), optional<&QuantMatmul::x1_offset>("x1_offset"),
             optional<&QuantMatmul::x2_offset>("x2_offset"), optional<&QuantMatmul::y_offset>("y_offset"),
             optional<&QuantMatmul::bias>("bias"), optional<&QuantMatmul::addend>("addend"),
             attr<&QuantMatmul::transpose_x1>("transpose_x1"), attr<&QuantMatmul::transpose_x2>("transpose_x2"),
             attr<&QuantMatmul::group_size>("group_size"), out<&QuantMatmul::out>("out"));

}  // namespace
}  // namespace npu::ops
