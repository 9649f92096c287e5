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
#include "comm/transport/shared_memory/board.h"

namespace npu::comm {

namespace detail {
NPU_SETTING(std::string, algorithms, "HCCL_ALGO", "",
            "How collectives share their work, as level0:mesh;level1:NA or allreduce=level0:star;level1:NA/reduce=…: "
            "fullmesh, mesh or star; NA, nothing or another of the vendor's words: the cheapest by a model (anynpu "
            "collectives).");
}  // namespace detail

namespace {

// Measured on 2 processors at 3 GHz (32 MB of third cache) with tests/bench/collective_bench.py under HCCL_ALGO, 2 to 8
// ranks: calls of 4 bytes for the waits, of 1 KB to 64 MB for the rates. Machines differ by factors, and so do all of
// these together: what is cheapest depends on their ratios.
constexpr double kCallUs = 0.07;            // of each rank, whatever the call
constexpr double kNamesUs = 0.12;           // to find where others have their buffers
constexpr double kMeetUs = 0.13;            // until a rank sees that another has come
constexpr double kSwitchUs = 1.15;          // the same, when it must get a processor first
constexpr double kPostBytesPerUs = 30e3;    // read and written, through the posts: lines that others have just written
constexpr double kCachedBytesPerUs = 80e3;  // the same where buffers are
constexpr double kMemoryBytesPerUs = 12e3;  // the same past the cache

constexpr std::array kAlgorithms = {Algorithm::kFullMesh, Algorithm::kMesh, Algorithm::kStar};

/// Bytes that the busiest rank reads and writes: in the posts, where buffers are; and how often all wait for all.
struct Work {
  double posted, bytes, waits;
};

Work work(Kind kind, Algorithm algorithm, double bytes, double ranks) {
  const bool parts = kind == Kind::kReduceScatter || kind == Kind::kAllToAll || kind == Kind::kScatter;
  const bool posted = (parts ? bytes * ranks : bytes) <= kInlineBytes;
  switch (kind) {
    case Kind::kAllReduce:
      if (algorithm == Algorithm::kFullMesh) return {bytes * (ranks + 3), 0, 1};
      return algorithm == Algorithm::kMesh ? Work{0, 2 * bytes, 2} : Work{0, 2 * bytes * ranks, 1};
    case Kind::kReduce:
      if (algorithm == Algorithm::kFullMesh) return {bytes * (ranks + 3), 0, 1};
      return algorithm == Algorithm::kMesh ? Work{0, bytes * (1 + 1 / ranks), 2} : Work{0, bytes * (ranks + 1), 1};
    case Kind::kReduceScatter: return posted ? Work{bytes * (3 * ranks + 1), 0, 1} : Work{0, bytes * (ranks + 1), 2};
    case Kind::kAllGather: return posted ? Work{2 * bytes * (ranks + 1), 0, 1} : Work{0, 2 * bytes * ranks, 2};
    case Kind::kAllToAll: return posted ? Work{4 * bytes * ranks, 0, 1} : Work{0, 2 * bytes * ranks, 2};
    case Kind::kBroadcast: return posted ? Work{4 * bytes, 0, 1} : Work{0, 2 * bytes, 2};
    case Kind::kScatter: return posted ? Work{2 * bytes * (ranks + 1), 0, 1} : Work{0, 2 * bytes, 2};
    default: return {0, 0, 1};
  }
}

struct Name {
  const char* text;
  Kind kind;
};
constexpr Name kOperations[] = {{"allgather", Kind::kAllGather}, {"reducescatter", Kind::kReduceScatter},
                                {"allreduce", Kind::kAllReduce}, {"broadcast", Kind::kBroadcast},
                                {"reduce", Kind::kReduce},       {"scatter", Kind::kScatter},
                                {"alltoall", Kind::kAllToAll}};
// The vendor's words for any level. Level 0 is within a host: there only its fullmesh is one of our ways.
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
        "allgather, reducescatter, allreduce, broadcast, reduce, scatter and alltoall; A and B (and level2) are NA, "
        "fullmesh, ring, doublering, H-D_R, NHR, NHR_V1, NB, AHC, pipeline or pairwise, A also mesh or star",
        part, reason);
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

/// What "level0:mesh;level1:NA" says of level 0. The other levels are between hosts.
Algorithm read_levels(std::string_view levels) {
  Algorithm out = Algorithm::kNone;
  int next = 0;
  for (const std::string_view level : split(levels, ';')) {
    if (next > 2 || !level.starts_with(fmt::format("level{}:", next))) refuse(level, "is not the level expected there");
    const std::string_view name = level.substr(7);
    const auto* inner = std::ranges::find_if(kAlgorithms, [&](Algorithm each) { return name == name_of(each); });
    if (next == 0 && inner != kAlgorithms.end())
      out = *inner;
    else if (std::ranges::find(kVendors, name) == std::end(kVendors))
      refuse(level, "names no algorithm of that level");
    else if (next == 0)
      tell_without_effect(name);
    ++next;
  }
  return out;
}

}  // namespace

