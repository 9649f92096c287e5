// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/winograd_tiles.h"

#include "base/division.h"

namespace npu::ops {

using cube::kX;
using cube::kY;

std::vector<WinogradTaps> winograd_taps_of(const cube::ConvShape& shape) {
  std::vector<WinogradTaps> out;
  for (int64_t y = 0; y < shape.kernel[kY]; y += 3)
    for (int64_t x = 0; x < shape.kernel[kX]; x += 3)
      out.push_back({y, x, std::min<int64_t>(3, shape.kernel[kY] - y), std::min<int64_t>(3, shape.kernel[kX] - x)});
  return out;
}

WinogradTiles::WinogradTiles(const cube::ConvShape& shape)
    : shape_(shape), high_(divide_up(shape.out[kY], 2)), wide_(divide_up(shape.out[kX], 2)) {}

void WinogradTiles::spread(const float* images, int64_t tile, const WinogradTaps& taps, int64_t channel,
                           int64_t channels, const float* zeros, const WinogradPoints& to) const {
  const Place p = place_of(tile);
  const int64_t c = shape_.c, line = shape_.in[kX] * c;
  const int64_t y = p.y - shape_.pad[kY] + taps.y, x = p.x - shape_.pad[kX] + taps.x;
  const float* image = images + p.image * shape_.in[kY] * line + channel;
  if (y >= 0 && x >= 0 && y + 4 <= shape_.in[kY] && x + 4 <= shape_.in[kX])
    return winograd_input(image + y * line + x * c, line, c, channels, to);
  // At an edge: with the zeros around the image.
  std::array<const float*, 16> pixels;
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t down = y + i / 4, right = x + i % 4;
    const bool inside = down >= 0 && down < shape_.in[kY] && right >= 0 && right < shape_.in[kX];
    pixels[static_cast<size_t>(i)] = inside ? image + down * line + right * c : zeros;
  }
  winograd_input(pixels.data(), channels, to);
}

}  // namespace npu::ops
