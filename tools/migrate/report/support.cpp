// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "tools/migrate/report/sheet.h"
#include "tools/migrate/text/built_in.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr size_t kLargestList = size_t{64} << 20;

std::vector<std::string> columns(std::string_view line) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= line.size();) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    out.emplace_back(line.substr(at, tab - at));
    at = tab + 1;
  }
  return out;
}

template <class Take>
void each_line(std::string_view text, const Take& take) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string full(std::string name) { return name.starts_with("tf.") ? "tensorflow." + name.substr(3) : name; }

const SupportLabel* by_support(std::string_view support) {
  const auto found = std::ranges::find(SupportList::labels(), support, &SupportLabel::support);
  return found == SupportList::labels().end() || support == "-" ? nullptr : &*found;
}

/// The vendor's lists write labels with either kind of brackets, and shorter in places.
const SupportLabel* by_label(std::string_view label) {
  const auto begin = [](std::string_view text) { return text.substr(0, std::min(text.find("（"), text.find('('))); };
  for (const SupportLabel& each : SupportList::labels())
    if (each.label == label) return &each;
  if (label.starts_with("不支持")) return by_support(label.find("不影响") == label.npos ? "unsupported" : "no_effect");
  for (const SupportLabel& each : SupportList::labels())
    if (begin(each.label) == begin(label)) return &each;
  return nullptr;
}

}  // namespace

const std::vector<SupportLabel>& SupportList::labels() {
  static const std::vector<SupportLabel> all = [] {
    std::vector<SupportLabel> out;
    each_line(migrate::built_in("label.tsv"), [&](std::string_view line, size_t) {
      const std::vector<std::string> row = columns(line);
      if (!line.starts_with('#') && row.size() >= 3) out.push_back({row[0], row[1], row[2]});
    });
    return out;
  }();
  return all;
}

SupportList SupportList::built_in(std::string_view framework) {
  SupportList out;
  const std::string file = fmt::format("{}.tsv", framework);
  out.read_text(file, migrate::built_in(file));
  out.settle();
  return out;
}

SupportList SupportList::read(const std::string& path) {
  SupportList out;
  if (path.ends_with(".xlsx"))
    out.read_rows(path, read_sheet(path));
  else
    out.read_text(path, read_source(path, kLargestList).bytes());
  out.settle();
  return out;
}

void SupportList::read_text(const std::string& file, std::string_view text) {
  each_line(text, [&](std::string_view line, size_t number) {
    std::vector<std::string> row = columns(line);
    if (row[0] == "# alias" && row.size() == 3) aliases_[row[1]] = row[2];
    if (line.empty() || line.starts_with('#')) return;
    const SupportLabel* label = row.size() < 2 ? nullptr : by_support(row[1]);
    if (label == nullptr)
      throw Refusal(
          fmt::format("{}:{}: a line is: name, TAB, support, TAB, note; support is native, host, migrated, "
                      "no_effect, unsupported, removed or unknown",
                      file, number));
    add(std::move(row[0]), label, row.size() > 2 ? std::move(row[2]) : "");
  });
}

void SupportList::read_rows(const std::string& file, const Cells& rows) {
  const auto refuse = [&](const char* heading) {
    throw Refusal(
        fmt::format("{}: its first sheet has no column {}; give the vendor's list of supported APIs or a text "
                    "list of ours (docs/migrate.md)",
                    file, heading));
  };
  if (rows.empty()) refuse("API名");
  const auto column = [&](const char* heading, bool must) {
    const auto found = std::ranges::find(rows[0], heading);
    if (found == rows[0].end() && must) refuse(heading);
    return static_cast<size_t>(found - rows[0].begin());
  };
  const size_t name = column("API名", true), label = column("工具迁移API支持度", true), note = column("说明", false);
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto text = [&](size_t at) { return at < rows[i].size() ? rows[i][at] : std::string(); };
    if (text(name).empty()) continue;
    const SupportLabel* known = by_label(text(label));
    add(text(name), known == nullptr ? by_support("unknown") : known, text(note));
  }
}

void SupportList::add(std::string name, const SupportLabel* label, std::string note) {
  entries_.push_back({full(std::move(name)), label, std::move(note)});
}

void SupportList::settle() {
  if (!std::ranges::is_sorted(entries_, {}, &Entry::name)) std::ranges::stable_sort(entries_, {}, &Entry::name);
}

const SupportList::Entry* SupportList::exact(std::string_view name) const {
  const auto at = std::ranges::lower_bound(entries_, name, {}, [](const Entry& e) { return std::string_view(e.name); });
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

bool SupportList::holds_more(std::string_view name) const {
  const std::string begin = std::string(name) + ".";
  const auto at = std::ranges::lower_bound(entries_, begin, {}, &Entry::name);
  return at != entries_.end() && at->name.starts_with(begin);
}

SupportList::Found SupportList::find(std::string name) const {
  for (const auto& [from, to] : std::views::reverse(aliases_))  // longer ones first
    if (name.starts_with(from)) {
      name = to + name.substr(from.size());
      break;
    }
  if (holds_more(name) && exact(name) == nullptr) return {};
  for (std::string_view at = name; at.find('.') != at.npos; at = at.substr(0, at.rfind('.'))) {
    if (const Entry* entry = exact(at)) return {entry->label, entry->note};
    if (at != name && holds_more(at)) break;  // a module: it has no such name
  }
  return {by_support("unknown"), ""};
}

std::string SupportList::shown(std::string_view name) {
  if (name.starts_with("tensorflow.")) return "tf" + std::string(name.substr(10));
  if (name.starts_with("horovod.tensorflow.")) return "hvd" + std::string(name.substr(18));
  return std::string(name);
}

std::string SupportList::module_of(std::string_view shown) {
  const size_t first = shown.find('.');
  const size_t second = shown.starts_with("tf.compat.v1.") ? 12 : shown.find('.', first + 1);
  return std::string(shown.substr(0, second == shown.npos ? first : second));
}

}  // namespace npu::migrate
