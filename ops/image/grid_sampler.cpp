// SPDX-License-Identifier: Apache-2.0
// Sampling of images at the points of a grid, in 2-D and 3-D, and its gradients by the image and by the grid.
// A point's taps are worked out once and serve all channels. No two threads add to one place, and each place gets its
// terms in the order of the points, so bits do not depend on the number of threads.
#include "ops/image/grid_tap.h"
#include "ops/operator.h"
#include "ops/pooling/planes.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {
namespace {

// A cubic tap row has four elements; the other modes leave the rest unused, so that points lie at one distance.
constexpr int64_t kTaps = 4;  // room per axis
constexpr int64_t kGrain = 512;

struct Sampler : Operator {
  Tensor input, grid;
  int64_t interpolation_mode = 0, padding_mode = 0;
  bool align_corners = false;
  int64_t spatial = 2;

  int64_t cost() const override { return 1000 + 40 * points_ * std::max<int64_t>(1, image_.parts()); }

 protected:
  void plan(const Tensor& sampled, const char* name) {
    const auto axes = static_cast<size_t>(spatial);
    require(input.rank() == axes + 2 && grid.rank() == axes + 2, "input is {}, grid {}: both take {} dimensions", input,
            grid, axes + 2);
    require(grid.shape.back() == spatial && grid.shape[0] == input.shape[0],
            "grid is {}, input {}: it needs the same batch and {} coordinates at the end", grid, input, spatial);
    require(
        interpolation_mode >= 0 && interpolation_mode <= (axes == 2 ? 2 : 1) && padding_mode >= 0 && padding_mode <= 2,
        "interpolation_mode is {}, padding_mode {}: take 0 (linear), 1 (nearest){} and 0 to 2", interpolation_mode,
        padding_mode, axes == 2 ? ", 2 (cubic)" : "");
    Dims expected = grid.shape;
    expected.pop_back();
    expected.insert(1, input.shape[1]);
    require(sampled.shape == expected, "{} is {}, expected shape {}", name, sampled, expected);
    // float32 for halves: images are widened with each plane and rounded once, as it is stored.
    slot_ = pool_slot("input", input);
    rule_ = {static_cast<GridMode>(interpolation_mode), static_cast<GridPadding>(padding_mode), align_corners};
    points_ = 1;
    for (size_t i = 0; i < axes; ++i) {
      size_[3 - axes + i] = input.shape[2 + i];
      points_ *= grid.shape[1 + i];
      require(input.shape[2 + i] > 0, "input is {}: the image axes must not be empty", input);
    }
    image_ = Planes(input, axes, slot_, 1, false);
    sampled_ = Planes(sampled, axes, slot_, 1, true);
    rows_ = Rows(grid, axes + 1, DType::kDouble);
  }

  int64_t channels() const { return input.shape[1]; }
  // Taps of all points of image n: kTaps for each of depth, height and width. The grid says width first.
  void fill_taps(int64_t n, GridTap* taps) const {
    parallel_for(points_, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        double buffer[3];
        const auto* g = static_cast<const double*>(rows_.load(n * points_ + p, buffer));
        GridTap* to = taps + p * 3 * kTaps;
        // In two dimensions depth is one tap, of element 0 and weight 1: one loop serves both.
        to[0] = {};
        for (int64_t i = 0; i < spatial; ++i) grid_taps(g[i], size_[2 - i], rule_, to + (2 - i) * kTaps);
      }
    });
  }
  // Calls body(offset in the plane, depth, height and width tap) for the elements that make one point.
  template <class F>
  void each_tap(const GridTap* taps, const PlaneView& v, F&& body) const {
    const int64_t count = rule_.taps();
    for (int64_t z = 0; z < (spatial == 3 ? count : 1); ++z) {
      for (int64_t y = kTaps; y < kTaps + count; ++y) {
        // Outside elements read as 0 (zeros padding): they add nothing, forwards or backwards.
        if (taps[z].index < 0 || taps[y].index < 0) continue;
        for (int64_t x = 2 * kTaps; x < 2 * kTaps + count; ++x) {
          if (taps[x].index < 0) continue;
          body(taps[z].index * v.slice + taps[y].index * v.row + taps[x].index * v.pixel, taps[z], taps[y], taps[x]);
        }
      }
    }
  }
  template <class F>
  void in_slot(F&& body) const {
    slot_ == DType::kDouble ? body(double{}) : body(float{});
  }

  Planes image_, sampled_;
  Rows rows_;
  GridRule rule_;
  DType slot_ = DType::kFloat;
  int64_t size_[3] = {1, 1, 1};
  int64_t points_ = 0;
};

