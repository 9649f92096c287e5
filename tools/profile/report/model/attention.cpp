// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/profile/report/model/work.h"

namespace npu::profile {
namespace {

constexpr double kSoftmax = 5;     // of a score: the largest, its distance to it, the exponential, the sum, the share
constexpr double kBackward = 2.5;  // five products where forward has two

/// The statistics of the softmax are [batch, heads, rows, 8]; 0: there are none, or of sequences in one another.
double rows_of(const Tensors& inputs, const Tensors& outputs) {
  for (const Tensors* some : {&outputs, &inputs})
    for (const Listed& one : *some)
      if (one.rank() == 4 && one.last(1) == 8 && one.type == "FLOAT") return one.last(2);
  return 0;
}

bool divides(double part, double all) {
  return part > 0 && static_cast<int64_t>(all) % static_cast<int64_t>(part) == 0;
}

/// Whether `axis` can be that of the sequence: along all others the keys have as much, or fewer heads.
bool fits(const Listed& query, const Listed& key, size_t axis, double rows) {
  if (rows != 0 && query.shape[axis] != rows) return false;
  for (size_t i = 0; i < query.rank(); ++i)
    if (i != axis && !divides(key.shape[i], query.shape[i])) return false;
  return true;
}

/// The layout is not recorded: the length of the keys is known where all layouts that fit say the same.
std::optional<double> keys_of(const Listed& query, const Listed& key, double rows) {
  const bool flat = query.rank() == 3;
  if (query.rank() != key.rank() || (query.rank() != 4 && !flat) || (flat && rows == 0)) return {};
  std::optional<double> found;
  for (size_t axis = flat ? 0 : 1; axis + 1 < query.rank(); ++axis) {
    if (!fits(query, key, axis, rows)) continue;
    if (found && *found != key.shape[axis]) return {};
    found = key.shape[axis];
  }
  return found;
}

}  // namespace

std::optional<AttentionOperations> attention_operations(std::string_view type, const Tensors& inputs,
                                                        const Tensors& outputs) {
  if (inputs.size() < 3) return {};
  const Listed& query = inputs[0];
  const double rows = rows_of(inputs, outputs);
  const auto keys = keys_of(query, inputs[1], rows);
  if (!keys) return {};
  const double cube = 4 * query.count() * *keys;  // the scores, and their product with the values
  const bool backward = type.find("Grad") != std::string_view::npos;
  // Three sizes do not say how many heads there are, so scores are not counted.
  const double width = query.rank() == 4 ? query.last(1) : 0;
  const double scores = width > 0 ? query.count() / width * *keys : 0;
  return AttentionOperations{cube * (backward ? kBackward : 1), scores * kSoftmax};
}

}  // namespace npu::profile
