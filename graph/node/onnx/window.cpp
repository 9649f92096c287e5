// SPDX-License-Identifier: Apache-2.0
#include "graph/node/onnx/window.h"

#include <algorithm>

namespace npu::graph::onnx {
namespace {

/// Far above any layer's, and low enough that sums of products of two fit 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;

void pad_same(Windows& w, size_t d, int64_t in, bool upper) {
  const int64_t out = (in + w.stride[d] - 1) / w.stride[d];
  const int64_t beyond = std::max<int64_t>((out - 1) * w.stride[d] + w.reach(d) - in, 0);
  w.before.push_back(upper ? beyond / 2 : beyond - beyond / 2);
  w.after.push_back(beyond - w.before.back());
  w.out.push_back(out);
}

void pad_given(Windows& w, size_t d, int64_t in, int64_t before, int64_t after, bool up) {
  const int64_t room = in + before + after - w.reach(d), stride = w.stride[d];
  require(room >= 0, "a window of {} does not fit axis {} of the image, which has {} elements with its pads",
          w.reach(d), d, in + before + after);
  int64_t out = (room + (up ? stride - 1 : 0)) / stride + 1;
  // The last window begins inside of the image or its pads in front.
  if (up && (out - 1) * stride >= in + before) --out;
  w.before.push_back(before), w.after.push_back(after), w.out.push_back(out);
}

}  // namespace

std::vector<int64_t> Windows::padding() const {
  std::vector<int64_t> out;
  for (size_t d = 0; d < axes(); ++d) out.insert(out.end(), {before[d], after[d]});
  return out;
}

std::vector<int64_t> per_axis(const Lowering& l, std::string_view name, size_t axes, int64_t otherwise) {
  std::vector<int64_t> list = list_attribute(l, name);
  if (list.empty()) list.assign(axes, otherwise);
  require(list.size() == axes, "{} has {} numbers for {} spatial axes", name, list.size(), axes);
  for (const int64_t value : list)
    require(value >= 0 && value <= kLargest, "{} holds {}; it must be between 0 and 2^30", name, value);
  return list;
}

std::vector<int64_t> kernel_of(const Lowering& l, size_t axes) {
  require(l.attributes().has("kernel_shape"), "it has no kernel_shape");
  return per_axis(l, "kernel_shape", axes, 1);
}

Windows windows_of(const Lowering& l, std::span<const int64_t> in, const std::vector<int64_t>& kernel) {
  const size_t axes = in.size();
  Windows w{kernel, per_axis(l, "strides", axes, 1), per_axis(l, "dilations", axes, 1), {}, {}, {}};
  const std::vector<int64_t> pads = per_axis(l, "pads", 2 * axes, 0);
  const std::string mode = text_attribute(l, "auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER", up = int_attribute(l, "ceil_mode", 0) != 0;
  require(same || mode == "NOTSET" || mode == "VALID" || mode.empty(),
          "auto_pad is '{}'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are known", mode);
  for (size_t d = 0; d < axes; ++d) {
    require(w.kernel[d] > 0 && w.stride[d] > 0 && w.dilation[d] > 0,
            "axis {} has a window of {}, stride {}, dilation {}; each must be at least 1", d, w.kernel[d], w.stride[d],
            w.dilation[d]);
    if (same)
      pad_same(w, d, in[d], mode == "SAME_UPPER");
    else
      pad_given(w, d, in[d], mode == "VALID" ? 0 : pads[d], mode == "VALID" ? 0 : pads[axes + d], up);
  }
  return w;
}

}  // namespace npu::graph::onnx
