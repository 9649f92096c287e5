// SPDX-License-Identifier: Apache-2.0
// What collectives cost where ranks are on several hosts: on the host as in algorithm.cpp, and between them. There is
// one way, so nothing is chosen by this; people ask for it.
#include <algorithm>
#include <thread>

#include "comm/communicator/algorithm.h"
#include "comm/core/fault.h"
#include "comm/transport/shared_memory/shared_memory.h"

namespace npu::comm {

// A rank shows all that it sends, and those of one host pass on what all of them have shown, which must be small, too.
bool posted_between(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, uint32_t here) {
  const uint64_t shown = row.sends_parts ? bytes * ranks : row.receives_parts ? bytes * here : bytes;
  return row.posts && shown <= kInlineBytes;
}

Expected expected_between(const CollectiveDef& row, bool flat, uint64_t bytes, uint32_t ranks, uint32_t hosts,
                          const Costs& costs, const NetworkCosts& network) {
  const bool small = posted_between(row, bytes, ranks * hosts, ranks);
  const auto [share, wait] = crowd_of(ranks, costs);
  const double rate = rate_of(footprint(row, bytes, ranks * hosts) / hosts, costs);
  const Passed asked =
      row.passed({static_cast<double>(bytes), static_cast<double>(hosts), static_cast<double>(ranks), small, flat});
  const double own = costs.call_us + (small ? 0 : costs.names_us) + asked.messages * network.message_us;
  const double card = asked.bytes / network.bytes_per_us;
  return {(own + asked.worked / rate) * share + (small ? 1 : 2) * wait + asked.steps * network.latency_us + card, card};
}

std::vector<Plan> plans(uint32_t ranks, uint32_t hosts, const NetworkCosts& network) {
  if (hosts == 1) return plans(ranks);
  if (ranks > kMostRanks || hosts == 0 || hosts > ranks)
    fault(Result::kParameter, "EI0003: there are plans for up to {} ranks on as many hosts or fewer, not for {} on {}",
          kMostRanks, ranks, hosts);
  const AlgorithmChoice choice = AlgorithmChoice::of_environment();
  const Costs costs = shared_memory_costs(std::max(1u, std::thread::hardware_concurrency()));
  const uint32_t each = (ranks + hosts - 1) / hosts;
  std::vector<Plan> out;
  for (const CollectiveDef* row : collectives()) {
    if (row->algo_word == nullptr || row->passed == nullptr) continue;
    for (uint64_t bytes = 4; bytes <= uint64_t{64} << 20; bytes *= 8) {
      const bool parts = row->sends_parts || row->receives_parts;
      const uint64_t counted = parts ? std::max<uint64_t>(bytes / ranks, 1) : bytes;
      const Algorithm how = choice.between(*row);
      out.push_back({row->algo_word, bytes, how,
                     expected_between(*row, how == Algorithm::kFlat, counted, each, hosts, costs, network)});
    }
  }
  return out;
}

}  // namespace npu::comm
