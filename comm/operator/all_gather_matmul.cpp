// SPDX-License-Identifier: Apache-2.0
// The product of a layer whose weight is cut along the columns, on rows of which each rank has a share (sequence
// parallelism). Its bits are those of an all_gather and a product, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// gathered = the rows of x1 of all ranks, in their order; out = gathered @ x2 + bias. `gathered` is not written where
/// it has no element.
struct AllGatherMatmul final : QuantisableRankOperator {
  Tensor x1, x2, bias, out, gathered;
  int64_t gather_index = 0;
  LocalProduct product;

  void prepare() override {
    find_ranks();
    refuse_quantised("call HcclAllGather and aclnnQuantMatmulV4, one after the other");
    require(gather_index == 0, "gather_index is {}; it is 0, x1 is gathered (ranks have x2 of their own)",
            gather_index);
    require(x1.rank() == 2, "x1 is {}; it has 2 dimensions", x1.shape);
    product.plan(whole(nullptr), x2, bias, {}, out);
    if (gives_gathered()) {
      require_shape(gathered, whole(nullptr).shape, "gather_out");
      require(gathered.dtype == x1.dtype, "gather_out is {}, x1 is {}: they must have one type", gathered.dtype,
              x1.dtype);
    }
  }
  void run() override {
    Communicator& ranks = communicator();
    Reachable sent(x1, ranks.device());
    sent.load();
    Reachable received(gives_gathered() ? gathered : whole(nullptr), ranks.device());
    all_gather(ranks, Lane::own_turn(), sent.data(), received.data(), static_cast<uint64_t>(x1.count()),
               element_of(x1.dtype, x1.shape[1]));
    product.run(received.dense(), x2, bias, {}, out);
    if (gives_gathered()) received.store();
  }

 private:
  Tensor whole(void* data) const { return make_tensor(data, x1.dtype, {x1.shape[0] * ranks(), x1.shape[1]}); }
  bool gives_gathered() const { return gathered.defined() && gathered.count() > 0; }
};

using Self = AllGatherMatmul;
NPU_OPERATOR(Self, "all_gather_matmul", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), optional<&Self::x1_scale>("x1_scale"),
             optional<&Self::x2_scale>("x2_scale"), optional<&Self::quant_scale>("quant_scale"),
             attr<&Self::block_size>("block_size"), attr<&Self::hcom>("hcom"),
             attr<&Self::gather_index>("gather_index"), attr<&Self::comm_turn>("comm_turn"),
             attr<&Self::stream_mode>("stream_mode"), attr<&Self::group_size>("group_size"),
             attr<&Self::comm_mode>("comm_mode"), out<&Self::out>("out"), optional_out<&Self::gathered>("gathered"),
             optional_out<&Self::amax_out>("amax_out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
