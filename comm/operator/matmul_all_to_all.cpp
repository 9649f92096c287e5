// SPDX-License-Identifier: Apache-2.0
// From a share of the rows to all rows, of which a rank has a part of the columns: what the projection before an
// attention needs whose heads are cut among the ranks. Its bits are those of a product and an all_to_all, one after the
// other.
#include "comm/operator/local_product.h"
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"
#include "comm/operator/turned_weight.h"
#include "ops/runner/call.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

/// out = this rank's columns of x1 @ x2 + bias of all ranks, one below the other.
struct MatmulAllToAll final : RankOperator {
  Tensor x1, x2, bias, out;
  std::vector<int64_t> axes;
  bool transpose_x1 = false, transpose_x2 = false;
  LocalProduct product;

  void prepare() override;
  void run() override;

 private:
  Tensor weight() const { return turned(x2, transpose_x2); }
  Tensor local(void* data) const { return make_tensor(data, out.dtype, {x1.shape[0], weight().shape[1]}); }
  /// Of one rank.
  int64_t columns() const { return weight().shape[1] / ranks(); }
};

void MatmulAllToAll::prepare() {
  find_ranks();
  check_exchange(x1, x2, axes, {-1, -2}, transpose_x1);
  require(weight().shape[1] % ranks() == 0, "x2 is {}: its columns do not divide among {} ranks; pad them", x2.shape,
          ranks());
  product.plan(x1, weight(), bias, {}, local(nullptr), true);
  require_shape(out, {x1.shape[0] * ranks(), columns()});
}

void MatmulAllToAll::run() {
  Communicator& meeting = communicator();
  const int64_t rows = x1.shape[0], width = columns(), all = width * ranks();
  const Scratch<std::byte> room(bytes_of(out));
  const Tensor made = local(room.data());
  product.run(x1, weight(), bias, {}, made);
  saturate_partial(made);
  const Reachable sent(make_tensor(nullptr, out.dtype, {ranks(), rows, width}), meeting.device());
  const Tensor parts = made.view({ranks(), rows, width}, {width, all, 1});
  ops::Call("copy").set("self", Operand{parts, {}}).set("out", sent.dense()).run();
  Reachable received(out, meeting.device());
  all_to_all(meeting, Lane::own_turn(), sent.data(), received.data(), static_cast<uint64_t>(rows * width),
             element_of(out.dtype, width));
  received.store();
}

using Self = MatmulAllToAll;
NPU_OPERATOR(Self, "matmul_all_to_all", "collective", in<&Self::x1>("x1"), in<&Self::x2>("x2"),
             optional<&Self::bias>("bias"), attr<&Self::axes>("axes"), attr<&Self::hcom>("hcom"),
             attr<&Self::comm_mode>("comm_mode"), attr<&Self::transpose_x1>("transpose_x1"),
             attr<&Self::transpose_x2>("transpose_x2"), out<&Self::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
