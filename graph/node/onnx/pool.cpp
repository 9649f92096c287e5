// SPDX-License-Identifier: Apache-2.0
// Pools of ONNX. The operators of `ops` do what they take; other windows (dilated averages, p-norms, positions in the
// whole tensor, more than 3 axes, wide pads) are gone through one by one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/thread_pool.h"
#include "graph/node/layout.h"
#include "graph/node/onnx/floats.h"
#include "graph/node/onnx/window.h"

namespace npu::graph::onnx {
namespace {

enum class Mode : uint8_t { kMax, kMean, kNorm };

struct Pool {
  Mode mode;
  Windows windows;
  std::vector<int64_t> in;  ///< spatial sizes
  double p = 2;
  bool counts_pads = false, column_major = false;
  int64_t plane() const { return std::accumulate(in.begin(), in.end(), int64_t{1}, std::multiplies<>()); }
};

/// What one window holds: calls body(position in the plane, its column-major twin).
template <class F>
void each_inside(const Pool& pool, const std::vector<int64_t>& at, F&& body) {
  const Windows& w = pool.windows;
  each_position(w.kernel, [&](const std::vector<int64_t>& k) {
    int64_t place = 0, twin = 0, step = 1;
    for (size_t d = 0; d < k.size(); ++d) {
      const int64_t i = at[d] * w.stride[d] - w.before[d] + k[d] * w.dilation[d];
      if (i < 0 || i >= pool.in[d]) return;
      place = place * pool.in[d] + i;
      twin += i * step, step *= pool.in[d];
    }
    body(place, twin);
  });
}

/// Elements of the window at `at` that lie in the image or its pads: what a mean divides by when pads count. A window
/// that was rounded up reaches beyond both.
int64_t padded_size(const Pool& pool, const std::vector<int64_t>& at) {
  const Windows& w = pool.windows;
  int64_t size = 1;
  for (size_t d = 0; d < w.axes(); ++d) {
    const int64_t room =
        pool.in[d] + w.after[d] - (at[d] * w.stride[d] - w.before[d]);  // from the window's first element
    size *= std::clamp<int64_t>((room + w.dilation[d] - 1) / w.dilation[d], 1, w.kernel[d]);
  }
  return size;
}

template <class T>
void pool_plane(const Pool& pool, const T* from, T* to, int64_t* places, int64_t first) {
  each_position(pool.windows.out, [&](const std::vector<int64_t>& at) {
    double sum = 0;
    T best = -std::numeric_limits<T>::infinity();
    int64_t count = 0, best_at = 0;
    each_inside(pool, at, [&](int64_t place, int64_t twin) {
      const T x = from[place];
      if (x > best || count == 0) best = x, best_at = pool.column_major ? twin : place;
      if (pool.mode == Mode::kMean) sum += static_cast<double>(x);
      if (pool.mode == Mode::kNorm) sum += std::pow(std::abs(static_cast<double>(x)), pool.p);
      ++count;
    });
    if (pool.mode == Mode::kMean)
      best = static_cast<T>(sum / static_cast<double>(pool.counts_pads ? padded_size(pool, at) : count));
    if (pool.mode == Mode::kNorm) best = static_cast<T>(std::pow(sum, 1 / pool.p));
    *to++ = best;
    if (places != nullptr) *places++ = first + best_at;
  });
}

Dims pooled_shape(const Dims& in, const Windows& w) {
  Dims out{in[0], in[1]};
  for (const int64_t size : w.out) out.push_back(size);
  return out;
}

/// One plane after the other.
void run_pool(Lowering& l, const Pool& pool) {
  const Planned in = l.input(0);
  const DType slot = slot_of(in.dtype());
  const Dims shape = pooled_shape(in.shape(), pool.windows);
  const Planned from = rows_of(l, in, slot);
  const Result r = result(l, 0, in.dtype(), shape, slot);
  std::vector<Planned> outs{r.rows};
  if (wants(l, 1)) outs.push_back(l.make(1, DType::kInt64, shape));
  const int64_t planes = shape[0] * shape[1], plane = pool.plane();
  if (planes == 0 || r.out.view.count() == 0) return;
  l.run({from}, outs, [=](Frame& frame) {
    const Tensor x = frame.tensor(from), y = frame.tensor(outs[0]);
    int64_t* places = outs.size() > 1 ? frame.tensor(outs[1]).as<int64_t>() : nullptr;
    const int64_t each = y.count() / planes;
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      parallel_parts(planes, [&](int64_t i) {
        pool_plane(pool, x.as<T>() + i * plane, y.as<T>() + i * each, places == nullptr ? nullptr : places + i * each,
                   i * plane);
      });
    });
  });
  r.store(l);
}

