// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/algorithm.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "comm/core/fault.h"
#include "comm/transport/shared_memory/shared_memory.h"

namespace npu::comm {

namespace detail {
NPU_SETTING(std::string, algorithms, "HCCL_ALGO", "",
            "How collectives share their work, as level0:mesh;level1:NA or allreduce=level0:star;level1:NA/reduce=…: "
            "fullmesh, mesh or star; NA, nothing or another of the vendor's words: the cheapest by a model (anynpu "
            "collectives). Between hosts level1:flat keeps one host's order of sums.");
}  // namespace detail

namespace {

constexpr std::array kAlgorithms = {Algorithm::kFullMesh, Algorithm::kMesh, Algorithm::kStar};

Work work(const CollectiveDef& row, Algorithm algorithm, double bytes, double ranks) {
  if (row.work == nullptr) return {};
  return row.work({algorithm, bytes, ranks, (row.sends_parts ? bytes * ranks : bytes) <= kInlineBytes});
}

/// Those of which HCCL_ALGO speaks.
std::vector<const CollectiveDef*> with_choice() {
  std::vector<const CollectiveDef*> out = collectives();
  std::erase_if(out, [](const CollectiveDef* each) { return each->algo_word == nullptr; });
  return out;
}

/// "allgather, allreduce and alltoall".
std::string words_with_choice() {
  std::string out;
  const auto rows = with_choice();
  for (const CollectiveDef* each : rows)
    out += fmt::format("{}{}", each == rows.front() ? "" : each == rows.back() ? " and " : ", ", each->algo_word);
  return out;
}

// The vendor's words for any level. Level 0 is within a host: there only its fullmesh is one of our ways. Between hosts
// there is one way, and one that keeps the order of the ranks.
constexpr std::string_view kVendors[] = {"NA",     "fullmesh", "ring", "doublering", "H-D_R",   "NHR",
                                         "NHR_V1", "NB",       "AHC",  "pipeline",   "pairwise"};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

[[noreturn]] void refuse(std::string_view part, std::string_view reason) {
  fault(Result::kParameter,
        "'{}' {}. Write level0:A;level1:B for all operations, or allreduce=level0:A;level1:B/reduce=… for some of "
        "{}; A and B (and level2) are NA, fullmesh, ring, doublering, H-D_R, NHR, NHR_V1, NB, AHC, pipeline or "
        "pairwise, A also mesh or star, B also hosts or flat",
        part, reason, words_with_choice());
}

void tell_without_effect(std::string_view name) {
  static std::atomic<bool> told{false};
  if (name == "NA" || told.exchange(true)) return;
  NPU_LOG(
      kWarning, "HCCL",
      "HCCL_ALGO asks for {} at level 0, which is no way of sharing memory: the cheapest of fullmesh, mesh and star "
      "is taken, with the same result (anynpu collectives shows which)",
      name);
}

/// What "level0:mesh;level1:flat" says.
struct Levels {
  Algorithm inner = Algorithm::kNone;
  bool flat = false;
};

Levels read_levels(std::string_view levels) {
  Levels out;
  int next = 0;
  for (const std::string_view level : split(levels, ';')) {
    if (next > 2 || !level.starts_with(fmt::format("level{}:", next))) refuse(level, "is not the level expected there");
    const std::string_view name = level.substr(7);
    const auto* inner = std::ranges::find_if(kAlgorithms, [&](Algorithm each) { return name == name_of(each); });
    if (next == 0 && inner != kAlgorithms.end())
      out.inner = *inner;
    else if (next == 1 && (name == name_of(Algorithm::kFlat) || name == name_of(Algorithm::kHosts)))
      out.flat = name == name_of(Algorithm::kFlat);
    else if (std::ranges::find(kVendors, name) == std::end(kVendors))
      refuse(level, "names no algorithm of that level");
    else if (next == 0)
      tell_without_effect(name);
    ++next;
  }
  return out;
}

}  // namespace

bool can(Algorithm algorithm, const CollectiveDef& row, uint64_t bytes) {
  if (!row.shares) return algorithm == Algorithm::kNone;
  // In the full mesh the data lies in the posts. For no data the others would only wait once more.
  if (bytes == 0) return algorithm == Algorithm::kFullMesh;
  return algorithm == Algorithm::kFullMesh ? bytes <= kInlineBytes : algorithm != Algorithm::kNone;
}

uint64_t footprint(const CollectiveDef& row, uint64_t bytes, uint32_t ranks) {
  const uint64_t parts = row.has_root ? 1 : ranks;  // one rank has them all, or each
  return bytes * ranks * ((row.sends_parts ? parts : 1) + (row.receives_parts ? parts : 1));
}

// Where ranks share a processor, each wait lasts until the others have had it.
Crowd crowd_of(uint32_t ranks, const Costs& costs) {
  const double count = ranks;
  if (ranks > costs.processors) return {count / costs.processors, costs.switch_us * (count - costs.processors)};
  return {1, costs.meet_us * (count - 1)};
}

double rate_of(uint64_t footprint, const Costs& costs) {
  return footprint < kCacheBytes ? costs.cached_bytes_per_us : costs.memory_bytes_per_us;
}

Expected expected(const CollectiveDef& row, Algorithm algorithm, uint64_t bytes, uint32_t ranks, const Costs& costs) {
  const double count = ranks, size = static_cast<double>(bytes);
  const bool crowded = ranks > costs.processors, star = algorithm == Algorithm::kStar;
  const auto [share, wait] = crowd_of(ranks, costs);
  const double rate = rate_of(footprint(row, bytes, ranks), costs);
  const double way_back = crowded ? 2 * costs.switch_us : costs.meet_us / 2;  // from the centre of a star
  const Work ours = work(row, algorithm, size, count), least = work(row, Algorithm::kMesh, size, count);
  const double data = ours.posted / costs.posted_bytes_per_us * share + ours.bytes / rate * (star ? 1 : share);
  const double start = (costs.call_us + (ours.bytes > 0 ? costs.names_us : 0)) * share;
  return {start + ours.waits * wait + (star ? way_back : 0) + data, (least.posted + least.bytes) / rate * share};
}

Algorithm cheapest(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, const Costs& costs) {
  auto best = Algorithm::kNone;
  double least = 0;
  for (const Algorithm each : kAlgorithms) {
    if (!can(each, row, bytes)) continue;
    const double us = expected(row, each, bytes, ranks, costs).us;
    if (best == Algorithm::kNone || us < least) best = each, least = us;
  }
  return best;
}

std::vector<Plan> plans(uint32_t ranks) {
  if (ranks == 0 || ranks > kMostRanks)
    fault(Result::kParameter, "EI0003: there are plans for 1 to {} ranks, not for {}", kMostRanks, ranks);
  const AlgorithmChoice choice = AlgorithmChoice::of_environment();
  const Costs costs = shared_memory_costs(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Plan> out;
  for (const CollectiveDef* row : with_choice()) {
    for (uint64_t bytes = 4; bytes <= uint64_t{64} << 20; bytes *= 8) {
      const bool parts = row->sends_parts || row->receives_parts;
      const uint64_t counted = parts ? std::max<uint64_t>(bytes / ranks, 1) : bytes;
      const Algorithm how = choice.of(*row, counted, ranks, costs);
      out.push_back({row->algo_word, bytes, how, expected(*row, how, counted, ranks, costs)});
    }
  }
  return out;
}

AlgorithmChoice::AlgorithmChoice(std::string_view text, std::string_view source) {
  if (text.empty()) return;
  try {
    const std::vector<std::string_view> entries = split(text, '/');
    for (const std::string_view entry : entries) read_entry(entry, entries.size() == 1);
  } catch (const Fault& wrong) {
    fault(Result::kParameter, "EI0001: {} is '{}': {}", source, text, wrong.message());
  }
}

AlgorithmChoice AlgorithmChoice::of_environment() { return {detail::algorithms(), "HCCL_ALGO"}; }

void AlgorithmChoice::read_entry(std::string_view entry, bool alone) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) {
    if (!alone) refuse(entry, "names no operation, and there are several entries");
    const Levels asked = read_levels(entry);
    asked_.fill(asked.inner);
    flat_.fill(asked.flat);
    return;
  }
  const std::string_view name = entry.substr(0, equals);
  const auto rows = with_choice();
  const auto known =
      std::ranges::find(rows, name, [](const CollectiveDef* each) { return std::string_view(each->algo_word); });
  if (known == rows.end()) refuse(name, "is no operation");
  const Levels asked = read_levels(entry.substr(equals + 1));
  asked_[(*known)->id] = asked.inner;
  flat_[(*known)->id] = asked.flat;
}

Algorithm AlgorithmChoice::of(const CollectiveDef& row, uint64_t bytes, uint32_t ranks, const Costs& costs) const {
  const Algorithm asked = asked_[row.id];
  return can(asked, row, bytes) ? asked : cheapest(row, bytes, ranks, costs);
}

}  // namespace npu::comm
