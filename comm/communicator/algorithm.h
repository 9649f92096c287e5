// SPDX-License-Identifier: Apache-2.0
// How ranks share the work of a reduction. All ways take the ranks' elements in the same order, so results have the
// same bits; they differ in who reads and writes what, and in how often ranks wait for each other. The cheapest by a
// model is taken, unless HCCL_ALGO names one.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/setting.h"
#include "comm/core/call.h"
#include "comm/transport/transport.h"

namespace npu::comm {

/// Whether a call of `bytes` (those of its count) has a choice, and this is one of it.
bool can(Algorithm algorithm, const CollectiveDef& row, uint64_t bytes);

/// Calls whose buffers have more bytes than this together do not find them in the cache.
inline constexpr uint64_t kCacheBytes = uint64_t{24} << 20;
/// Bytes of all buffers of all ranks.
uint64_t footprint(const CollectiveDef& row, uint64_t bytes, uint32_t ranks);

/// The model: microseconds that `ranks` need where things cost that much, and those of copying as many bytes as each
/// rank must read and write. `algorithm` is kNone for calls without a choice.
struct Expected {
  double us, limit_us;
};
Expected expected(const CollectiveDef& row, Algorithm algorithm, uint64_t bytes, uint32_t ranks, const Costs& costs);
/// The same for `hosts` of `ranks` each; the limit is what the busiest card needs for its bytes. `flat`:
/// Algorithm::kFlat.
Expected expected_between(const CollectiveDef& row, bool flat, uint64_t bytes, uint32_t ranks, uint32_t hosts,
                          const Costs& costs, const NetworkCosts& network);
/// Ranks of a host that share processors: how many have one, and how long each waits until all have come.
struct Crowd {
  double share, wait_us;
};
Crowd crowd_of(uint32_t ranks, const Costs& costs);
/// Bytes a microsecond of buffers that are so large together.
double rate_of(uint64_t footprint, const Costs& costs);
/// Whether a call's data lies in the posts where so many ranks are on several hosts, at most `here` of them on one.
bool posted_between(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, uint32_t here);
/// kNone for calls without a choice.
Algorithm cheapest(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, const Costs& costs);

/// What a call of an operation on buffers of `bytes` (a rank's larger one) will be.
struct Plan {
  const char* operation;  ///< "allreduce", as HCCL_ALGO writes it
  uint64_t bytes;
  Algorithm algorithm;
  Expected expected;
};
/// For each operation at sizes from 4 bytes to 64 MB on `ranks` ranks of this host. Raises kParameter for 0 ranks, and
/// for more than a communicator holds; EI0001.
std::vector<Plan> plans(uint32_t ranks);

/// The same where they are on so many hosts, which differ by no more than a rank, with the network that `costs` tells.
/// Raises kParameter for fewer ranks than hosts, too.
std::vector<Plan> plans(uint32_t ranks, uint32_t hosts, const NetworkCosts& costs);

/// What a user asked for.
class AlgorithmChoice {
 public:
  /// Nothing: the model chooses.
  AlgorithmChoice() = default;
  /// `text` as HCCL_ALGO has it: "level0:mesh;level1:NA" for all, or "allreduce=level0:mesh;level1:NA/reduce=…". Raises
  /// EI0001, which names `source`, for anything else.
  AlgorithmChoice(std::string_view text, std::string_view source);
  static AlgorithmChoice of_environment();

  /// The one asked for, where the call can be done so, else the cheapest.
  Algorithm of(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, const Costs& costs) const;
  /// Where ranks are on several hosts: kHosts, unless kFlat was asked for.
  Algorithm between(const CollectiveDef& row) const { return flat_[row.id] ? Algorithm::kFlat : Algorithm::kHosts; }

 private:
  void read_entry(std::string_view entry, bool alone);
  std::array<Algorithm, kMostCollectives> asked_{};
  std::array<bool, kMostCollectives> flat_{};
};

namespace detail {
extern Setting<std::string> algorithms;  // HCCL_ALGO
}  // namespace detail

}  // namespace npu::comm
