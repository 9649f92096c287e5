// SPDX-License-Identifier: Apache-2.0
// The product of a quantised layer whose weight is cut along the inner axis: each rank brings its part back to floats,
// and parts are summed over ranks; quantised once more on their way where the client gives scales for that.
#include <cmath>

#include "base/thread_pool.h"
#include "comm/operator/local_product.h"
#include "comm/operator/reachable.h"
#include "comm/operator/summed_operator.h"
#include "ops/quant/factors.h"
#include "ops/runner/call.h"
#include "ops/vector/conversion/convert.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// `t` as rows of its last axis.
Tensor as_matrix(const Tensor& t, const char* name) {
  if (!t.defined() || t.rank() == 2) return t;
  require(t.strides[0] == t.shape[1] * t.strides[1] || t.shape[0] == 1, "{} is {} with strides {}: make it contiguous",
          name, t, t.strides);
  return t.view({t.shape[0] * t.shape[1], t.shape[2]}, {t.strides[1], t.strides[2]});
}

/// part = (x1 @ x2 + bias) * dequant_scale * pertoken_scale + x3; out = the sum of the ranks' parts, or, with scales
/// for the way, of round(part / comm_quant_scale_1), which becomes out = round(sum * scale_1 / scale_2) * scale_2.
struct QuantMatmulAllReduce final : SummedOperator {
  Tensor dequant_scale, pertoken_scale, comm_quant_scale_1, comm_quant_scale_2;

  void prepare() override;
  void run() override;

 protected:
  void multiply(const Tensor& part) override;

 private:
  void check_types() const;
  void check_shapes() const;
  void plan_way();
  ops::Call product(const Tensor& weight, const Tensor& part) const;
  void quantise(const Tensor& part, int8_t* sent) const;
  void sum_up(const int8_t* received, const Tensor& result) const;

  PlainWeight weight_;
  int64_t rows_ = 0, columns_ = 0;
  Factors there_, back_;  ///< scales of the way, one for each column
};

void QuantMatmulAllReduce::check_types() const {
  require(x1.dtype == DType::kInt8 && x2.dtype == DType::kInt8, "x1 is {}, x2 is {}; both are int8", x1, x2);
  require(out.dtype == DType::kHalf || out.dtype == DType::kBFloat16, "out is {}; use float16 or bfloat16", out);
  require(absent(bias) || bias.dtype == DType::kInt32, "bias is {}; use int32, it is added before the scales", bias);
  require(absent(x3) || x3.dtype == out.dtype, "x3 is {}, out is {}: they must have one type", x3, out);
  require(!absent(dequant_scale), "dequant_scale has no elements; one number at least is needed");
  require(absent(pertoken_scale) || pertoken_scale.dtype == DType::kFloat, "pertoken_scale is {}; use float32",
          pertoken_scale);
}

void QuantMatmulAllReduce::check_shapes() const {
  check_terms(bias, x3, out.shape);
  require(dequant_scale.count() == 1 || dequant_scale.count() == columns_,
          "dequant_scale is {}; it has one number, or one for each of {} columns", dequant_scale, columns_);
  require(absent(pertoken_scale) || pertoken_scale.count() == rows_,
          "pertoken_scale is {}; it has one number for each of {} rows", pertoken_scale, rows_);
}

void QuantMatmulAllReduce::plan_way() {
  require(absent(comm_quant_scale_1) == absent(comm_quant_scale_2),
          "comm_quant_scale_1 and comm_quant_scale_2 belong together; give both or none");
  for (const auto& [scale, name] :
       {std::pair(&comm_quant_scale_1, "comm_quant_scale_1"), std::pair(&comm_quant_scale_2, "comm_quant_scale_2")}) {
    require(absent(*scale) || (scale->dtype == out.dtype && scale->count() == columns_),
            "{} is {}, out is {}; it has one number of out's type for each of {} columns", name, *scale, out, columns_);
  }
  there_.plan(comm_quant_scale_1, 1, columns_, "comm_quant_scale_1");
  back_.plan(comm_quant_scale_2, 1, columns_, "comm_quant_scale_2");
}

ops::Call QuantMatmulAllReduce::product(const Tensor& weight, const Tensor& part) const {
  ops::Call call("quant_matmul");
  call.set("x1", as_matrix(x1, "x1")).set("x2", weight).set("x2_scale", dequant_scale).set("bias", bias);
  call.set("x1_scale", pertoken_scale).set("addend", as_matrix(x3, "x3")).set("out", as_matrix(part, "out"));
  return call;
}

