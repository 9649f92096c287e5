// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/difference/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

namespace npu::profile {
namespace {

constexpr size_t kShown = 20;

struct Pair {
  std::string name;
  Total a, b;
  int64_t difference() const { return b.time - a.time; }
};

struct Side {
  Rows types, modules, calls;
  int64_t span = 0, busy = 0;  ///< of the device that took longest
  uint64_t operators = 0;
};

void join(Rows& all, const Rows& some) { all.insert(all.end(), some.begin(), some.end()); }

/// What each asks for itself, its gradient too.
Rows rows_of(const Modules& modules) {
  Rows rows;
  for (const ModuleTime& one : modules.rows) {
    Row& row = rows.emplace_back(Row{one.name, "", one.forward});
    row.total.add(one.gradient);
  }
  return rows;
}

Side side_of(const std::vector<Trace>& traces) {
  Side side;
  for (const Facts& facts : facts_of(traces)) {
    join(side.types, facts.types);
    if (facts.modules.known) join(side.modules, rows_of(facts.modules));
    side.operators += facts.tasks.size();
    if (facts.length() > side.span) side.span = facts.length(), side.busy = facts.busy;
  }
  for (const Trace& trace : traces) join(side.calls, calls_of(trace));
  return side;
}

std::vector<Pair> pairs_of(const Rows& a, const Rows& b) {
  std::map<std::string, Pair> found;
  for (const Row& row : a) found[row.name].a.add(row.total);
  for (const Row& row : b) found[row.name].b.add(row.total);
  std::vector<Pair> pairs;
  for (auto& [name, pair] : found) pair.name = name, pairs.push_back(pair);
  std::ranges::stable_sort(pairs, std::greater<>(), [](const Pair& pair) { return std::abs(pair.difference()); });
  return pairs;
}

double ms(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

std::string table(std::string_view head, const Rows& a, const Rows& b) {
  const std::vector<Pair> pairs = pairs_of(a, b);
  if (pairs.empty()) return "";
  std::string out = fmt::format("\n{:<38} {:>9} {:>9} {:>12} {:>12} {:>13}\n", head, "count A", "count B", "A ms",
                                "B ms", "B - A ms");
  for (const Pair& pair : pairs | std::views::take(kShown))
    fmt::format_to(std::back_inserter(out), "  {:<36} {:>9} {:>9} {:>12.3f} {:>12.3f} {:>+13.3f}\n", pair.name,
                   pair.a.count, pair.b.count, ms(pair.a.time), ms(pair.b.time), ms(pair.difference()));
  if (pairs.size() > kShown) out += fmt::format("  … and {} more\n", pairs.size() - kShown);
  return out;
}

std::string relation(int64_t a, int64_t b) {
  return a > 0 ? fmt::format(" ({:+.1f} %)", 100 * static_cast<double>(b - a) / static_cast<double>(a)) : "";
}

}  // namespace

std::string difference_page(const std::vector<Trace>& a, const std::vector<Trace>& b) {
  const Side left = side_of(a), right = side_of(b);
  std::string out = fmt::format(
      "B takes {:.3f} ms, A {:.3f} ms{}; the device is busy {:.3f} and {:.3f} ms, with {} and {} operators\n",
      ms(right.span), ms(left.span), relation(left.span, right.span), ms(right.busy), ms(left.busy), right.operators,
      left.operators);
  out += table("OPERATORS", left.types, right.types);
  out += table("MODULES", left.modules, right.modules);
  return out + table("CALLS OF THE HOST", left.calls, right.calls);
}

}  // namespace npu::profile
