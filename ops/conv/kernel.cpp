// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/kernel.h"

#include <array>
#include <iterator>

#include "base/thread_pool.h"
#include "ops/cube/channels_last.h"
#include "ops/scratch.h"
#include "ops/tuning/parts.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/elementwise/transpose.h"

namespace npu::ops {
namespace {

// Calls body(offset in the strided tensor, position in dense order) for each row of the last axis.
// The way of weights that lie in no known order. They are small, so offsets are simply worked out for each row.
template <class F>
void each_row(const Tensor& t, F&& body) {
  const int64_t length = t.shape.back();
  const int64_t rows = length == 0 ? 0 : t.count() / length;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = t.rank() - 1; d-- > 0; rest /= t.shape[d]) offset += rest % t.shape[d] * t.strides[d];
    body(offset, i * length);
  }
}

int64_t bytes_of(DType dtype) { return static_cast<int64_t>(size_of(dtype)); }

/// A weight [out, in, kernel…] that lies as TensorFlow keeps it, [kernel…, in, out], and dense memory [out, in,
/// kernel…]: two transpositions, a run of outputs at a time.
class FilterLast {
 public:
  explicit FilterLast(const Tensor& weight)
      : weight_(weight),
        out_(weight.shape[0]),
        in_(weight.shape[1]),
        kernel_(weight.count() / std::max<int64_t>(out_ * in_, 1)),
        element_(bytes_of(weight.dtype)) {}

  static bool is(const Tensor& weight) {
    // Axes of size 1 may have any stride.
    int64_t expected = 1;
    const auto next = [&](size_t axis) {
      const bool fits = weight.shape[axis] == 1 || weight.strides[axis] == expected;
      expected *= weight.shape[axis];
      return fits;
    };
    if (!next(0) || !next(1)) return false;
    for (size_t axis = weight.rank(); axis-- > 2;)
      if (!next(axis)) return false;
    // transpose moves elements of 2, 4 and 8 bytes.
    return weight.count() > 0 && size_of(weight.dtype) >= 2 && size_of(weight.dtype) <= 8;
  }

  void load(DType dtype, std::byte* to) const {
    const Convert convert = converter(weight_.dtype, dtype);
    each_run([&](int64_t first, int64_t count, std::byte* rows, std::byte* turned) {
      // All outputs of a run are turned at once, then each output's own matrix: both work on blocks that fit the cache.
      transpose(weight_.bytes() + first * element_, out_, kernel_ * in_, count, element_, rows, kernel_ * in_);
      for (int64_t o = 0; o < count; ++o)
        transpose(rows + o * bytes(), in_, kernel_, in_, element_, turned + o * bytes(), kernel_);
      convert(turned, 1, to + first * in_ * kernel_ * bytes_of(dtype), 1, count * in_ * kernel_);
    });
  }

  void store(const std::byte* from, DType dtype) const {
    const Convert convert = converter(dtype, weight_.dtype);
    // The steps of load in reverse order; the rounding, if any, comes first.
    each_run([&](int64_t first, int64_t count, std::byte* rows, std::byte* turned) {
      convert(from + first * in_ * kernel_ * bytes_of(dtype), 1, turned, 1, count * in_ * kernel_);
      for (int64_t o = 0; o < count; ++o)
        transpose(turned + o * bytes(), kernel_, in_, kernel_, element_, rows + o * bytes(), in_);
      transpose(rows, kernel_ * in_, count, kernel_ * in_, element_, weight_.bytes() + first * element_, out_);
    });
  }

 private:
  static constexpr int64_t kRun = 16;  // outputs: a cache line of floats
  int64_t bytes() const { return in_ * kernel_ * element_; }

  template <class F>
  void each_run(F&& body) const {
    parallel_parts((out_ + kRun - 1) / kRun, [&](int64_t run) {
      const Scratch<std::byte> room(2 * kRun * bytes());
      body(run * kRun, std::min(kRun, out_ - run * kRun), room.data(), room.data() + kRun * bytes());
    });
  }

  const Tensor& weight_;
  int64_t out_, in_, kernel_, element_;
};

}  // namespace

// Halves are computed in float32; direct.cpp and tiled.cpp have the one exception, native bfloat16.
DType conv_slot(const ConvTensors& t) {
  for (const Tensor* tensor : {&t.src, &t.weight, &t.bias, &t.dst}) {
    if (tensor->dtype == DType::kDouble) return DType::kDouble;
  }
  return DType::kFloat;
}

bool kept_ways_win(cube::ConvPass pass, const cube::ConvShape& shape, const ConvTensors& t) {
  constexpr int64_t kLeastPixels = 16;  // fewer are products with a row or two
  const auto fits = [](const Tensor& images) {
    return images.dtype == DType::kFloat && cube::is_channels_last(images);
  };
  return pass == cube::ConvPass::kForward && t.kept_weight && t.weight.dtype == DType::kFloat && fits(t.src) &&
         fits(t.dst) && shape.n * shape.out_pixels() >= kLeastPixels;
}

std::optional<cube::WeightLayout> weight_layout(const Tensor& weight) {
  const auto layout = [&](cube::WeightOrder order) {
    return cube::WeightLayout{order, weight.shape[0], weight.shape[1]};
  };
  if (weight.contiguous()) return layout(cube::WeightOrder::kRows);
  if (cube::is_channels_last(weight)) return layout(cube::WeightOrder::kInputsLast);
  if (FilterLast::is(weight)) return layout(cube::WeightOrder::kOutputsLast);
  return std::nullopt;
}

