// SPDX-License-Identifier: Apache-2.0
// The product of a layer whose weight is cut along the inner axis, of whose sum each rank keeps its share of the rows
// (sequence parallelism). Its bits are those of a product and a reduce_scatter, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// out = this rank's rows of the sum over ranks of x1 @ x2 + bias.
struct MatmulReduceScatter final : QuantisableRankOperator {
  Tensor x1, x2, bias, out;
  LocalProduct product;

  void prepare() override {
    find_ranks();
    refuse_quantised("call aclnnQuantMatmulV4 and HcclReduceScatter, one after the other");
    require(x1.rank() == 2, "x1 is {}; it has 2 dimensions", x1.shape);
    require(x1.shape[0] % ranks() == 0, "x1 is {}: its rows do not divide among {} ranks; pad them", x1.shape, ranks());
    require(x2.rank() == 2, "x2 is {}; it has 2 dimensions", x2.shape);
    product.plan(x1, x2, bias, {}, whole());
    require_shape(out, {x1.shape[0] / ranks(), x2.shape[1]});
  }
  void run() override {
    Communicator& ranks = communicator();
    Reachable sent(whole(), ranks.device());
    product.run(x1, x2, bias, {}, sent.dense());
    saturate_partial(sent.dense());
    Reachable received(out, ranks.device());
    reduce_scatter(ranks, Lane::own_turn(), sent.data(), received.data(), static_cast<uint64_t>(out.count()),
                   element_of(out.dtype, out.shape[1]), ReduceOp::kSum);
    received.store();
  }

 private:
  Tensor whole() const { return make_tensor(nullptr, out.dtype, {x1.shape[0], x2.shape[1]}); }
};

using Self = MatmulReduceScatter;
NPU_OPERATOR(Self, "matmul_reduce_scatter", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), optional<&Self::x1_scale>("x1_scale"),
             optional<&Self::x2_scale>("x2_scale"), optional<&Self::quant_scale>("quant_scale"),
             attr<&Self::block_size>("block_size"), attr<&Self::hcom>("hcom"), attr<&Self::reduce_op>("reduce_op"),
             attr<&Self::comm_turn>("comm_turn"), attr<&Self::stream_mode>("stream_mode"),
             attr<&Self::group_size>("group_size"), attr<&Self::comm_mode>("comm_mode"), out<&Self::out>("out"),
             optional_out<&Self::amax_out>("amax_out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
