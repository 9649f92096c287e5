// SPDX-License-Identifier: Apache-2.0
// What tells one collective from another: a row, which the collective's own file registers. Whatever differs between
// them is asked of the row; nothing else lists them.
//
//   NPU_COLLECTIVE(kScatter, .id = 6, .name = "scatter", .has_root = true, .sends_parts = true, .body = take_part);
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace npu::comm {

class Meeting;
enum class Algorithm : uint8_t;

/// Bytes that the busiest rank reads and writes: in the posts, where buffers are; and how often all wait for all.
struct Work {
  double posted = 0, bytes = 0, waits = 1;
};

/// What the work of a call depends on. `bytes` are those of its count.
struct Load {
  Algorithm algorithm;
  double bytes, ranks;
  bool posted;  ///< its data lies in the posts
};

/// The same where ranks are on several hosts.
struct Passed {
  double steps = 1;     ///< from host to host, one after the other
  double messages = 0;  ///< that the busiest rank sends or gets
  double bytes = 0;     ///< that the busiest host sends or gets
  double worked = 0;    ///< that the busiest rank reads and writes
};

/// What that depends on: `hosts` of `ranks` each. `flat`: all ranks' data is passed, not a host's sum.
struct LoadBetween {
  double bytes, hosts, ranks;
  bool posted, flat;
};

struct CollectiveDef {
  uint32_t id = 0;                  ///< in calls, which processes share: 1 to kMostCollectives - 1; lists follow it
  const char* name = "";            ///< "all_reduce", as texts write it
  const char* algo_word = nullptr;  ///< "allreduce", as HCCL_ALGO writes it; null where it has no say
  bool moves = true;                ///< its calls have elements
  bool reduces = false;             ///< elements are of types that can be reduced, else of any
  bool has_root = false;
  bool counts_agree = true;     ///< every rank must give the same count
  bool shares = false;          ///< ranks share the work in one of several ways (Algorithm)
  bool posts = true;            ///< little data lies in the posts: each rank knows how much the others send
  bool sends_parts = false;     ///< the send buffer (of the root) has so many elements for each rank
  bool receives_parts = false;  ///< the receive buffer has so many of each rank
  Work (*work)(const Load& load) = nullptr;             ///< for the model of costs; null: nothing but the wait
  Passed (*passed)(const LoadBetween& load) = nullptr;  ///< the same between hosts
  void (*body)(Meeting& meeting) = nullptr;  ///< what a rank does when all have come; null: nothing, or no meeting
  void (*between)(Meeting& meeting) =
      nullptr;  ///< the same where ranks are on several hosts, and those of its own have
};

inline constexpr uint32_t kMostCollectives = 64;

namespace detail {
extern std::array<const CollectiveDef*, kMostCollectives> rows;  // null where nobody registered one
extern const CollectiveDef unknown;
}  // namespace detail

/// The row of that number; of one that nobody registered, a row named "nothing" (0) or "unknown".
inline const CollectiveDef& collective(uint32_t id) {
  return id < kMostCollectives && detail::rows[id] != nullptr ? *detail::rows[id] : detail::unknown;
}
/// All that are registered, by number.
std::vector<const CollectiveDef*> collectives();

/// Ends the process when the number is out of range or another collective's.
struct CollectiveRegistration {
  explicit CollectiveRegistration(const CollectiveDef& row);
};

}  // namespace npu::comm

/// Registers a collective; `symbol` is its row.
#define NPU_COLLECTIVE(symbol, ...)                         \
  constexpr ::npu::comm::CollectiveDef symbol{__VA_ARGS__}; \
  const ::npu::comm::CollectiveRegistration register_##symbol(symbol)
