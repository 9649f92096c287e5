// SPDX-License-Identifier: Apache-2.0
// The product of a layer whose int8 weight is cut along the inner axis: each rank's part of the sum, and the sum over
// ranks. Without x3 its bits are those of a weight_quant_matmul and an all_reduce, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/summed_operator.h"
#include "ops/quant/factors.h"
#include "ops/runner/call.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// out = the sum over ranks of x1 @ ((x2 + antiquant_offset) * antiquant_scale) + bias + x3.
struct WeightQuantMatmulAllReduce final : SummedOperator {
  Tensor scale, offset;
  int64_t group_size = 0;

  void prepare() override;

 protected:
  void multiply(const Tensor& part) override;

 private:
  ops::Call product(const Tensor& weight, const Tensor& part) const;
  /// What the product is written to: in float32 where x3 is added before it is rounded.
  DType made() const { return absent(x3) ? out.dtype : DType::kFloat; }

  PlainWeight weight_;
};

ops::Call WeightQuantMatmulAllReduce::product(const Tensor& weight, const Tensor& part) const {
  ops::Call call("weight_quant_matmul");
  call.set("self", x1).set("weight", weight).set("scale", scale).set("offset", offset).set("bias", bias);
  call.set("group_size", group_size).set("out", part);
  return call;
}

void WeightQuantMatmulAllReduce::prepare() {
  find_ranks();
  const Dims shape = product_shape(x1, x2);
  require_shape(out, shape);
  require(x2.dtype == DType::kInt8, "x2 is {}; it is int8", x2);
  require(out.dtype == x1.dtype, "out is {}, x1 is {}: they must have one type", out.dtype, x1.dtype);
  for (const auto& [tensor, name] : {std::pair(&bias, "bias"), std::pair(&x3, "x3"),
                                     std::pair(&scale, "antiquant_scale"), std::pair(&offset, "antiquant_offset")}) {
    require(absent(*tensor) || tensor->dtype == x1.dtype, "{} is {}, x1 is {}: they must have one type; cast {}", name,
            tensor->dtype, x1.dtype, name);
  }
  require(absent(offset) || offset.shape == scale.shape, "antiquant_offset is {}, antiquant_scale is {}: one shape",
          offset, scale);
  check_terms(bias, x3, shape);
  weight_.plan(x2, "x2");
  product(make_tensor(nullptr, x2.dtype, x2.shape), make_tensor(nullptr, made(), shape)).prepare();
}

void WeightQuantMatmulAllReduce::multiply(const Tensor& part) {
  Scratch<std::byte> room;
  const Tensor weight = weight_.of(x2, room);
  if (made() == part.dtype) return product(weight, part).run();
  const Scratch<float> sums(part.count());
  const Tensor sum = make_tensor(sums, DType::kFloat, part.shape);
  product(weight, sum).run();
  ops::Call("add").set("self", Operand{sum, {}}).set("other", Operand{x3, {}}).set("out", part).run();
}

using Self = WeightQuantMatmulAllReduce;
NPU_OPERATOR(Self, "weight_quant_matmul_all_reduce", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), in<&Self::scale>("scale"), optional<&Self::offset>("offset"),
             optional<&Self::x3>("x3"), attr<&Self::group_size>("group_size"), attr<&Self::hcom>("hcom"),
             attr<&Self::reduce_op>("reduce_op"), attr<&Self::comm_mode>("comm_mode"),
             attr<&Self::comm_turn>("comm_turn"), attr<&Self::stream_mode>("stream_mode"), out<&Self::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