struct GridSampler final : Sampler {
  Tensor out;

  void prepare() override { plan(out, "out"); }
  void run() override {
    // Taps of one image at a time bound the memory that a large grid takes.
    const Scratch<GridTap> taps(points_ * 3 * kTaps);
    for (int64_t n = 0; n < input.shape[0]; ++n) {
      fill_taps(n, taps);
      parallel_parts(channels(), [&](int64_t c) {
        const Scratch<std::byte> buffer(image_.buffer_bytes() + sampled_.buffer_bytes());
        std::byte* out_buffer = buffer.data() + image_.buffer_bytes();
        const int64_t part = n * channels() + c;
        in_slot([&](auto t) { sample(image_.load(part, buffer), sampled_.target(part, out_buffer), taps, t); });
        sampled_.store(part, out_buffer);
      });
    }
  }

 private:
  template <class T>
  void sample(const PlaneView& from, const PlaneView& to, const GridTap* taps, T) const {
    const T* image = static_cast<const T*>(from.data);
    for (int64_t p = 0; p < points_; ++p) {
      double sum = 0;
      each_tap(taps + p * 3 * kTaps, from, [&](int64_t at, const GridTap& z, const GridTap& y, const GridTap& x) {
        sum += static_cast<double>(image[at]) * (z.weight * y.weight * x.weight);
      });
      static_cast<T*>(to.data)[p * to.pixel] = static_cast<T>(sum);
    }
  }
};

struct GridSamplerBackward final : Sampler {
  Tensor grad_output, grad_input, grad_grid;
  std::vector<bool> output_mask{true, true};

  void prepare() override {
    plan(grad_output, "grad_output");
    by_image_ = wanted(0, grad_input);
    by_grid_ = wanted(1, grad_grid);
    const auto axes = static_cast<size_t>(spatial);
    if (by_image_) {
      require(grad_input.shape == input.shape, "grad_input is {}, input {}: the shapes must be equal", grad_input,
              input);
      grad_image_ = Planes(grad_input, axes, slot_, 1, true);
    }
    if (by_grid_) {
      require(grad_grid.shape == grid.shape, "grad_grid is {}, grid {}: the shapes must be equal", grad_grid, grid);
      grad_rows_ = Rows(grad_grid, axes + 1, DType::kDouble);
    }
  }
  void run() override {
    const Scratch<GridTap> taps(points_ * 3 * kTaps);
    for (int64_t n = 0; n < input.shape[0]; ++n) {
      fill_taps(n, taps);
      in_slot([&](auto t) {
        if (by_image_) to_image(n, taps, t);
        if (by_grid_) to_grid(n, taps, t);
      });
    }
  }

 private:
  // A mask that is too short leaves the choice to the outputs that are there.
  bool wanted(size_t which, const Tensor& t) const {
    return t.defined() && (which >= output_mask.size() || output_mask[which]);
  }