void QuantMatmulAllReduce::prepare() {
  find_ranks();
  require_shape(out, product_shape(x1, x2));
  check_types();
  columns_ = out.shape.back(), rows_ = count_of(out.shape) / std::max<int64_t>(columns_, 1);
  check_shapes();
  plan_way();
  weight_.plan(x2, "x2");
  product(make_tensor(nullptr, x2.dtype, x2.shape), make_tensor(nullptr, out.dtype, out.shape)).prepare();
}

void QuantMatmulAllReduce::multiply(const Tensor& part) {
  Scratch<std::byte> room;
  product(weight_.of(x2, room), part).run();
}

void QuantMatmulAllReduce::quantise(const Tensor& part, int8_t* sent) const {
  const Convert load = converter(part.dtype, DType::kFloat), store = converter(DType::kFloat, DType::kInt8);
  const auto unit = static_cast<int64_t>(size_of(part.dtype));
  parallel_for(rows_, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, columns_)),
               [&](int64_t begin, int64_t end) {
                 const Scratch<float> values(columns_);
                 for (int64_t row = begin; row < end; ++row) {
                   load(part.bytes() + row * columns_ * unit, 1, values, 1, columns_);
                   quant_kernel().divide(values, there_.row(0), {}, values, columns_);
                   quant_kernel().round(values, Rounding::kNearest, -128, 127, columns_);
                   store(values, 1, sent + row * columns_, 1, columns_);
                 }
               });
}

// Sums of whole numbers are exact in float32, in any order; every rank makes all of the result.
void QuantMatmulAllReduce::sum_up(const int8_t* received, const Tensor& result) const {
  const Convert load = converter(DType::kInt8, DType::kFloat), store = converter(DType::kFloat, result.dtype);
  const auto unit = static_cast<int64_t>(size_of(result.dtype));
  const Scratch<float> ratio(columns_);
  quant_kernel().divide(there_.row(0).data, back_.row(0), {}, ratio, columns_);
  parallel_for(rows_, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, columns_)),
               [&](int64_t begin, int64_t end) {
                 const Scratch<float> sum(columns_), values(columns_);
                 for (int64_t row = begin; row < end; ++row) {
                   load(received + row * columns_, 1, sum, 1, columns_);
                   for (int64_t rank = 1; rank < ranks(); ++rank) {
                     load(received + (rank * rows_ + row) * columns_, 1, values, 1, columns_);
                     quant_kernel().scale(values, {}, {sum, true}, sum, columns_);
                   }
                   quant_kernel().scale(sum, {ratio, true}, {}, sum, columns_);
                   quant_kernel().round(sum, Rounding::kNearest, -128, 127, columns_);
                   quant_kernel().scale(sum, back_.row(0), {}, sum, columns_);
                   store(sum, 1, result.bytes() + row * columns_ * unit, 1, columns_);
                 }
               });
}

// Each rank gets everybody's bytes at once: a second meeting, for sums that are quantised by their owner, would move as
// many between two ranks, and give the same numbers.
void QuantMatmulAllReduce::run() {
  if (!there_.given()) return SummedOperator::run();
  Communicator& meeting = communicator();
  there_.load(), back_.load();
  Reachable part(out, meeting.device());
  multiply(part.dense());
  saturate_partial(part.dense());
  const Reachable sent(make_tensor(nullptr, DType::kInt8, {rows_, columns_}), meeting.device());
  const Reachable received(make_tensor(nullptr, DType::kInt8, {ranks() * rows_, columns_}), meeting.device());
  quantise(part.dense(), sent.dense().as<int8_t>());
  all_gather(meeting, Lane::own_turn(), sent.data(), received.data(), static_cast<uint64_t>(rows_ * columns_),
             element_of(DType::kInt8, columns_));
  sum_up(received.dense().as<int8_t>(), part.dense());
  part.store();
}

using Self = QuantMatmulAllReduce;
NPU_OPERATOR(Self, "quant_matmul_all_reduce", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), optional<&Self::x3>("x3"), in<&Self::dequant_scale>("dequant_scale"),
             optional<&Self::pertoken_scale>("pertoken_scale"),
             optional<&Self::comm_quant_scale_1>("comm_quant_scale_1"),
             optional<&Self::comm_quant_scale_2>("comm_quant_scale_2"), attr<&Self::hcom>("hcom"),
             attr<&Self::reduce_op>("reduce_op"), attr<&Self::comm_turn>("comm_turn"),
             attr<&Self::stream_mode>("stream_mode"), out<&Self::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
