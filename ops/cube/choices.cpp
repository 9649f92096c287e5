// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/choices.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ops/cube/choices_table.h"

namespace npu::ops::cube {
namespace {

thread_local std::optional<bool> forced;  // NOLINT: of a bench

// The table's rows of one CPU stand together.
std::span<const Choices> rows_of(CpuClass cpu) {
  const auto found = std::ranges::equal_range(kChoices, cpu, {}, &Choices::cpu);
  return {found.begin(), found.end()};
}

std::span<const Choices> find_choices() {
  const CpuClass cpu = cpu_class();
  if (cpu == CpuClass::kOther) return {};
  const auto own = rows_of(cpu);
  return own.empty() ? rows_of(CpuClass::kZen4) : own;
}

}  // namespace

const char* name_of(CpuClass cpu) {
  switch (cpu) {
    case CpuClass::kZen4: return "Zen 4";
    case CpuClass::kZen5: return "Zen 5";
    default: return "another CPU";
  }
}

std::span<const Choices> choices() {
  static const std::span<const Choices> found = find_choices();
  return found;
}

bool takes_own(const ShapeClass& s) {
  if (forced.has_value()) return *forced;
  const Choices* found = nullptr;
  for (const Choices& row : choices()) {
    if (row.work == s.work && row.dtype == s.dtype && row.variant == s.variant && row.least_rows <= s.rows)
      found = &row;
  }
  if (found == nullptr) return false;
  const int bits = std::bit_width(static_cast<uint64_t>(s.weights));
  const auto size = static_cast<size_t>(std::max(bits - kFirstSize, 0));
  return found->ways[std::min(size, found->ways.size() - 1)] == 'o';
}

ForcedWay::ForcedWay(bool own) { forced = own; }
ForcedWay::~ForcedWay() { forced.reset(); }

}  // namespace npu::ops::cube
