// SPDX-License-Identifier: Apache-2.0
// Colours as hue, saturation and value, and back. Three numbers stand side by side; all are parts of 1.
#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

constexpr int64_t kColours = 3, kColoursAPart = 1 << 13;

template <class T>
void to_hsv(const T* rgb, T* hsv) {
  const T red = rgb[0], green = rgb[1], blue = rgb[2];
  const T value = std::max({red, green, blue}), range = value - std::min({red, green, blue});
  const T sixth = T(1) / range * (T(1) / T(6));
  T hue = sixth * (red - green) + T(4) / T(6);
  if (red == value)
    hue = sixth * (green - blue);
  else if (green == value)
    hue = sixth * (blue - red) + T(2) / T(6);
  if (!(range > 0)) hue = 0;
  hsv[0] = hue < 0 ? hue + 1 : hue;
  hsv[1] = value > 0 ? range / value : 0;
  hsv[2] = value;
}

template <class T>
void to_rgb(const T* hsv, T* rgb) {
  const T hue = hsv[0] * 6, saturation = hsv[1], value = hsv[2];
  const T shares[] = {std::abs(hue - 3) - 1, -std::abs(hue - 2) + 2, -std::abs(hue - 4) + 2};
  for (int64_t i = 0; i < kColours; ++i)
    rgb[i] = (1 - saturation + saturation * std::clamp(shares[i], T(0), T(1))) * value;
}

void convert_colours(Lowering& l, bool hsv) {
  const Dims& shape = l.shape(0);
  require(!shape.empty(), "input must be at least 1D{}", client_text(shape));
  require(shape.back() == kColours, "input must have 3 channels but input only has {} channels.", shape.back());
  if (!is_floating(l.dtype(0))) l.decline("colours of this type are left to the client");
  const DType dtype = l.dtype(0), slot = dtype == DType::kDouble ? dtype : DType::kFloat;
  const Planned from = rows_of(l, l.input(0), slot), out = l.make(0, dtype, shape);
  const Planned to = dtype == slot ? out : l.scratch(slot, shape);
  const int64_t count = count_of(shape) / kColours;
  l.run({from}, {to}, [=](Frame& frame) {
    const Tensor x = frame.tensor(from), y = frame.tensor(to);
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      const T* in = x.as<T>();
      T* colours = y.as<T>();
      parallel_for(count, kColoursAPart, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * kColours; i < end * kColours; i += kColours)
          hsv ? to_hsv(in + i, colours + i) : to_rgb(in + i, colours + i);
      });
    });
  });
  if (dtype != slot) copy(l, to, out);
}

void rgb_to_hsv(Lowering& l) { convert_colours(l, true); }
void hsv_to_rgb(Lowering& l) { convert_colours(l, false); }

NPU_NODE("RGBToHSV", rgb_to_hsv);
NPU_NODE("HSVToRGB", hsv_to_rgb);

}  // namespace
}  // namespace npu::graph