/// Pads that make the operator's windows, which are rounded down, as many; none where it does not take them.
std::vector<int64_t> taken_padding(const Pool& pool) {
  std::vector<int64_t> out;
  const Windows& w = pool.windows;
  for (size_t d = 0; d < w.axes(); ++d) {
    const int64_t needed = (w.out[d] - 1) * w.stride[d] + w.reach(d) - pool.in[d] - w.before[d];
    const int64_t after = std::max(needed, w.after[d]), half = w.reach(d) / 2;
    if (w.before[d] > half || after > half || pool.in[d] == 0) return {};
    if (pool.counts_pads && after != w.after[d]) return {};
    out.insert(out.end(), {w.before[d], after});
  }
  return out;
}

bool is_dilated(const Windows& w) {
  return std::ranges::any_of(w.dilation, [](int64_t d) { return d != 1; });
}

/// Lines as images of height 1: the operators go over 2 and 3 axes.
Dims as_image(const Dims& shape) { return shape.size() == 3 ? Dims{shape[0], shape[1], 1, shape[2]} : shape; }
std::vector<int64_t> with_height(std::vector<int64_t> list, size_t axes, int64_t value) {
  if (axes == 1) list.insert(list.begin(), list.size(), value);
  return list;
}

bool call_pool(Lowering& l, const Pool& pool) {
  const Windows& w = pool.windows;
  const std::vector<int64_t> padding = taken_padding(pool);
  const bool taken = !padding.empty() && w.axes() <= 3 && is_floating(l.dtype(0)) && !wants(l, 1) &&
                     (pool.mode == Mode::kMax || (pool.mode == Mode::kMean && !is_dilated(w)));
  if (!taken) return false;
  const Dims shape = pooled_shape(l.shape(0), w);
  const Planned in = w.axes() == 1 ? in_rows(l, l.input(0)) : l.input(0);
  const Planned out = lies_channels_last(in) ? make_images(l, 0, in.dtype(), shape) : l.make(0, in.dtype(), shape);
  if (out.view.count() == 0) return true;
  const bool maximum = pool.mode == Mode::kMax;
  OperatorCall call = l.call(maximum ? "max_pool" : "avg_pool");
  call.set("self", w.axes() == 1 ? reshaped(in, as_image(in.shape())) : in);
  call.set("out", w.axes() == 1 ? reshaped(out, as_image(shape)) : out);
  call.set("kernel_size", with_height(w.kernel, w.axes(), 1)).set("stride", with_height(w.stride, w.axes(), 1));
  call.set("padding", with_height(padding, w.axes(), 0))
      .set("spatial", std::max<int64_t>(2, static_cast<int64_t>(w.axes())));
  if (maximum)
    call.set("dilation", with_height(w.dilation, w.axes(), 1));
  else
    call.set("count_include_pad", pool.counts_pads);
  return true;
}

Pool pool_of(const Lowering& l, Mode mode) {
  const Dims& shape = l.shape(0);
  require(shape.size() >= 3, "the input is {}; it needs batch, channels and at least one spatial axis", shape);
  Pool pool{mode, {}, sizes_of(shape, 2)};
  pool.windows = windows_of(l, pool.in, kernel_of(l, pool.in.size()));
  return pool;
}

void max_pool(Lowering& l) {
  Pool pool = pool_of(l, Mode::kMax);
  pool.column_major = int_attribute(l, "storage_order", 0) != 0;
  if (!call_pool(l, pool)) run_pool(l, pool);
}
void average_pool(Lowering& l) {
  Pool pool = pool_of(l, Mode::kMean);
  pool.counts_pads = int_attribute(l, "count_include_pad", 0) != 0;
  if (!call_pool(l, pool)) run_pool(l, pool);
}
/// p was a float in the first opset.
double order_of_norm(const Lowering& l) {
  if (!l.attributes().has("p")) return 2;
  const Attribute& p = l.attributes().entries().find("p")->second.value;
  return std::holds_alternative<int64_t>(p) ? static_cast<double>(std::get<int64_t>(p)) : float_attribute(l, "p", 2);
}
void norm_pool(Lowering& l) {
  Pool pool = pool_of(l, Mode::kNorm);
  pool.p = order_of_norm(l);
  run_pool(l, pool);
}

