// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks as nodes of graphs ask for them (HcomSend and HcomReceive). Those of a pair follow one
// another; the tag of each, which both give, tells a send and a receive that do not belong together.
#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

struct HcomMessage : RankOperator {
  Tensor tensor;
  int64_t peer = 0, tag = 0;

  void prepare() override {
    find_ranks();
    require(peer >= 0 && peer < ranks(), "the message is with rank {}; group '{}' has the ranks 0 to {}", peer, hcom,
            ranks() - 1);
    require(tag >= 0 && tag <= UINT32_MAX, "sr_tag is {}; it is a number from 0 to {}", tag, UINT32_MAX);
  }

 protected:
  bool takes_a_turn() const override { return false; }
  void meet(const Reachable& memory, bool receives) const {
    exchange(communicator(), Lane::calling_thread(),
             {{receives, tensor.count() == 0 ? nullptr : memory.data(), static_cast<uint64_t>(tensor.count()),
               element_of(tensor.dtype, 0), static_cast<uint32_t>(peer), static_cast<uint32_t>(tag)}});
  }
};

struct HcomSend final : HcomMessage {
  void run() override {
    Reachable sent(tensor, communicator().device());
    sent.load();
    meet(sent, false);
  }
};

struct HcomReceive final : HcomMessage {
  void run() override {
    Reachable received(tensor, communicator().device());
    meet(received, true);
    received.store();
  }
};

NPU_OPERATOR(HcomSend, "hcom_send", "collective", in<&HcomSend::tensor>("self"), attr<&HcomSend::hcom>("hcom"),
             attr<&HcomSend::peer>("peer"), attr<&HcomSend::tag>("tag"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomReceive, "hcom_receive", "collective", attr<&HcomReceive::hcom>("hcom"),
             attr<&HcomReceive::peer>("peer"), attr<&HcomReceive::tag>("tag"), out<&HcomReceive::tensor>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
