// SPDX-License-Identifier: Apache-2.0
// The product of a layer whose weight is cut along the inner axis (tensor parallelism): each rank's part of the sum,
// and the sum over ranks. Its bits are those of a product and an all_reduce, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// out = the sum over ranks of x1 @ x2 + bias + x3.
struct MatmulAllReduce final : RankOperator {
  Tensor x1, x2, bias, x3, out;
  LocalProduct product;

  void prepare() override {
    find_ranks();
    product.plan(x1, x2, bias, x3, make_dense());
  }
  void run() override {
    Communicator& ranks = communicator();
    Reachable sum(out, ranks.device());
    product.run(x1, x2, bias, x3, sum.dense());
    saturate_partial(sum.dense());
    all_reduce(ranks, Lane::own_turn(), sum.data(), sum.data(), static_cast<uint64_t>(out.count()),
               element_of(out.dtype, out.shape.back()), ReduceOp::kSum);
    sum.store();
  }

 private:
  Tensor make_dense() const { return make_tensor(nullptr, out.dtype, out.shape); }
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
