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

}  // namespace npu::migrate
