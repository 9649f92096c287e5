// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/work.h"

namespace npu::profile {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The operations of one product of an image and a filter: each element of the result adds up the filter's elements of
/// its channel. Channels are the second size and the filter's first (torch), or the last ones (TensorFlow).
std::optional<double> forward(const Listed& image, const Listed& filter, const Listed& result) {
  if (image.rank() < 3 || filter.rank() != image.rank() || result.rank() != image.rank()) return {};
  if (image.shape[0] != result.shape[0] || filter.count() == 0) return {};
  const double in = filter.shape[1], out = filter.shape[0];
  if (out == result.shape[1] && in > 0 && static_cast<int64_t>(image.shape[1]) % static_cast<int64_t>(in) == 0)
    return 2 * result.count() * filter.count() / out;
  const double last_in = filter.last(2), last_out = filter.last(1);
  const bool depthwise = last_in == image.last(1) && last_in * last_out == result.last(1);
  if (depthwise) return 2 * result.count() * filter.count() / result.last(1);
  if (last_out == result.last(1) && static_cast<int64_t>(image.last(1)) % static_cast<int64_t>(last_in) == 0)
    return 2 * result.count() * filter.count() / last_out;
  return {};
}

/// A transposed one is the same product with image and result in each other's place; where both fit, the result of a
/// plain one is the smaller image.
std::optional<double> either(const Listed& image, const Listed& filter, const Listed& result) {
  const auto plain = forward(image, filter, result), transposed = forward(result, filter, image);
  if (plain && transposed) return result.count() <= image.count() ? plain : transposed;
  return plain ? plain : transposed;
}

const Listed* of_rank(const Tensors& tensors, size_t least, size_t number) {
  for (const Listed& one : tensors)
    if (one.rank() >= least && number-- == 0) return &one;
  return nullptr;
}

}  // namespace

std::optional<double> convolution_operations(std::string_view type, const Tensors& inputs, const Tensors& outputs) {
  const Listed *first = of_rank(inputs, 3, 0), *second = of_rank(inputs, 3, 1), *third = of_rank(inputs, 3, 2),
               *made = of_rank(outputs, 3, 0);
  if (first == nullptr || second == nullptr || made == nullptr) return {};
  if (has(type, "BackpropFilter")) return either(*first, *made, *second);
  if (has(type, "BackpropInput")) return either(*made, *first, *second);
  if (!has(type, "Backward")) return either(*first, *second, *made);
  // Of the gradient, the image and the filter; each gradient that is made is a product of the same size.
  const auto once = third == nullptr ? std::nullopt : either(*second, *third, *first);
  if (!once) return {};
  return of_rank(outputs, 3, 1) == nullptr ? once : 2 * *once;
}

}  // namespace npu::profile
