// SPDX-License-Identifier: Apache-2.0
#include "comm/core/order.h"

#include <fmt/format.h>

#include <utility>

namespace npu::comm {
namespace {

constexpr std::string_view kMore = "...";  // the line behind the last that had room

/// What stands before `at`, which goes with it; all where there is none.
std::string_view cut(std::string_view& rest, std::string_view at) {
  const size_t end = rest.find_first_of(at);
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return head;
}

bool shapes_fit(std::string_view one, std::string_view other) {
  if (one == other || one == "?" || other == "?") return true;
  while (!one.empty() && !other.empty()) {
    const std::string_view a = cut(one, ",]"), b = cut(other, ",]");
    if (a != b && !a.ends_with('?') && !b.ends_with('?')) return false;
  }
  return one.empty() && other.empty();
}

bool lines_fit(std::string_view one, std::string_view other) {
  return cut(one, "\t") == cut(other, "\t") && shapes_fit(one, other);
}

std::string told(std::string_view line) {
  if (line.empty()) return "none any more";
  const std::string_view what = cut(line, "\t");
  return fmt::format("{}{}", what, line);
}

}  // namespace

Order::Order(std::string_view function) : text_(fmt::format("{}\n", function)) {}

void Order::add(std::string_view what, std::string_view shape) {
  if (full_) return;
  const std::string line = fmt::format("{}\t{}\n", what, shape);
  full_ = text_.size() + line.size() + kMore.size() > kMostBytes;
  text_ += full_ ? kMore : std::string_view(line);
}

std::optional<OrderDifference> order_difference(std::string_view one, std::string_view other) {
  const std::string_view function = cut(one, "\n");
  cut(other, "\n");
  if (one == other) return {};
  for (size_t place = 1; !one.empty() || !other.empty(); ++place) {
    const std::string_view a = cut(one, "\n"), b = cut(other, "\n");
    if (a == kMore || b == kMore) return {};
    if (!lines_fit(a, b)) return OrderDifference{std::string(function), place, told(a), told(b)};
  }
  return {};
}

std::unique_ptr<const Order> Announcement::taken(std::string_view group) {
  const std::lock_guard lock(mutex_);
  const auto found = orders_.find(group);
  if (found == orders_.end()) return nullptr;
  auto order = std::make_unique<const Order>(std::move(found->second));
  orders_.erase(found);
  return order;
}

}  // namespace npu::comm
