// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/edit.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace npu::migrate {
namespace {

/// Where it stands in the text: what closes a wrapping before what begins at the same place.
bool before(const Edit& a, const Edit& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.closes != b.closes) return a.closes;
  if (const bool a_inserts = a.begin == a.end, b_inserts = b.begin == b.end; a_inserts != b_inserts) return a_inserts;
  return false;  // in the order made; what closes was put in reverse
}

/// Replaced ranges that share a byte, or an insertion strictly inside a replaced range.
bool cross(const Edit& a, const Edit& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

void Edits::wrap(size_t begin, size_t end, std::string before, std::string after, size_t change) {
  add({begin, begin, std::move(before), change, false});
  add({end, end, std::move(after), change, true});
}

bool Edits::inserted(size_t at) const {
  return std::ranges::any_of(edits_, [&](const Edit& edit) { return edit.begin == at && edit.end == at; });
}

bool Edits::replaced(size_t begin, size_t end) const {
  return std::ranges::any_of(
      edits_, [&](const Edit& edit) { return edit.begin < edit.end && edit.begin <= begin && end <= edit.end; });
}

std::vector<size_t> Edits::settle() {
  std::vector<Edit> closing, others;
  for (Edit& edit : edits_) (edit.closes ? closing : others).push_back(std::move(edit));
  std::ranges::reverse(closing);  // of two that close at one place, the inner was made later
  edits_ = std::move(closing);
  std::ranges::move(others, std::back_inserter(edits_));
  std::ranges::stable_sort(edits_, before);
  std::set<size_t> dropped;
  // The widest replaced range so far tells whether the next edit meets one of those before it.
  for (bool again = true; again;) {
    again = false;
    const Edit* reach = nullptr;
    for (const Edit& edit : edits_) {
      if (dropped.contains(edit.change)) continue;
      if (reach != nullptr && cross(*reach, edit) && reach->change != edit.change) {
        again = dropped.insert(std::max(reach->change, edit.change)).second || again;
        if (dropped.contains(reach->change)) break;
        continue;
      }
      if (reach == nullptr || edit.end > reach->end) reach = &edit;
    }
  }
  std::erase_if(edits_, [&](const Edit& edit) { return dropped.contains(edit.change); });
  return {dropped.begin(), dropped.end()};
}

namespace {

/// Bytes of whole lines, old and new.
struct Block {
  size_t begin, end, after_begin, after_end;
};

std::vector<Block> blocks(const std::vector<Edit>& edits, const Source& before) {
  std::vector<Block> out;
  size_t grown = 0;  // modulo 2^64: texts may shrink
  for (const Edit& edit : edits) {
    const size_t last = edit.end > edit.begin ? edit.end - 1 : edit.begin;
    const size_t first_line = before.line(edit.begin), next_line = before.line(last) + 1;
    const size_t begin = before.line_begin(first_line);
    const bool whole_lines = edit.begin == edit.end && edit.begin == begin && !edit.text.empty() &&
                             (edit.text.back() == '\n' || edit.text.back() == '\r');
    const size_t line_end = next_line <= before.line_count() ? before.line_begin(next_line) : before.bytes().size();
    const size_t end = whole_lines ? begin : line_end;
    if (out.empty() || begin > out.back().end || (begin == out.back().end && begin != out.back().begin))
      out.push_back({begin, end, begin + grown, 0});
    out.back().end = std::max(out.back().end, end);
    grown += edit.text.size() - (edit.end - edit.begin);
    out.back().after_end = out.back().end + grown;
  }
  return out;
}

std::string_view line_of(const Source& source, size_t line) {
  const size_t begin = source.line_begin(line);
  const size_t end = line < source.line_count() ? source.line_begin(line + 1) : source.bytes().size();
  return std::string_view(source.bytes()).substr(begin, end - begin);
}

/// The line after the last of a text that ends at `end`: an unfinished line counts.
size_t past_line(const Source& source, size_t end) {
  const size_t line = source.line(end);
  return source.line_begin(line) == end ? line : line + 1;
}

}  // namespace

std::vector<LineSpan> Edits::lines(const Source& before, const Source& after) const {
  std::vector<LineSpan> out;
  for (const Block& block : blocks(edits_, before)) {
    LineSpan span{before.line(block.begin), past_line(before, block.end), after.line(block.after_begin),
                  past_line(after, block.after_end)};
    const auto open = [&] { return span.begin < span.end && span.after_begin < span.after_end; };
    while (open() && line_of(before, span.begin) == line_of(after, span.after_begin)) ++span.begin, ++span.after_begin;
    while (open() && line_of(before, span.end - 1) == line_of(after, span.after_end - 1)) --span.end, --span.after_end;
    if (span.begin != span.end || span.after_begin != span.after_end) out.push_back(span);
  }
  return out;
}

std::string Edits::applied(const Source& source) const {
  const std::string& bytes = source.bytes();
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits_) {
    out.append(bytes, at, edit.begin - at).append(edit.text);
    at = std::max(at, edit.end);
  }
  return out.append(bytes, at);
}

std::string Edits::applied(const Source& source, size_t begin, size_t end, size_t change) const {
  std::string out;
  size_t at = begin;
  for (const Edit& edit : edits_) {
    if (edit.begin < begin || edit.end > end) continue;
    const bool inserts_at_an_end = edit.begin == edit.end && (edit.begin == begin || edit.end == end);
    if (inserts_at_an_end && edit.change != change) continue;
    out.append(source.bytes(), at, edit.begin - at).append(edit.text);
    at = std::max(at, edit.end);
  }
  return out.append(source.bytes(), at, end - at);
}

}  // namespace npu::migrate