std::vector<int64_t> spatial_axes(const Dims& shape) {
  require(shape.size() >= 2, "the input is {}; it needs batch and channels", shape);
  std::vector<int64_t> axes(shape.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

void global(Lowering& l) {
  const Dims& in = l.shape(0);
  const auto axes = spatial_axes(in);
  Dims shape(in.size(), 1);
  shape[0] = in[0], shape[1] = in[1];
  const Planned out = l.make(0, l.dtype(0), shape);
  if (axes.empty()) return copy(l, l.input(0), out);
  l.call(l.target()).set("self", l.input(0)).set("dim", axes).set("keepdim", true).set("out", out);
}

void global_norm(Lowering& l) {
  const Dims in = l.shape(0);
  spatial_axes(in);
  Pool pool{Mode::kNorm, {}, sizes_of(in, 2)};
  const std::vector<int64_t> ones(pool.in.size(), 1), zeros(pool.in.size(), 0);
  pool.windows = {pool.in, ones, ones, zeros, zeros, ones};
  pool.p = order_of_norm(l);
  run_pool(l, pool);
}

/// Sizes of what was pooled, as far as the windows tell.
Dims unpooled_shape(const Lowering& l) {
  const Dims& in = l.shape(0);
  require(in.size() >= 3 && in == l.shape(1), "the input is {}, the positions are {}; they need one shape", in,
          l.shape(1));
  const size_t axes = in.size() - 2;
  const auto kernel = kernel_of(l, axes), stride = per_axis(l, "strides", axes, 1),
             pads = per_axis(l, "pads", 2 * axes, 0);
  Dims out{in[0], in[1]};
  for (size_t d = 0; d < axes; ++d) out.push_back((in[d + 2] - 1) * stride[d] - pads[d] - pads[axes + d] + kernel[d]);
  return out;
}

/// Each element to its position in the tensor that was pooled; a larger one that is asked for has zeros at its ends.
void max_unpool(Lowering& l) {
  const Dims pooled = unpooled_shape(l);
  Dims shape = pooled;
  if (has(l, 2)) shape = Dims(l.integers(at(l, 2)));
  require(shape.size() == pooled.size(), "output_shape is {}; the pooled tensor was {}", shape, pooled);
  for (size_t d = 0; d < shape.size(); ++d)
    require(pooled[d] >= 0 && shape[d] >= pooled[d], "output_shape is {}; the pooled tensor was {}: it does not fit",
            shape, pooled);
  const Planned out = l.make(0, l.dtype(0), shape), whole = shape == pooled ? out : l.scratch(l.dtype(0), pooled);
  const Planned places = rows_of(l, l.input(1), DType::kInt64), from = in_rows(l, l.input(0));
  fill(l, whole, Scalar(0));
  const int64_t count = count_of(pooled);
  l.run({places}, [=](Frame& frame) {
    const Tensor index = frame.tensor(places);
    for (int64_t i = 0; i < index.count(); ++i)
      require(index.as<int64_t>()[i] >= 0 && index.as<int64_t>()[i] < count,
              "position {} is {}; the pooled tensor has {} elements", i, index.as<int64_t>()[i], count);
  });
  if (from.view.count() > 0)
    l.call("scatter")
        .set("self", reshaped(whole, {count}))
        .set("dim", int64_t{0})
        .set("index", reshaped(places, {places.view.count()}))
        .set("src", reshaped(from, {from.view.count()}))
        .set("out", reshaped(whole, {count}));
  if (shape == pooled) return;
  fill(l, out, Scalar(0));
  Planned corner = out;
  for (size_t d = 0; d < shape.size(); ++d) corner = narrowed(corner, d, 0, pooled[d]);
  copy(l, whole, corner);
}

NPU_NODE("ai.onnx::MaxPool", max_pool);
NPU_NODE("ai.onnx::AveragePool", average_pool);
NPU_NODE("ai.onnx::LpPool", norm_pool);
NPU_NODE("ai.onnx::GlobalAveragePool", global, "mean");
NPU_NODE("ai.onnx::GlobalMaxPool", global, "amax");
NPU_NODE("ai.onnx::GlobalLpPool", global_norm);
NPU_NODE("ai.onnx::MaxUnpool", max_unpool);

}  // namespace
}  // namespace npu::graph::onnx
