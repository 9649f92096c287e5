// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/access_path.h"

#include <algorithm>

namespace npu::migrate {
namespace {

size_t digits(uint32_t number) {
  size_t out = 1;
  for (; number > 9; number /= 10) ++out;
  return out;
}

/// What stands before and behind a step's name or number; a step that `begins` has no dot of its own.
struct Marks {
  std::string_view before, behind;
};

Marks marks_of(Step::How how, bool begins) {
  switch (how) {
    case Step::How::kAttribute: return {begins ? "" : ".", ""};
    case Step::How::kCall: return {"(", ")"};
    case Step::How::kElement:
    case Step::How::kPlace: return {"[", "]"};
    case Step::How::kLocal: return {begins ? "<" : ".<", ">"};
    case Step::How::kDictionary: return {".{", "}"};
    case Step::How::kEntry: return {".[", "]"};
  }
  return {};
}

bool has_number(Step::How how) {
  return how == Step::How::kPlace || how == Step::How::kLocal || how == Step::How::kDictionary;
}

}  // namespace

AccessPath dotted(std::string_view text) {
  AccessPath out;
  if (text.empty()) return out;
  for (size_t dot; (dot = text.find('.')) != text.npos; text.remove_prefix(dot + 1))
    out.push_back(Step::attribute(text.substr(0, dot)));
  out.push_back(Step::attribute(text));
  return out;
}

AccessPath spelled_path(std::string_view text) {
  AccessPath out;
  for (size_t end; !text.empty(); text.remove_prefix(end)) {
    end = 2;
    if (text.starts_with("()")) {
      out.push_back(Step::call());
    } else if (text.starts_with("[]")) {
      out.push_back(Step::element());
    } else {
      if (text.starts_with('.')) text.remove_prefix(1);
      // A bracket here closes nothing: a damaged program's name, of which it is a part.
      const bool bracket = text.starts_with('(') || text.starts_with('[');
      end = std::min(text.find_first_of(".([", bracket ? 1 : 0), text.size());
      out.push_back(Step::attribute(text.substr(0, end)));
    }
  }
  return out;
}

AccessPath joined(Steps first, Steps then) {
  AccessPath out;
  out.reserve(first.size() + then.size());
  out.assign(first.begin(), first.end());
  out.insert(out.end(), then.begin(), then.end());
  return out;
}

size_t first_part(Steps steps) {
  size_t count = std::min<size_t>(1, steps.size());
  while (count < steps.size() && !steps[count].names()) ++count;
  return count;
}

void spell(Steps steps, bool begins, std::string& out) {
  for (const Step& step : steps) {
    const auto [before, behind] = marks_of(step.how, begins);
    out.append(before);
    if (has_number(step.how))
      out.append(std::to_string(step.number));
    else
      out.append(step.name.text());
    out.append(behind);
    begins = false;
  }
}

size_t spelled_size(Steps steps, bool begins) {
  size_t out = 0;
  for (const Step& step : steps) {
    const auto [before, behind] = marks_of(step.how, begins);
    out += before.size() + behind.size() + (has_number(step.how) ? digits(step.number) : step.name.text().size());
    begins = false;
  }
  return out;
}

size_t hash_of(const Step& step) {
  return step.name.hash() * 8 + static_cast<size_t>(step.how) + step.number * 0x9E37U;
}

size_t hash_of(Steps steps) {
  size_t out = steps.size();
  for (const Step& step : steps) out = (out ^ hash_of(step)) * 0x9E3779B97F4A7C15U;
  return out ^ (out >> 32U);
}

bool StepsEqual::operator()(Steps a, Steps b) const { return std::ranges::equal(a, b); }

}  // namespace npu::migrate
