// SPDX-License-Identifier: Apache-2.0
// From a share of the rows, of which a rank has a part of the columns, to a product over all columns: what the output
// projection of an attention needs whose heads are cut among the ranks. Its bits are those of an all_to_all and a
// product, one after the other.
#include "comm/operator/local_product.h"
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"
#include "comm/operator/turned_weight.h"
#include "ops/runner/call.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// gathered = this rank's rows of x1 of all ranks, side by side; out = gathered @ x2 + bias. `gathered` may be left
/// out.
struct AllToAllMatmul final : RankOperator {
  Tensor x1, x2, bias, out, gathered;
  std::vector<int64_t> axes;
  bool transpose_x1 = false, transpose_x2 = false;
  LocalProduct product;

  void prepare() override;
  void run() override;

 private:
  Tensor whole(void* data) const { return make_tensor(data, x1.dtype, {rows_, ranks() * x1.shape[1]}); }
  bool gives_gathered() const { return gathered.defined() && gathered.count() > 0; }
  void put_side_by_side(const Tensor& received, const Tensor& to) const;

  int64_t rows_ = 0;  ///< of this rank
};

void AllToAllMatmul::prepare() {
  find_ranks();
  check_exchange(x1, x2, axes, {-2, -1}, transpose_x1);
  require(x1.shape[0] % ranks() == 0, "x1 is {}: its rows do not divide among {} ranks; pad them", x1.shape, ranks());
  rows_ = x1.shape[0] / ranks();
  product.plan(whole(nullptr), turned(x2, transpose_x2), bias, {}, out, true);
  if (!gives_gathered()) return;
  require_shape(gathered, whole(nullptr).shape, "alltoall_out");
  require(gathered.dtype == x1.dtype, "alltoall_out is {}, x1 is {}: they must have one type", gathered.dtype,
          x1.dtype);
}

// As the blocks of rows that come from each rank lie one behind the other.
void AllToAllMatmul::put_side_by_side(const Tensor& received, const Tensor& to) const {
  const int64_t columns = x1.shape[1];
  const Tensor blocks = received.view({rows_, ranks(), columns}, {columns, rows_ * columns, 1});
  ops::Call("copy")
      .set("self", Operand{blocks, {}})
      .set("out", make_tensor(to.data, to.dtype, {rows_, ranks(), columns}))
      .run();
}

void AllToAllMatmul::run() {
  Communicator& meeting = communicator();
  Reachable sent(x1, meeting.device());
  sent.load();
  const Reachable received(make_tensor(nullptr, x1.dtype, x1.shape), meeting.device());
  all_to_all(meeting, Lane::own_turn(), sent.data(), received.data(), static_cast<uint64_t>(rows_ * x1.shape[1]),
             element_of(x1.dtype, x1.shape[1]));
  Reachable joined(gives_gathered() ? gathered : whole(nullptr), meeting.device());
  put_side_by_side(received.dense(), joined.dense());
  product.run(joined.dense(), turned(x2, transpose_x2), bias, {}, out);
  if (gives_gathered()) joined.store();
}

using Self = AllToAllMatmul;
NPU_OPERATOR(Self, "all_to_all_matmul", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), attr<&Self::axes>("axes"), attr<&Self::hcom>("hcom"),
             attr<&Self::comm_mode>("comm_mode"), attr<&Self::transpose_x1>("transpose_x1"),
             attr<&Self::transpose_x2>("transpose_x2"), out<&Self::out>("out"),
             optional_out<&Self::gathered>("gathered"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
