// SPDX-License-Identifier: Apache-2.0
// Collectives as nodes of graphs ask for them (the vendor's Hcom operators): a tensor in, a tensor out, each laid out
// as it may be.
#include "comm/operator/hcom.h"

#include <cstring>

#include "comm/operator/reachable.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

struct Hcom : HcomOperator {
  Tensor self, out;

  void run() override {
    Communicator& ranks = communicator();
    Reachable sent(self, ranks.device()), received(out, ranks.device());
    sent.load();
    meet(ranks, sent, received);
    received.store();
  }

 protected:
  /// `sent` and `received` stand for self and out.
  virtual void meet(Communicator& ranks, Reachable& sent, Reachable& received) = 0;

  /// For prepare: out is self with its first axis `times` as long, or 1 / `parts` of that.
  void plan(int64_t times = 1, int64_t parts = 1) {
    Dims shape = self.shape;
    if (times != 1 || parts != 1) {
      require(!shape.empty(), "the tensor has no dimension to be put together or cut along; give one of at least one");
      require(shape[0] % parts == 0, "the tensor is {}; its first dimension is a multiple of the {} ranks", self,
              parts);
      shape[0] = shape[0] * times / parts;
    }
    require(out.shape == shape && out.dtype == self.dtype, "out is {}, and for {} on {} ranks it must be {} of {}", out,
            self, ranks(), shape, self.dtype);
  }
  void copy(const Reachable& sent, const Reachable& received) const {
    if (out.count() > 0)
      std::memcpy(received.dense().bytes(), sent.dense().bytes(), static_cast<size_t>(bytes_of(out)));
  }
  Element element() const { return element_of(self.dtype, 0); }
  static uint64_t count_of(const Tensor& t) { return static_cast<uint64_t>(t.count()); }
};

struct HcomAllReduce final : Hcom {
  void prepare() override { find_ranks(), plan(), find_reduction(); }
  void meet(Communicator& ranks, Reachable& sent, Reachable& received) override {
    all_reduce(ranks, Lane::own_turn(), sent.data(), received.data(), count_of(self), element(), reduce_op_);
  }
};

/// Ranks other than the root get back what they gave.
struct HcomReduce final : Hcom {
  void prepare() override { find_ranks(), plan(), check_root(), find_reduction(); }
  void meet(Communicator& ranks, Reachable& sent, Reachable& received) override {
    const bool gets = is_root(ranks);
    reduce(ranks, Lane::own_turn(), sent.data(), gets ? received.data() : nullptr, count_of(self), element(),
           reduce_op_, static_cast<uint32_t>(root));
    if (!gets) copy(sent, received);
  }
};

struct HcomBroadcast final : Hcom {
  void prepare() override { find_ranks(), plan(), check_root(); }
  void meet(Communicator& ranks, Reachable& sent, Reachable& received) override {
    if (is_root(ranks)) copy(sent, received);
    broadcast(ranks, Lane::own_turn(), received.data(), count_of(self), element(), static_cast<uint32_t>(root));
  }
};

struct HcomAllGather final : Hcom {
  void prepare() override { find_ranks(), plan(ranks()); }
  void meet(Communicator& ranks, Reachable& sent, Reachable& received) override {
    all_gather(ranks, Lane::own_turn(), sent.data(), received.data(), count_of(self), element());
  }
};

struct HcomReduceScatter final : Hcom {
  void prepare() override { find_ranks(), plan(1, ranks()), find_reduction(); }
  void meet(Communicator& ranks, Reachable& sent, Reachable& received) override {
    reduce_scatter(ranks, Lane::own_turn(), sent.data(), received.data(), count_of(out), element(), reduce_op_);
  }
};

NPU_OPERATOR(HcomAllReduce, "hcom_all_reduce", "collective", in<&HcomAllReduce::self>("self"),
             attr<&HcomAllReduce::hcom>("hcom"), attr<&HcomAllReduce::reduction>("reduction"),
             out<&HcomAllReduce::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomReduce, "hcom_reduce", "collective", in<&HcomReduce::self>("self"), attr<&HcomReduce::hcom>("hcom"),
             attr<&HcomReduce::reduction>("reduction"), attr<&HcomReduce::root>("root"), out<&HcomReduce::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomBroadcast, "hcom_broadcast", "collective", in<&HcomBroadcast::self>("self"),
             attr<&HcomBroadcast::hcom>("hcom"), attr<&HcomBroadcast::root>("root"), out<&HcomBroadcast::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomAllGather, "hcom_all_gather", "collective", in<&HcomAllGather::self>("self"),
             attr<&HcomAllGather::hcom>("hcom"), out<&HcomAllGather::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(HcomReduceScatter, "hcom_reduce_scatter", "collective", in<&HcomReduceScatter::self>("self"),
             attr<&HcomReduceScatter::hcom>("hcom"), attr<&HcomReduceScatter::reduction>("reduction"),
             out<&HcomReduceScatter::out>("out"))
    .is(kTakesTurns);

}  // namespace
}  // namespace npu::comm
