// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/tensor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace npu::profile {
namespace {

constexpr std::array kWidths = {
    std::pair{"FLOAT", 4},   std::pair{"FLOAT16", 2}, std::pair{"DT_BF16", 2},   std::pair{"DOUBLE", 8},
    std::pair{"FLOAT64", 8}, std::pair{"INT8", 1},    std::pair{"UINT8", 1},     std::pair{"BOOL", 1},
    std::pair{"INT16", 2},   std::pair{"UINT16", 2},  std::pair{"INT32", 4},     std::pair{"UINT32", 4},
    std::pair{"INT64", 8},   std::pair{"UINT64", 8},  std::pair{"COMPLEX64", 8}, std::pair{"COMPLEX128", 16}};

/// The text up to the separator, which is taken off with it.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::vector<double> shape_of(std::string_view text) {
  std::vector<double> shape;
  while (!text.empty()) shape.push_back(std::strtod(std::string(take(text, ',')).c_str(), nullptr));
  return shape;
}

}  // namespace

double Listed::count() const { return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>()); }

std::vector<Listed> listed(std::string_view described) {
  std::string_view shapes = take(described, '|'), types = take(described, '|');
  std::vector<Listed> found;
  while (!types.empty()) {  // a scalar's shape is an empty text, its type is not
    const std::string_view shape = take(shapes, ';');
    found.push_back({shape_of(shape), take(types, ';')});
  }
  return found;
}

double width_of(std::string_view type) {
  const auto* const found = std::ranges::find_if(kWidths, [&](const auto& one) { return type == one.first; });
  return found == kWidths.end() ? 0 : found->second;
}

}  // namespace npu::profile
