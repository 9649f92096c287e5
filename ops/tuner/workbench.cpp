// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/workbench.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <variant>

#include "ops/vector/chain/chain.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops::tuning {
namespace {

bool has_memory(const Tensor& tensor) { return tensor.defined() && tensor.data != nullptr && tensor.count() > 0; }

int64_t span_bytes(const Tensor& tensor) { return tensor.span() * static_cast<int64_t>(size_of(tensor.dtype)); }

void copy_fields(Operator& from, Operator& to) {
  for (const Field& field : from.def->fields) {
    Member source = field.locate(from), target = field.locate(to);
    std::visit([&](auto* member) { *std::get<decltype(member)>(target) = *member; }, source);
  }
}

/// Elements in the order in which they lie, as doubles. Views with gaps hold more than their elements; so be it.
std::vector<double> numbers(const std::byte* from, DType dtype, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  converter(dtype, DType::kDouble)(from, 1, out.data(), 1, count);
  return out;
}

// Of the largest magnitude: longer sums in another order for wide types, one rounding and a little for narrow ones.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kHalf: return 4 * 0x1p-10;
    case DType::kBFloat16: return 4 * 0x1p-7;
    case DType::kFloat: return 256 * 0x1p-23;
    case DType::kDouble: return 256 * 0x1p-52;
    default: return 0;
  }
}

bool numbers_agree(const std::byte* a, const std::byte* b, DType dtype, int64_t count) {
  const std::vector<double> x = numbers(a, dtype, count), y = numbers(b, dtype, count);
  double largest = 0;
  for (const double one : x)
    if (std::isfinite(one)) largest = std::max(largest, std::abs(one));
  const double allowed = tolerance(dtype) * largest;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) != std::isnan(y[i])) return false;
    if (std::isfinite(x[i]) != std::isfinite(y[i])) return false;
    if (std::isfinite(x[i]) && std::abs(x[i] - y[i]) > allowed) return false;
  }
  return true;
}

}  // namespace

Workbench::Workbench(Operator& original) : original_(original) {
  for_each_tensor(original, [&](const Tensor& tensor, const Field&) { add(tensor); });
  for (Range& range : ranges_) {
    range.first.assign(range.begin, range.end);
    range.now = range.first;
  }
}

int64_t Workbench::bytes(Operator& original) {
  int64_t total = 0;
  for_each_tensor(original, [&](const Tensor& tensor, const Field&) {
    if (has_memory(tensor)) total += 2 * span_bytes(tensor);
  });
  return total;
}

void Workbench::add(const Tensor& tensor) {
  if (!has_memory(tensor)) return;
  Range added{tensor.bytes(), tensor.bytes() + span_bytes(tensor), {}, {}};
  // All that it touches becomes one range with it.
  std::erase_if(ranges_, [&](const Range& one) {
    if (one.end <= added.begin || added.end <= one.begin) return false;
    added.begin = std::min(added.begin, one.begin), added.end = std::max(added.end, one.end);
    return true;
  });
  ranges_.push_back(std::move(added));
}

void Workbench::move(Tensor& tensor) {
  if (tensor.origin != nullptr) tensor.origin = &origins_.emplace_back(*tensor.origin);
  if (!has_memory(tensor)) return;
  const std::byte* at = tensor.bytes();
  for (Range& range : ranges_) {
    if (at < range.begin || at >= range.end) continue;
    tensor.data = range.now.data() + (at - range.begin);
    tensor.offset = 0;
    return;
  }
}

std::unique_ptr<Operator> Workbench::make() {
  std::unique_ptr<Operator> made = create(*original_.def);
  copy_fields(original_, *made);
  for_each_tensor(*made, [&](Tensor& tensor, const Field&) { move(tensor); });
  return made;
}

void Workbench::restore() {
  for (Range& range : ranges_) std::ranges::copy(range.first, range.now.begin());
}

std::vector<std::byte> Workbench::results(Operator& made) const {
  std::vector<std::byte> out;
  for_each_tensor(made, [&](const Tensor& tensor, const Field& field) {
    if (!field.is_result() || !has_memory(tensor)) return;
    out.insert(out.end(), tensor.bytes(), tensor.bytes() + span_bytes(tensor));
  });
  return out;
}

bool agree(Operator& made, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return false;
  bool same = true;
  size_t at = 0;
  for_each_tensor(made, [&](const Tensor& tensor, const Field& field) {
    if (!field.is_result() || !has_memory(tensor)) return;
    const auto size = static_cast<size_t>(span_bytes(tensor));
    same = same && (is_floating(tensor.dtype) ? numbers_agree(a.data() + at, b.data() + at, tensor.dtype, tensor.span())
                                              : std::memcmp(a.data() + at, b.data() + at, size) == 0);
    at += size;
  });
  return same;
}

}  // namespace npu::ops::tuning
