// SPDX-License-Identifier: Apache-2.0
// The product of a layer whose weight is cut along the inner axis (tensor parallelism): each rank's part of the sum,
// and the sum over ranks. Its bits are those of a product and an all_reduce, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/summed_operator.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// out = the sum over ranks of x1 @ x2 + bias + x3.
struct MatmulAllReduce final : SummedOperator {
  LocalProduct product;

  void prepare() override {
    find_ranks();
    product.plan(x1, x2, bias, x3, make_tensor(nullptr, out.dtype, out.shape));
  }

 protected:
  void multiply(const Tensor& part) override { product.run(x1, x2, bias, x3, part); }
};

NPU_OPERATOR(MatmulAllReduce, "matmul_all_reduce", "collective", in<&MatmulAllReduce::x1>("x1"),
             in<&MatmulAllReduce::x2>("x2"), optional<&MatmulAllReduce::bias>("bias"),
             optional<&MatmulAllReduce::x3>("x3"), attr<&MatmulAllReduce::hcom>("hcom"),
             attr<&MatmulAllReduce::reduce_op>("reduce_op"), attr<&MatmulAllReduce::comm_mode>("comm_mode"),
             attr<&MatmulAllReduce::comm_turn>("comm_turn"), attr<&MatmulAllReduce::stream_mode>("stream_mode"),
             out<&MatmulAllReduce::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
