// SPDX-License-Identifier: Apache-2.0
#include "ops/pooling/window.h"

#include <algorithm>

namespace npu::ops {
namespace {

// Above every real window; keeps the tables small and the arithmetic inside 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 24;

// Rounded up also for negative numbers, where C's division rounds towards zero.
int64_t ceil_div(int64_t a, int64_t b) { return a <= 0 ? -(-a / b) : (a + b - 1) / b; }

int64_t pick(const char* name, const std::vector<int64_t>& list, size_t axis, size_t spatial, int64_t absent) {
  if (list.empty()) return absent;
  require(list.size() == 1 || list.size() == spatial, "{} has {} numbers; give 1 or {}", name, list.size(), spatial);
  return list[list.size() == 1 ? 0 : axis];
}

void pick_padding(PoolAxis& a, const std::vector<int64_t>& list, size_t axis, size_t spatial) {
  if (spatial > 1 && list.size() == 2 * spatial) {
    a.padding = list[2 * axis];
    a.padding_after = list[2 * axis + 1];
  } else {
    a.padding = a.padding_after = pick("padding", list, axis, spatial, 0);
  }
}

// As torch: with ceil_mode the last window must start inside the input or its left padding.
int64_t pooled_size(const PoolAxis& a, bool ceil_mode) {
  const int64_t reach = a.in + a.padding + a.padding_after - a.dilation * (a.kernel - 1) - 1;
  if (reach < 0 && !(ceil_mode && reach + a.stride - 1 >= 0)) return 0;
  const int64_t out = (reach + (ceil_mode ? a.stride - 1 : 0)) / a.stride + 1;
  return ceil_mode && (out - 1) * a.stride >= a.in + a.padding ? out - 1 : out;
}

void fill_fixed(PoolAxis& a, bool count_padding) {
  // Windows are cut to the input here, once, so that kernels test no border.
  for (int64_t o = 0; o < a.out; ++o) {
    const int64_t start = o * a.stride - a.padding;
    const int64_t skip = start < 0 ? ceil_div(-start, a.dilation) : 0;
    const int64_t end = std::min(a.kernel, ceil_div(a.in - start, a.dilation));
    const int64_t count = std::max<int64_t>(end - skip, 0);
    a.first.push_back(start + skip * a.dilation);
    a.count.push_back(count);
    a.skip.push_back(skip);
    // torch counts the padding, but not what a window of ceil_mode covers beyond it.
    a.covered.push_back(count_padding ? std::min(start + a.kernel, a.in + a.padding_after) - start : count);
  }
  // The same facts seen from an element of the window: for which outputs it lies inside.
  for (int64_t k = 0; k < a.kernel; ++k) {
    const int64_t shift = a.padding - k * a.dilation;
    const int64_t from = std::clamp<int64_t>(ceil_div(shift, a.stride), 0, a.out);
    a.from.push_back(from);
    a.to.push_back(std::clamp<int64_t>(ceil_div(a.in + shift, a.stride), from, a.out));
  }
}

void check_limits(std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    require(size <= kMaxSize && size >= -kMaxSize, "a window size is {}; at most {} is possible", size, kMaxSize);
}

void check_axis(const PoolAxis& a, const Tensor& self) {
  require(a.kernel > 0 && a.stride > 0 && a.dilation > 0, "kernel {}, stride {}, dilation {}: each must be at least 1",
          a.kernel, a.stride, a.dilation);
  // Half the kernel at most, as torch has it: each window then holds an element of the input.
  const int64_t half = (a.dilation * (a.kernel - 1) + 1) / 2;
  require(a.padding >= 0 && a.padding <= half && a.padding_after >= 0 && a.padding_after <= half,
          "padding is {}, kernel {}: padding must be 0 to half the kernel", std::max(a.padding, a.padding_after),
          a.kernel);
  require(a.in > 0, "self is {}: the pooled axes must not be empty", self);
  require(a.out > 0, "self is {}: a window of {} (dilation {}) does not fit; use a smaller kernel or padding", self,
          a.kernel, a.dilation);
}

void check_rank(const Tensor& self, size_t spatial) {
  require(self.rank() == spatial + 1 || self.rank() == spatial + 2, "self is {}: pooling takes {} or {} dimensions",
          self, spatial + 1, spatial + 2);
}

}  // namespace

PoolWindow fixed_window(const Tensor& self, size_t spatial, const PoolSizes& sizes) {
  check_rank(self, spatial);
  PoolWindow window;
  for (auto& one : window) {
    one.kernel = 1;
    one.out = 1;
  }
  for (size_t i = 0; i < spatial; ++i) {
    PoolAxis& a = window[3 - spatial + i];
    a.in = self.shape[self.rank() - spatial + i];
    a.kernel = pick("kernel_size", sizes.kernel, i, spatial, 0);
    // No stride given means the kernel's size: windows side by side.
    a.stride = pick("stride", sizes.stride, i, spatial, a.kernel);
    pick_padding(a, sizes.padding, i, spatial);
    a.dilation = pick("dilation", sizes.dilation, i, spatial, 1);
    check_limits({a.kernel, a.stride, a.padding, a.padding_after, a.dilation});
    // A stride of 0 is refused below, with a text, and must not be divided by before.
    a.out = a.stride > 0 ? pooled_size(a, sizes.ceil_mode) : 0;
    check_axis(a, self);
  }
  for (auto& one : window) fill_fixed(one, sizes.count_padding);
  return window;
}

PoolWindow adaptive_window(const Tensor& self, size_t spatial, std::span<const int64_t> output) {
  check_rank(self, spatial);
  require(output.size() == spatial, "output_size has {} numbers; give {}", output.size(), spatial);
  PoolWindow window;
  for (size_t i = 0; i < spatial; ++i) {
    PoolAxis& a = window[3 - spatial + i];
    a.in = self.shape[self.rank() - spatial + i];
    a.out = output[i];
    require(a.out >= 0, "output_size holds {}; sizes must not be negative", a.out);
    check_limits({a.out});
    require(a.in > 0 || a.out == 0, "self is {}: the pooled axes must not be empty", self);
  }
  for (auto& a : window) {
    for (int64_t o = 0; o < a.out; ++o) {
      // torch's adaptive windows: from the floor of one border to the ceiling of the next, so neighbours may share an
      // element.
      const int64_t begin = o * a.in / a.out;
      a.first.push_back(begin);
      a.count.push_back(((o + 1) * a.in + a.out - 1) / a.out - begin);
    }
    a.skip.assign(a.first.size(), 0);
    a.covered = a.count;
  }
  return window;
}

void check_pooled(const char* name, const Tensor& tensor, const Tensor& self, size_t spatial,
                  const PoolWindow& window) {
  Dims expected = self.shape;
  for (size_t i = 0; i < spatial; ++i) expected[self.rank() - spatial + i] = window[3 - spatial + i].out;
  require(tensor.shape == expected, "{} is {}, expected shape {}", name, tensor, expected);
}

}  // namespace npu::ops