  // A channel is one part: points that read one element add up in their own order.
  template <class T>
  void to_image(int64_t n, const GridTap* taps, T) const {
    parallel_parts(channels(), [&](int64_t c) {
      const Scratch<std::byte> buffer(grad_image_.buffer_bytes() + sampled_.buffer_bytes());
      const int64_t part = n * channels() + c;
      const PlaneView to = grad_image_.target(part, buffer);
      const PlaneView from = sampled_.load(part, buffer.data() + grad_image_.buffer_bytes());
      T* grad = static_cast<T*>(to.data);
      // Places that no point reads have a gradient of 0.
      for (int64_t i = 0; i < grad_image_.plane(); ++i) grad[i * to.pixel] = 0;
      for (int64_t p = 0; p < points_; ++p) {
        const double g = static_cast<const T*>(from.data)[p * from.pixel];
        each_tap(taps + p * 3 * kTaps, to, [&](int64_t at, const GridTap& z, const GridTap& y, const GridTap& x) {
          grad[at] += static_cast<T>(g * (z.weight * y.weight * x.weight));
        });
      }
      grad_image_.store(part, buffer);
    });
  }

  // Channels one after the other, points in parallel: each point's sum has a fixed order.
  template <class T>
  void to_grid(int64_t n, const GridTap* taps, T) const {
    const Scratch<std::byte> buffer(image_.buffer_bytes() + sampled_.buffer_bytes());
    const Scratch<double> sums(points_ * 3);
    std::fill_n(sums.data(), points_ * 3, 0.0);
    for (int64_t c = 0; c < channels(); ++c) {
      const PlaneView image = image_.load(n * channels() + c, buffer);
      const PlaneView from = sampled_.load(n * channels() + c, buffer.data() + image_.buffer_bytes());
      parallel_for(points_, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const double g = static_cast<const T*>(from.data)[p * from.pixel];
          double* sum = sums.data() + p * 3;
          each_tap(taps + p * 3 * kTaps, image, [&](int64_t at, const GridTap& z, const GridTap& y, const GridTap& x) {
            // Each factor's own slope beside the weights of the other axes: the product rule.
            const double value = g * static_cast<double>(static_cast<const T*>(image.data)[at]);
            sum[0] += value * x.slope * y.weight * z.weight;
            sum[1] += value * x.weight * y.slope * z.weight;
            sum[2] += value * x.weight * y.weight * z.slope;
          });
        }
      });
    }
    for (int64_t p = 0; p < points_; ++p) {
      double row[3];
      auto* to = static_cast<double*>(grad_rows_.target(n * points_ + p, row));
      // The grid says width first, as do the sums.
      std::copy_n(sums.data() + p * 3, spatial, to);
      grad_rows_.store(n * points_ + p, to);
    }
  }

  Planes grad_image_;
  Rows grad_rows_;
  bool by_image_ = false, by_grid_ = false;
};

NPU_OPERATOR(GridSampler, "grid_sampler", "image", in<&GridSampler::input>("input"), in<&GridSampler::grid>("grid"),
             attr<&GridSampler::interpolation_mode>("interpolation_mode"),
             attr<&GridSampler::padding_mode>("padding_mode"), attr<&GridSampler::align_corners>("align_corners"),
             attr<&GridSampler::spatial>("spatial"), out<&GridSampler::out>("out"));
NPU_OPERATOR(GridSamplerBackward, "grid_sampler_backward", "image",
             in<&GridSamplerBackward::grad_output>("grad_output"), in<&GridSamplerBackward::input>("input"),
             in<&GridSamplerBackward::grid>("grid"),
             attr<&GridSamplerBackward::interpolation_mode>("interpolation_mode"),
             attr<&GridSamplerBackward::padding_mode>("padding_mode"),
             attr<&GridSamplerBackward::align_corners>("align_corners"),
             attr<&GridSamplerBackward::output_mask>("output_mask"), attr<&GridSamplerBackward::spatial>("spatial"),
             optional_out<&GridSamplerBackward::grad_input>("grad_input"),
             optional_out<&GridSamplerBackward::grad_grid>("grad_grid"));

}  // namespace
}  // namespace npu::ops
