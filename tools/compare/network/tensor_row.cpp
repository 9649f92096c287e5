// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/network/tensor_row.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace npu::compare {
namespace {

constexpr float kLargestHalf = 65504;

}  // namespace

Cells header(const Options& options) {
  Cells found{"Index"};
  if (options.sequence) found.push_back("OpSequence");
  found.insert(found.end(), {"OpType", "NPUDump", "DataType"});
  if (options.my_address) found.push_back("Address");
  found.insert(found.end(), {"GroundTruth", "DataType"});
  if (options.golden_address) found.push_back("Address");
  found.insert(found.end(), {"TensorIndex", "Shape"});
  if (options.overflow) found.push_back("OverFlow");
  for (const Metric metric : options.metrics) found.emplace_back(name_of(metric));
  found.push_back("CompareFailReason");
  return found;
}

Cells cells(size_t index, int64_t sequence, const TensorRow& row, const Options& options) {
  Cells found{fmt::to_string(index)};
  if (options.sequence) found.push_back(fmt::to_string(sequence));
  found.insert(found.end(), {row.op_type, row.mine, row.my_type});
  if (options.my_address) found.push_back(row.my_address);
  found.insert(found.end(), {row.golden, row.golden_type});
  if (options.golden_address) found.push_back(row.golden_address);
  found.insert(found.end(), {row.tensor, row.shape});
  if (options.overflow) found.push_back(row.overflow);
  if (row.metrics.empty()) found.insert(found.end(), options.metrics.size(), "NaN");
  found.insert(found.end(), row.metrics.begin(), row.metrics.end());
  found.push_back(row.reason);
  return found;
}

void compare_views(const View& mine, const View& golden, const Circumstances& circumstances, const Options& options,
                   TensorRow& row) {
  if (mine.count != golden.count)
    throw Refusal(Exit::kShape,
                  fmt::format("{} elements of my dump cannot be compared with {} of the golden: {} and {}.", mine.count,
                              golden.count, shape_text(mine.shape), shape_text(golden.shape)));
  const uint64_t count = options.most == 0 ? mine.count : std::min(mine.count, options.most);
  const Measured measured = measure(mine, golden, count, std::ranges::any_of(options.metrics, needs_spread));
  std::vector<std::string> reasons;
  for (const Metric metric : options.metrics) {
    Cell found = cell(metric, measured, circumstances);
    row.metrics.push_back(std::move(found.text));
    if (!found.reason.empty()) reasons.push_back(std::move(found.reason));
  }
  row.reason = fmt::format("{}", fmt::join(reasons, ","));
}

std::string overflow_of(const Tensor& tensor) {
  if (tensor.facts.data_type != 2) return "NaN";
  const View view = plain_view(tensor);
  std::vector<float> block(2048);
  for (uint64_t at = 0; at < view.count; at += block.size()) {
    const size_t n = std::min<uint64_t>(block.size(), view.count - at);
    view.read(at, n, block.data());
    const auto end = block.begin() + static_cast<std::ptrdiff_t>(n);
    if (std::any_of(block.begin(), end, [](float x) { return !(std::fabs(x) < kLargestHalf); })) return "YES";
  }
  return "NO";
}

std::string bracketed(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string address_of(const Tensor& tensor) {
  return tensor.facts.address == 0 ? "NaN" : fmt::to_string(tensor.facts.address);
}

}  // namespace npu::compare
