// SPDX-License-Identifier: Apache-2.0
// ExtractImagePatches: what a moving window sees of images with channels last, laid side by side for each position.
#include <cstring>

#include "base/thread_pool.h"
#include "graph/node/layout.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

/// Rows and columns of a window over one image; sizes of channels are in bytes.
struct PatchSizes {
  int64_t height, width, out_height, out_width, kernel_height, kernel_width;
  int64_t stride_y, stride_x, rate_y, rate_x, top, left;
  size_t channels;
};

/// The two spatial values of an attribute that has one for each axis.
std::vector<int64_t> spatial_pair(const Lowering& l, const char* name) {
  const auto& all = l.attributes().get<std::vector<int64_t>>(name);
  require(all.size() == 4, "{} has {} numbers; it needs 4, one for each axis", name, all.size());
  require(all[0] == 1 && all[3] == 1, "Only support {} across space.", name);
  require(all[1] >= 1 && all[2] >= 1, "{} is out of range.", name);
  return {all[1], all[2]};
}

/// One row of positions. What lies outside of the image is 0.
void extract_row(const PatchSizes& s, const std::byte* image, int64_t row, std::byte* to) {
  const auto channels = static_cast<int64_t>(s.channels);
  std::memset(to, 0, static_cast<size_t>(s.out_width * s.kernel_height * s.kernel_width) * s.channels);
  for (int64_t column = 0; column < s.out_width; ++column)
    for (int64_t ky = 0; ky < s.kernel_height; ++ky)
      for (int64_t kx = 0; kx < s.kernel_width; ++kx, to += channels) {
        const int64_t y = row * s.stride_y - s.top + ky * s.rate_y, x = column * s.stride_x - s.left + kx * s.rate_x;
        if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
        std::memcpy(to, image + (y * s.width + x) * channels, s.channels);
      }
}

void extract_patches(Lowering& l) {
  decline_objects(l);
  const auto kernel = spatial_pair(l, "ksizes"), stride = spatial_pair(l, "strides"), rate = spatial_pair(l, "rates");
  const Dims shape = l.shape(0);
  require(shape.size() == 4, "input must be 4-dimensional{}", client_text(shape));
  const int64_t in[] = {shape[1], shape[2]};
  const int64_t reach[] = {(kernel[0] - 1) * rate[0] + 1, (kernel[1] - 1) * rate[1] + 1};
  const std::vector<WindowAxis> axes = window_axes(l, in, reach, stride, true);
  PatchSizes s{shape[1],  shape[2], axes[0].out, axes[1].out,    kernel[0],      kernel[1], stride[0],
               stride[1], rate[0],  rate[1],     axes[0].before, axes[1].before, 0};
  s.channels = static_cast<size_t>(shape[3]) * size_of(l.dtype(0));
  const Planned out = l.make(0, l.dtype(0), {shape[0], s.out_height, s.out_width, kernel[0] * kernel[1] * shape[3]});
  if (out.view.count() == 0) return;
  const Planned images = rows_of(l, l.input(0), l.dtype(0));
  l.run({images}, {out}, [=, batch = shape[0]](Frame& frame) {
    const Tensor from = frame.tensor(images), to = frame.tensor(out);
    const int64_t image = bytes_of(from) / batch, row = bytes_of(to) / (batch * s.out_height);
    parallel_parts(batch * s.out_height, [&](int64_t i) {
      extract_row(s, from.bytes() + i / s.out_height * image, i % s.out_height, to.bytes() + i * row);
    });
  });
}

NPU_NODE("ExtractImagePatches", extract_patches);

}  // namespace
}  // namespace npu::graph
