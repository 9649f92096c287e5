// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/value.h"

#include <algorithm>

namespace npu::migrate {

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

bool Values::open() const {
  return std::ranges::any_of(list_, [](const Value& value) { return value.what == Value::What::kUnknown; });
}

std::string Values::spelled() const {
  std::string out;
  for (const Value& value : list_) {
    if (!out.empty()) out += " or ";
    out += value.is_text() ? '"' + value.text + '"' : value.text;
  }
  return out;
}

}  // namespace npu::migrate
