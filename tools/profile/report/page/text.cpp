// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "tools/profile/report/page/memory.h"
#include "tools/profile/report/page/modules.h"
#include "tools/profile/report/page/share.h"
#include "tools/profile/report/page/steps.h"

namespace npu::profile {
namespace {

constexpr size_t kOperators = 12, kCalls = 6, kCompiled = 6;

class Page {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  void time(std::string_view what, int64_t time, double share) {
    line("  {:<52} {:>12} ms {:>8}", what, milliseconds(time), percent(share));
  }
  void append(std::string_view text) { text_ += text; }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_findings(Page& page, const std::vector<Finding>& findings) {
  page.line("FINDINGS, the costliest first: what the run would be shorter by at most");
  if (findings.empty()) page.line("  none that costs a fiftieth of the time");
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& one = findings[i];
    page.line(" {:>2}. {}", i + 1, one.title);
    page.line("     cost   {} ms, {} of the device's time{}{}", milliseconds(one.cost), percent(one.share),
              one.who.empty() ? "" : ", on ", one.who);
    page.line("     where  {}", one.where);
    page.line("     cure   {}", one.cure);
  }
}

void add_times(Page& page, const Facts& facts) {
  const int64_t computing = length(facts.overlap.computing), alone = length(facts.overlap.communication_alone);
  const int64_t idle = facts.length() - facts.busy;
  page.line("\nTIME of {}: {} ms from its first operator to its last", facts.name, milliseconds(facts.length()));
  page.time("computes", computing, facts.share(computing));
  if (!facts.overlap.communication.empty()) {
    const int64_t all = length(facts.overlap.communication);
    page.time("communicates while it computes", all - alone, facts.share(all - alone));
    page.time("communicates alone", alone, facts.share(alone));
    page.time("  of all: waits for other ranks", facts.waited, facts.share(facts.waited));
  }
  page.time("copies alone", facts.busy - computing - alone, facts.share(facts.busy - computing - alone));
  page.time("idle", idle, facts.share(idle));
  page.time("  host-bound: nothing was queued", idle - facts.idle.parts[Cause::kStart],
            facts.share(idle - facts.idle.parts[Cause::kStart]));
  for (size_t i = 0; i < kCauses; ++i)
    if (const auto cause = static_cast<Cause>(i); facts.idle.parts[cause] > 0)
      page.time(fmt::format("  {}", words_of(cause)), facts.idle.parts[cause], facts.share(facts.idle.parts[cause]));
}

int64_t sum_of(const Rows& rows) {
  int64_t sum = 0;
  for (const Row& row : rows) sum += row.total.time;
  return sum;
}

void add_rows(Page& page, std::string_view head, const Rows& rows, size_t most) {
  if (rows.empty()) return;
  const auto all = static_cast<double>(std::max<int64_t>(1, sum_of(rows)));
  page.line("\n{:<38} {:<15} {:>8} {:>12} {:>8} {:>12}", head, "unit", "count", "ms", "share", "mean us");
  for (const Row& row : rows | std::views::take(most))
    page.line("  {:<36} {:<15} {:>8} {:>12} {:>8} {:>12.1f}", row.name, row.unit, row.total.count,
              milliseconds(row.total.time), percent(static_cast<double>(row.total.time) / all),
              static_cast<double>(row.total.time) / 1e3 / static_cast<double>(row.total.count));
  if (rows.size() > most) page.line("  … and {} more", rows.size() - most);
}

void add_ranks(Page& page, std::span<const Facts> all) {
  page.line("\nRANKS {:>32} {:>12} {:>12} {:>12}", "computes ms", "waits ms", "idle ms", "span ms");
  for (const Facts& facts : all)
    page.line("  {:<24} {:>12} {:>12} {:>12} {:>12}", facts.name, milliseconds(length(facts.overlap.computing)),
              milliseconds(facts.waited), milliseconds(facts.length() - facts.busy), milliseconds(facts.length()));
}

}  // namespace

std::string text_page(std::span<const Facts> all, const std::vector<Finding>& findings) {
  Page page;
  add_findings(page, findings);
  if (all.size() > 1) add_ranks(page, all);
  for (const Facts& facts : all) {
    add_times(page, facts);
    page.append(steps_text(facts));
    add_rows(page, "FAMILIES", facts.units, facts.units.size());
    add_rows(page, "OPERATORS", facts.types, kOperators);
    page.append(modules_text(facts));
    if (facts.streams.size() > 1) add_rows(page, "STREAMS", facts.streams, facts.streams.size());
    add_rows(page, "COMPILED, and why", facts.compiled, kCompiled);
    add_rows(page, "NODES OF GRAPHS ON THE HOST", facts.host_nodes, kCompiled);
    add_rows(page, "CALLS OF THE HOST", facts.calls, kCalls);
    page.append(memory_text(facts));
  }
  return std::move(page).text();
}

}  // namespace npu::profile
