// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/range.h"

#include <fmt/format.h>

#include <cmath>

#include "graph/dump/record/data_type.h"
#include "tools/compare/report/csv.h"
#include "tools/compare/tensor/each_element.h"

namespace npu::compare {
namespace {

constexpr int32_t kBool = 11;

std::string number(float value, bool boolean) {
  return boolean ? (value != 0 ? "True" : "False") : fmt::format("{:.7g}", value);
}

}  // namespace

Range range_of(const Tensor& tensor) {
  const bool boolean = tensor.facts.data_type == kBool;
  Range found;
  found.shape = shape_text(tensor.facts.shape);
  found.type = graph::record::data_type(tensor.facts.data_type).word;
  const View view = plain_view(tensor);
  float least = INFINITY, most = -INFINITY;
  double sum = 0;
  each_element(view, [&](float value, uint64_t) {
    if (std::isnan(value)) return static_cast<void>(++found.nans);
    least = std::min(least, value), most = std::max(most, value), sum += value;
  });
  const uint64_t count = view.count - found.nans;
  found.most = count == 0 ? "nan" : number(most, boolean);
  found.least = count == 0 ? "nan" : number(least, boolean);
  found.mean = count == 0 ? "nan" : fmt::format("{:.7g}", sum / static_cast<double>(count));
  return found;
}

std::string in_one_line(const Range& range) {
  return fmt::format("[Shape: {}] [Dtype: {}] [Max: {}] [Min: {}] [Mean: {}]{}", range.shape, range.type, range.most,
                     range.least, range.mean, range.nans == 0 ? "" : fmt::format(" [NaN: {}]", range.nans));
}

void write_elements(const Tensor& tensor, const std::string& path) {
  fmt::memory_buffer text;
  const bool boolean = tensor.facts.data_type == kBool;
  each_element(plain_view(tensor), [&](float value, uint64_t) {
    fmt::format_to(std::back_inserter(text), "{}\n", number(value, boolean));
  });
  write_file(path, fmt::to_string(text));
}

}  // namespace npu::compare
