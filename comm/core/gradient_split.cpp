// SPDX-License-Identifier: Apache-2.0
#include "comm/core/gradient_split.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "base/setting.h"
#include "comm/core/fault.h"

namespace npu::comm {

namespace detail {
NPU_SETTING(int64_t, fusion_tensor_size, "FUSION_TENSOR_SIZE", 524288000,
            "Bytes of gradients that are sent together at most.");
}  // namespace detail

namespace {

constexpr double kDefaultCut = 96.54;  // best for ResNet-50, as the vendor measured it
constexpr double kRounded = 1e-6;      // 33.3, 33.3 and 33.4 are no sums of powers of two

struct Split {
  std::vector<uint32_t> last;
  std::vector<double> percent;
};

struct Splits {
  std::mutex mutex;
  std::map<std::string, Split> by_group;
  static Splits& get() {
    static Splits& instance = *new Splits;
    return instance;
  }
};

void check_count(size_t count, const char* what) {
  if (count == 0 || count > kMostSegments)
    fault(Result::kParameter, "EI0003: {} has {} entries; there are 1 to {} segments", what, count, kMostSegments);
}

std::vector<size_t> by_index(std::span<const uint32_t> last, size_t count) {
  std::vector<size_t> out;
  for (const uint32_t id : last)
    if (id + 1 < count) out.push_back(id);
  out.push_back(count - 1);
  return out;
}

/// Each cut goes to the gradient whose end is nearest to it, of two as near to the first.
std::vector<size_t> by_size(std::span<const double> percent, std::span<const int64_t> bytes) {
  const double total = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), int64_t{0}));
  std::vector<size_t> out;
  size_t next = 0;  // the first gradient of the segment
  double wanted = 0, before = 0;
  for (const double share : percent.first(percent.size() - 1)) {
    wanted += share / 100 * total;
    if (share == 0) continue;
    if (next == bytes.size()) break;
    before += static_cast<double>(bytes[next++]);
    while (next < bytes.size() &&
           std::abs(before + static_cast<double>(bytes[next]) - wanted) < std::abs(before - wanted))
      before += static_cast<double>(bytes[next++]);
    out.push_back(next - 1);
  }
  if (next < bytes.size()) out.push_back(bytes.size() - 1);
  return out;
}

Split split_of(const std::string& group) {
  Splits& all = Splits::get();
  const std::lock_guard lock(all.mutex);
  const auto at = all.by_group.find(group);
  return at == all.by_group.end() ? Split{} : at->second;
}

}  // namespace

void split_by_index(const std::string& group, std::span<const uint32_t> last) {
  check_count(last.size(), "the list of gradients");
  for (size_t i = 1; i < last.size(); ++i)
    if (last[i] <= last[i - 1])
      fault(Result::kParameter, "EI0003: gradient {} comes after {}; the last gradients of segments ascend", last[i],
            last[i - 1]);
  Splits& all = Splits::get();
  const std::lock_guard lock(all.mutex);
  all.by_group[group].last.assign(last.begin(), last.end());
}

void split_by_size(const std::string& group, std::span<const double> percent) {
  check_count(percent.size(), "the list of percentages");
  for (const double share : percent)
    if (!(share >= 0)) fault(Result::kParameter, "EI0003: a segment of {} %; percentages are 0 or more", share);
  const double total = std::accumulate(percent.begin(), percent.end(), 0.0);
  if (!(std::abs(total - 100) <= kRounded))
    fault(Result::kParameter, "EI0003: the percentages are {} together; they are 100", total);
  Splits& all = Splits::get();
  const std::lock_guard lock(all.mutex);
  all.by_group[group].percent.assign(percent.begin(), percent.end());
}

std::vector<size_t> segments(const std::string& group, std::span<const int64_t> bytes) {
  constexpr double kDefault[] = {kDefaultCut, 100 - kDefaultCut};
  if (bytes.empty()) return {};
  const Split split = split_of(group);
  if (!split.percent.empty()) return by_size(split.percent, bytes);
  return split.last.empty() ? by_size(kDefault, bytes) : by_index(split.last, bytes.size());
}

std::string to_string(std::span<const size_t> last) {
  std::string out;
  size_t first = 0;
  for (const size_t end : last) {
    out += fmt::format("{}[{},{}]", out.empty() ? "" : " ", first, end);
    first = end + 1;
  }
  return out;
}

std::string said_of_splits() {
  Splits& all = Splits::get();
  const std::lock_guard lock(all.mutex);
  std::string out = fmt::format("{} bytes", most_bytes_together());
  for (const auto& [group, split] : all.by_group)
    out += fmt::format("; {}: {} / {}", group, fmt::join(split.last, ","), fmt::join(split.percent, ","));
  return out;
}

int64_t most_bytes_together() { return detail::fusion_tensor_size(); }

void detail::forget_splits() {
  Splits& all = Splits::get();
  const std::lock_guard lock(all.mutex);
  all.by_group.clear();
}

}  // namespace npu::comm