void to_dense(const Tensor& weight, DType dtype, void* to) {
  const Convert convert = converter(weight.dtype, dtype);
  if (weight.contiguous()) return convert(weight.bytes(), 1, to, 1, weight.count());
  if (cube::is_channels_last(weight)) {
    return cube::from_channels_last(weight.bytes(), weight.dtype, make_tensor(to, dtype, weight.shape));
  }
  if (FilterLast::is(weight)) return FilterLast(weight).load(dtype, static_cast<std::byte*>(to));
  each_row(weight, [&](int64_t offset, int64_t position) {
    convert(weight.bytes() + offset * bytes_of(weight.dtype), weight.strides.back(),
            static_cast<std::byte*>(to) + position * bytes_of(dtype), 1, weight.shape.back());
  });
}

void from_dense(const void* from, DType dtype, const Tensor& weight) {
  const Convert convert = converter(dtype, weight.dtype);
  if (weight.contiguous()) return convert(from, 1, weight.bytes(), 1, weight.count());
  if (cube::is_channels_last(weight)) {
    return cube::to_channels_last(make_tensor(const_cast<void*>(from), dtype, weight.shape), weight.dtype,
                                  weight.bytes());
  }
  if (FilterLast::is(weight)) return FilterLast(weight).store(static_cast<const std::byte*>(from), dtype);
  each_row(weight, [&](int64_t offset, int64_t position) {
    convert(static_cast<const std::byte*>(from) + position * bytes_of(dtype), 1,
            weight.bytes() + offset * bytes_of(weight.dtype), weight.strides.back(), weight.shape.back());
  });
}

namespace {

struct Way {
  std::string_view name;
  ConvMaker* make;        ///< refuses also where it is not the fastest
  ConvMaker* make_asked;  ///< refuses where it cannot
};
// In order of speed. Products come first: they read images where they lie. The last one takes every geometry and dtype,
// so no convolution whose arguments are in order is refused.
constexpr std::array<Way, 8> kWays{{{"pointwise", make_pointwise_conv, make_pointwise_conv},
                                    {"winograd", make_winograd_conv, make_winograd_conv},
                                    {"disjoint", make_disjoint_conv, make_disjoint_conv},
                                    {"patches", make_patches_conv, make_patches_kernel},
                                    {"direct", make_direct_conv, make_direct_kernel},
                                    {"depthwise", make_depthwise_conv, make_depthwise_conv},
                                    {"tiled", make_tiled_conv, make_tiled_conv},
                                    {"unfolded", make_unfolded_conv, make_unfolded_conv}}};
constexpr auto kNames = [] {
  std::array<std::string_view, kWays.size()> names;
  for (size_t i = 0; i < kWays.size(); ++i) names[i] = kWays[i].name;
  return names;
}();
const tuning::Point kPoint("conv_way", "How a pass of a convolution is computed, and in which layout.", kNames);

const tuning::Point kPartsPoint("conv_parts", "Into how many parts a pass of a convolution is cut at most.",
                                tuning::kPartNames);

std::string_view layout_name(const Tensor& images) {
  return cube::is_channels_last(images) ? "last" : images.contiguous() ? "first" : "strided";
}

std::string_view layout_name(const std::optional<cube::WeightLayout>& weight) {
  if (!weight) return "strided";
  switch (weight->order) {
    case cube::WeightOrder::kRows: return "rows";
    case cube::WeightOrder::kInputsLast: return "inputs_last";
    default: return "outputs_last";
  }
}

std::string key_of(cube::ConvPass pass, const cube::ConvShape& shape, const ConvTensors& t) {
  return fmt::format("{} src={} {} weight={} {} dst={} {}{}", conv_key(pass, shape), name_of(t.src.dtype),
                     layout_name(t.src), name_of(t.weight.dtype), layout_name(weight_layout(t.weight)),
                     name_of(t.dst.dtype), layout_name(t.dst), t.bias.defined() ? " bias" : "");
}

}  // namespace

std::string conv_key(cube::ConvPass pass, const cube::ConvShape& s) {
  constexpr std::array<std::string_view, 3> kPasses{"forward", "backward_data", "backward_weights"};
  const auto sizes = [&](const cube::Spatial& all) {
    return fmt::format("{}", fmt::join(all.end() - s.rank, all.end(), "x"));
  };
  return fmt::format("{} n={} c={} o={} groups={} in={} out={} kernel={} stride={} dilation={} pad={}",
                     kPasses[static_cast<size_t>(pass)], s.n, s.c, s.o, s.groups, sizes(s.in), sizes(s.out),
                     sizes(s.kernel), sizes(s.stride), sizes(s.dilation), sizes(s.pad));
}

int64_t conv_parts(std::string_view kernel, cube::ConvPass pass, const cube::ConvShape& shape, DType dtype,
                   int64_t usual) {
  return tuning::parts_for(kPartsPoint, usual,
                           [&] { return fmt::format("{} {} {}", kernel, conv_key(pass, shape), name_of(dtype)); });
}

std::unique_ptr<ConvKernel> make_conv(cube::ConvPass pass, const cube::ConvShape& shape, const ConvTensors& tensors) {
  const tuning::Question question(kPoint, [&] { return key_of(pass, shape, tensors); });
  std::unique_ptr<ConvKernel> kernel;
  const auto made = [&](size_t way, ConvMaker* make) {
    kernel = make(pass, shape, tensors);
    if (kernel != nullptr) question.took(way);
    return kernel != nullptr;
  };
  if (const auto asked = question.answer(); asked && made(*asked, kWays[*asked].make_asked)) return kernel;
  for (size_t way = 0; way < kWays.size() && !made(way, kWays[way].make); ++way) {
  }
  return kernel;
}

}  // namespace npu::ops
