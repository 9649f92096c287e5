// SPDX-License-Identifier: Apache-2.0
// The collectives of hcom.cpp on many tensors at once: they lie in one block, where the ranks meet once. A tensor that
// lies at its place in the block already is not moved.
#include <cstring>

#include "comm/operator/hcom.h"
#include "comm/operator/packing.h"
#include "comm/operator/reachable.h"
#include "ops/runner/call.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

struct HcomList : HcomOperator {
  std::vector<Tensor> self;
  Tensor out;  ///< the block

  void run() override {
    Communicator& ranks = communicator();
    if (gives(ranks)) pack();
    Reachable block(out, ranks.device());
    block.load();
    meet(ranks, block.data());
    block.store();
  }

 protected:
  /// Every rank's block holds as many elements: gaps between tensors are sent, too.
  virtual void meet(Communicator& ranks, void* block) = 0;
  virtual bool gives(const Communicator&) const { return true; }

  /// For prepare.
  void plan() {
    find_ranks();
    packing_ = packing_of(self);
    for (const Tensor& each : self)
      require(each.dtype == out.dtype, "{} and {} are sent together; they must be of one type", each, out);
    require(out.shape == Dims{packing_.count} && out.contiguous(), "out is {}; the block of {} tensors has {} elements",
            out, self.size(), packing_.count);
  }
  uint64_t count() const { return static_cast<uint64_t>(packing_.count); }
  Element element() const { return element_of(out.dtype, 0); }

 private:
  /// Gaps hold zeros: whatever lay there would be added up, and looked at for overflow.
  void pack() {
    int64_t end = 0;
    for (size_t i = 0; i < self.size(); ++i) {
      clear(end, packing_.begin[i]);
      end = packing_.begin[i] + self[i].count();
      const Tensor to = make_tensor(at(packing_.begin[i]), out.dtype, self[i].shape);
      if (self[i].count() == 0 || (self[i].bytes() == to.bytes() && self[i].contiguous())) continue;
      if (self[i].contiguous())
        std::memcpy(to.data, self[i].bytes(), static_cast<size_t>(bytes_of(to)));
      else
        ops::Call("copy").set("self", ops::Operand{self[i], {}}).set("out", to).run();
    }
    clear(end, packing_.count);
  }
  std::byte* at(int64_t element) const { return out.bytes() + element * static_cast<int64_t>(size_of(out.dtype)); }
  void clear(int64_t begin, int64_t end) const {
    if (begin < end) std::memset(at(begin), 0, static_cast<size_t>(at(end) - at(begin)));
  }

  Packing packing_;
};

struct HcomAllReduceList final : HcomList {
  void prepare() override { plan(), find_reduction(); }
  void meet(Communicator& ranks, void* block) override {
    all_reduce(ranks, Lane::own_turn(), block, block, count(), element(), reduce_op_);
  }
};

/// Ranks other than the root keep what they gave.
struct HcomReduceList final : HcomList {
  void prepare() override { plan(), check_root(), find_reduction(); }
  void meet(Communicator& ranks, void* block) override {
    reduce(ranks, Lane::own_turn(), block, is_root(ranks) ? block : nullptr, count(), element(), reduce_op_,
           static_cast<uint32_t>(root));
  }
};

struct HcomBroadcastList final : HcomList {
  void prepare() override { plan(), check_root(); }
  bool gives(const Communicator& ranks) const override { return is_root(ranks); }
  void meet(Communicator& ranks, void* block) override {
    broadcast(ranks, Lane::own_turn(), block, count(), element(), static_cast<uint32_t>(root));
  }
};

NPU_OPERATOR(HcomAllReduceList, "hcom_all_reduce_list", "collective", in<&HcomAllReduceList::self>("self"),
             attr<&HcomAllReduceList::hcom>("hcom"), attr<&HcomAllReduceList::reduction>("reduction"),
             out<&HcomAllReduceList::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomReduceList, "hcom_reduce_list", "collective", in<&HcomReduceList::self>("self"),
             attr<&HcomReduceList::hcom>("hcom"), attr<&HcomReduceList::reduction>("reduction"),
             attr<&HcomReduceList::root>("root"), out<&HcomReduceList::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomBroadcastList, "hcom_broadcast_list", "collective", in<&HcomBroadcastList::self>("self"),
             attr<&HcomBroadcastList::hcom>("hcom"), attr<&HcomBroadcastList::root>("root"),
             out<&HcomBroadcastList::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
