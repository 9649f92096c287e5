// SPDX-License-Identifier: Apache-2.0
// All ranks to all ranks, parts of unequal size, as nodes of graphs ask for it (HcomAllToAllV, HcomAllToAllVC and
// HcomGatherAllToAllV): how this rank parts what it sends and what it gets, in elements, stands in attributes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "comm/operator/rank_operator.h"
#include "comm/operator/reachable.h"
#include "device/memory/memory.h"

namespace npu::comm {
namespace {

using namespace ops;  // NOLINT: what registers operators

struct HcomAllToAllV final : RankOperator {
  Tensor self, out;
  std::vector<int64_t> send_counts, send_displacements, recv_counts, recv_displacements;
  int64_t rank = -1;  ///< as the client gives it; -1: it does not

  void prepare() override {
    find_ranks();
    require(self.dtype == out.dtype, "out is {}, and what is sent {}", out, self);
    sent_ = parts(send_counts, send_displacements, self, "send");
    received_ = parts(recv_counts, recv_displacements, out, "recv");
    for (const Extent& part : received_) filled_ += part.count;
  }

  void run() override {
    Communicator& ranks = communicator();
    require(rank < 0 || rank == static_cast<int64_t>(ranks.rank()), "rank is {}; this one is rank {} of group '{}'",
            rank, ranks.rank(), hcom);
    Reachable sent(self, ranks.device()), received(out, ranks.device());
    sent.load();
    if (filled_ < static_cast<uint64_t>(out.count()))  // what lies between the parts
      std::memset(received.dense().bytes(), 0, static_cast<size_t>(bytes_of(out)));
    all_to_all_v(ranks, Lane::own_turn(), address(sent), sent_, address(received), received_,
                 element_of(self.dtype, 0));
    received.store();
  }

 private:
  /// Two tensors without elements may stand at one place.
  static void* address(const Reachable& one) { return one.dense().count() == 0 ? nullptr : one.data(); }

  std::vector<Extent> parts(const std::vector<int64_t>& counts, const std::vector<int64_t>& displacements,
                            const Tensor& whole, const char* what) const {
    require(static_cast<int64_t>(counts.size()) == ranks() && displacements.size() == counts.size(),
            "{}_counts has {} numbers and {}_displacements {}; of {} ranks each has one", what, counts.size(), what,
            displacements.size(), ranks());
    std::vector<Extent> out;
    for (size_t i = 0; i < counts.size(); ++i) {
      require(
          counts[i] >= 0 && displacements[i] >= 0 && (counts[i] == 0 || displacements[i] <= whole.count() - counts[i]),
          "{}_counts[{}] is {} and {}_displacements[{}] {}; the tensor has {} elements", what, i, counts[i], what, i,
          displacements[i], whole.count());
      out.push_back({static_cast<uint64_t>(displacements[i]), static_cast<uint64_t>(counts[i])});
    }
    return out;
  }

  std::vector<Extent> sent_, received_;
  uint64_t filled_ = 0;
};

/// Pieces of device memory, by address and bytes, one after the other.
struct GatherMemory final : Operator {
  std::vector<int64_t> addresses, lengths;
  int64_t device = 0;
  Tensor out;

  void prepare() override {
    int64_t bytes = 0;
    for (const int64_t length : lengths) {
      require(length >= 0, "a length is {}; it is a number of bytes", length);
      bytes += length;
    }
    require(addresses.size() == lengths.size() && bytes == bytes_of(out),
            "{} addresses and {} lengths of {} bytes for {}", addresses.size(), lengths.size(), bytes, out);
  }

  void run() override {
    std::byte* to = out.bytes();
    for (size_t i = 0; i < addresses.size(); ++i) {
      const auto bytes = static_cast<size_t>(lengths[i]);
      const void* from = reinterpret_cast<const void*>(addresses[i]);  // NOLINT: the client's number
      device::check_live(from, bytes, static_cast<int>(device), "addrinfo");
      if (bytes > 0) std::memcpy(to, device::resolve(from, bytes), bytes);
      to += bytes;
    }
  }
};

NPU_OPERATOR(HcomAllToAllV, "hcom_all_to_all_v", "collective", in<&HcomAllToAllV::self>("self"),
             attr<&HcomAllToAllV::hcom>("hcom"), attr<&HcomAllToAllV::send_counts>("send_counts"),
             attr<&HcomAllToAllV::send_displacements>("send_displacements"),
             attr<&HcomAllToAllV::recv_counts>("recv_counts"),
             attr<&HcomAllToAllV::recv_displacements>("recv_displacements"), attr<&HcomAllToAllV::rank>("rank"),
             out<&HcomAllToAllV::out>("out"))
    .is(kTakesTurns);
NPU_OPERATOR(GatherMemory, "gather_memory", "collective", attr<&GatherMemory::addresses>("addresses"),
             attr<&GatherMemory::lengths>("lengths"), attr<&GatherMemory::device>("device"),
             out<&GatherMemory::out>("out"));

}  // namespace
}  // namespace npu::comm
