// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/value.h"

#include <algorithm>

namespace npu::migrate {
namespace {

/// What stands before the first step.
std::string_view mark_of(Value::Root root) {
  if (root == Value::Root::kProject) return ":";
  return root == Value::Root::kUnknown ? "?" : "";
}

}  // namespace

std::string Value::spelled() const {
  std::string out;
  spell_into(out);
  return out;
}

void Value::spell_into(std::string& out) const {
  out = text;
  if (is_text() || is_constant()) return;
  out.append(held, '(');
  out += mark_of(root);
  spell(path, is_name(), out);
}

size_t Value::spelled_size() const {
  return held + mark_of(root).size() + text.size() + migrate::spelled_size(path, is_name());
}

void Values::add(Value value) {
  if (std::ranges::find(list_, value) != list_.end()) return;
  if (list_.size() < kMost)
    list_.push_back(std::move(value));
  else if (!open())
    list_.back() = Value::unknown();
}

void Values::add(const Values& others) {
  for (const Value& value : others) add(value);
}

bool Values::open() const { return std::ranges::any_of(list_, &Value::is_unknown); }

std::string Values::spelled() const {
  std::string out;
  for (const Value& value : list_) {
    if (!out.empty()) out += " or ";
    out += value.is_text() ? '"' + value.text + '"' : value.spelled();
  }
  return out;
}

}  // namespace npu::migrate