bool can(Algorithm algorithm, Kind kind, uint64_t bytes) {
  if (kind != Kind::kAllReduce && kind != Kind::kReduce) return algorithm == Algorithm::kNone;
  // In the full mesh the data lies in the posts. For no data the others would only wait once more.
  if (bytes == 0) return algorithm == Algorithm::kFullMesh;
  return algorithm == Algorithm::kFullMesh ? bytes <= kInlineBytes : algorithm != Algorithm::kNone;
}

uint64_t footprint(Kind kind, uint64_t bytes, uint32_t ranks) {
  switch (kind) {
    case Kind::kReduceScatter:
    case Kind::kAllGather: return bytes * ranks * (ranks + 1);
    case Kind::kAllToAll: return bytes * ranks * ranks * 2;
    default: return bytes * ranks * 2;
  }
}

// Where ranks share a processor, each wait lasts until the others have had it.
Expected expected(Kind kind, Algorithm algorithm, uint64_t bytes, uint32_t ranks, uint32_t processors) {
  const double count = ranks, size = static_cast<double>(bytes);
  const bool crowded = ranks > processors, star = algorithm == Algorithm::kStar;
  const double share = crowded ? count / processors : 1;  // ranks of one processor
  const double rate = footprint(kind, bytes, ranks) < kCacheBytes ? kCachedBytesPerUs : kMemoryBytesPerUs;
  const double wait = crowded ? kSwitchUs * (count - processors) : kMeetUs * (count - 1);
  const double way_back = crowded ? 2 * kSwitchUs : kMeetUs / 2;  // from the centre of a star
  const Work ours = work(kind, algorithm, size, count), least = work(kind, Algorithm::kMesh, size, count);
  const double data = ours.posted / kPostBytesPerUs * share + ours.bytes / rate * (star ? 1 : share);
  const double start = (kCallUs + (ours.bytes > 0 ? kNamesUs : 0)) * share;
  return {start + ours.waits * wait + (star ? way_back : 0) + data, (least.posted + least.bytes) / rate * share};
}

Algorithm cheapest(Kind kind, uint64_t bytes, uint32_t ranks, uint32_t processors) {
  auto best = Algorithm::kNone;
  double least = 0;
  for (const Algorithm each : kAlgorithms) {
    if (!can(each, kind, bytes)) continue;
    const double us = expected(kind, each, bytes, ranks, processors).us;
    if (best == Algorithm::kNone || us < least) best = each, least = us;
  }
  return best;
}

std::vector<Plan> plans(uint32_t ranks) {
  if (ranks == 0 || ranks > kMostRanks)
    fault(Result::kParameter, "EI0003: there are plans for 1 to {} ranks, not for {}", kMostRanks, ranks);
  const AlgorithmChoice choice = AlgorithmChoice::of_environment();
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Plan> out;
  for (const Name& operation : kOperations) {
    for (uint64_t bytes = 4; bytes <= uint64_t{64} << 20; bytes *= 8) {
      const Kind kind = operation.kind;
      const bool parts =
          kind == Kind::kAllGather || kind == Kind::kReduceScatter || kind == Kind::kAllToAll || kind == Kind::kScatter;
      const uint64_t counted = parts ? std::max<uint64_t>(bytes / ranks, 1) : bytes;
      const Algorithm how = choice.of(kind, counted, ranks, processors);
      out.push_back({operation.text, bytes, how, expected(kind, how, counted, ranks, processors)});
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
    return asked_.fill(read_levels(entry));
  }
  const std::string_view name = entry.substr(0, equals);
  const auto* known = std::ranges::find_if(kOperations, [&](const Name& each) { return name == each.text; });
  if (known == std::end(kOperations)) refuse(name, "is no operation");
  asked_[static_cast<size_t>(known->kind)] = read_levels(entry.substr(equals + 1));
}

Algorithm AlgorithmChoice::of(Kind kind, uint64_t bytes, uint32_t ranks, uint32_t processors) const {
  const Algorithm asked = asked_[static_cast<size_t>(kind)];
  return can(asked, kind, bytes) ? asked : cheapest(kind, bytes, ranks, processors);
}

}  // namespace npu::comm
