// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ops/call_fixture.h"
#include "ops/conv/geometry.h"

namespace npu::ops {
namespace {

struct Geometry {
  const char* name;
  Dims input, weight;
  std::vector<int64_t> stride{1}, padding{0}, dilation{1}, output_padding{0};
  int64_t groups = 1;
  bool transposed = false;
};

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> list{
      {"pointwise", {3, 16, 5, 7}, {24, 16, 1, 1}},
      {"pointwise_stride", {2, 16, 8, 8}, {8, 16, 1, 1}, {2}},
      {"same", {2, 16, 9, 11}, {32, 16, 3, 3}, {1}, {1}},
      {"rgb", {2, 3, 20, 20}, {16, 3, 7, 7}, {2}, {3}},
      {"uneven", {3, 5, 13, 10}, {7, 5, 3, 2}, {2, 3}, {1, 0}},
      {"dilated", {2, 8, 12, 12}, {8, 8, 3, 3}, {1}, {2}, {2}},
      {"groups", {2, 12, 8, 8}, {18, 4, 3, 3}, {1}, {1}, {1}, {0}, 3},
      {"depthwise", {2, 32, 10, 10}, {32, 1, 3, 3}, {1}, {1}, {1}, {0}, 32},
      {"depthwise_multiple", {2, 6, 10, 10}, {12, 1, 3, 3}, {2}, {1}, {1}, {0}, 6},
      {"depthwise_wide", {3, 40, 9, 14}, {40, 1, 5, 5}, {1}, {2}, {1}, {0}, 40},
      {"depthwise_stride", {2, 37, 15, 12}, {37, 1, 5, 3}, {2}, {2, 1}, {1}, {0}, 37},
      {"depthwise_stride_and_dilation", {2, 20, 17, 16}, {20, 1, 3, 3}, {3, 2}, {2}, {2}, {0}, 20},
      {"depthwise_wide_padding", {9, 4, 3, 3}, {4, 1, 5, 5}, {2}, {4}, {1}, {0}, 4},
      {"depthwise_line", {2, 18, 21}, {18, 1, 5}, {2}, {2}, {1}, {0}, 18},
      {"depthwise_transposed", {2, 20, 6, 7}, {20, 1, 4, 4}, {2}, {1}, {1}, {1}, 20, true},
      {"disjoint", {3, 5, 12, 32}, {7, 5, 3, 16}, {3, 16}},
      {"disjoint_with_a_rest", {2, 3, 35, 53}, {24, 3, 8, 17}, {8, 17}},
      {"disjoint_transposed", {2, 9, 3, 5}, {9, 6, 2, 16}, {2, 16}, {0}, {1}, {0}, 1, true},
      {"disjoint_transposed_with_a_rest", {2, 9, 3, 5}, {9, 6, 3, 16}, {3, 16}, {0}, {1}, {2, 1}, 1, true},
      {"wide_steps_of_few_channels", {2, 16, 3, 44}, {9, 16, 2, 8}, {1, 4}},
      {"wide_steps_with_padding", {2, 24, 4, 30}, {9, 24, 2, 12}, {1, 4}, {1, 5}},
      {"line_of_wide_steps", {2, 8, 81}, {12, 8, 16}, {8}, {3}},
      {"transposed_short_lines", {2, 9, 3, 5}, {9, 6, 2, 2}, {2}, {0}, {1}, {0}, 1, true},
      {"wide_padding", {1, 4, 3, 3}, {4, 4, 3, 3}, {1}, {3}},
      {"one_image_cut_by_rows", {1, 32, 40, 40}, {64, 32, 3, 3}, {1}, {1}},
      {"dilated_cut_by_rows", {1, 32, 40, 40}, {64, 32, 3, 3}, {1}, {2}, {2}},
      {"batch_cut", {12, 16, 24, 24}, {64, 16, 3, 3}, {1}, {1}},
      {"more_weights_than_images", {2, 128, 3, 2}, {128, 128, 3, 3}, {1}, {1}},
      {"large_filter", {2, 128, 3, 3}, {256, 128, 3, 3}, {1}, {1}},
      {"few_channels", {9, 8, 9, 9}, {12, 8, 3, 3}, {2}, {1}},
      {"few_channels_wide_filter", {2, 8, 7, 10}, {12, 8, 2, 3}, {1}, {0, 1}},
      {"few_channels_volume", {2, 8, 5, 6, 7}, {12, 8, 3, 3, 3}, {1}, {1}},
      {"line", {3, 8, 17}, {12, 8, 3}, {2}, {1}},
      {"line_pointwise", {3, 8, 17}, {12, 8, 1}},
      {"volume", {2, 4, 5, 6, 7}, {8, 4, 3, 3, 3}, {1}, {1}},
      {"odd_channels", {3, 17, 9, 13}, {35, 17, 3, 3}, {1}, {1}},
      {"wide_lines", {2, 32, 6, 31}, {48, 32, 3, 3}, {1}, {1}},
      {"stride_of_odd_lines", {2, 24, 15, 15}, {40, 24, 3, 3}, {2}, {1}},
      {"stride_beyond_the_kernel", {2, 16, 11, 14}, {32, 16, 2, 2}, {3}, {0}},
      {"stride_and_dilation", {2, 16, 17, 16}, {32, 16, 3, 3}, {2}, {2}, {2}},
      {"even_kernel", {3, 20, 9, 10}, {70, 20, 4, 5}, {1, 2}, {2, 1}},
      {"odd_lines_of_many_images", {3, 17, 23, 25}, {35, 17, 3, 3}, {1}, {1}},
      {"large_odd_filter", {2, 131, 5, 9}, {127, 131, 3, 3}, {1}, {1}},
      {"large_filter_with_stride", {2, 130, 7, 15}, {130, 130, 3, 3}, {2}, {1}},
      {"large_dilated_filter", {5, 130, 5, 4}, {130, 130, 3, 3}, {1}, {2}, {2}},
      {"small_images", {9, 64, 4, 4}, {64, 64, 3, 3}, {1}, {1}},
      {"many_small_images", {40, 40, 6, 5}, {33, 40, 3, 3}, {1}, {1}},
      {"transposed", {2, 16, 6, 7}, {16, 8, 3, 3}, {2}, {1}, {1}, {1}, 1, true},
      {"transposed_wide", {2, 32, 9, 10}, {32, 48, 4, 4}, {2}, {1}, {1}, {0}, 1, true},
      {"transposed_groups", {2, 8, 6, 6}, {8, 3, 4, 4}, {2}, {1}, {1}, {0}, 2, true},
      {"transposed_dilated", {1, 8, 6, 6}, {8, 8, 3, 3}, {1}, {0}, {2}, {1}, 1, true},
      {"transposed_line", {2, 8, 9}, {8, 5, 4}, {3}, {2}, {1}, {2}, 1, true},
      {"transposed_pointwise", {2, 8, 6, 6}, {8, 12, 1, 1}, {1}, {0}, {1}, {0}, 1, true},
  };
  return list;
}

// Plain loops: calls f(index in src, index in weight, index in dst), all dense row-major, src and dst as in ConvShape.
template <class F>
void each_product(const cube::ConvShape& s, F&& f) {
  const int64_t cg = s.c / s.groups, og = s.o / s.groups, taps = cube::ConvShape::product(s.kernel);
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t o = 0; o < s.o; ++o) {
      for (int64_t p = 0; p < s.out_pixels(); ++p) {
        const int64_t place[3] = {p / (s.out[1] * s.out[2]), p / s.out[2] % s.out[1], p % s.out[2]};
        for (int64_t q = 0; q < taps; ++q) {
          const int64_t tap[3] = {q / (s.kernel[1] * s.kernel[2]), q / s.kernel[2] % s.kernel[1], q % s.kernel[2]};
          int64_t at = 0;
          bool inside = true;
          for (size_t d = 0; d < 3; ++d) {
            const int64_t x = place[d] * s.stride[d] - s.pad[d] + tap[d] * s.dilation[d];
            inside = inside && x >= 0 && x < s.in[d];
            at = at * s.in[d] + x;
          }
          if (!inside) continue;
          for (int64_t c = 0; c < cg; ++c) {
            f((n * s.c + o / og * cg + c) * s.in_pixels() + at, (o * cg + c) * taps + q,
              (n * s.o + o) * s.out_pixels() + p);
          }
        }
      }
    }
  }
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 1;
  for (const double w : want) scale = std::max(scale, std::fabs(w));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance * scale) << what << " element " << i;
}

// Half an ulp of the output for the one rounding; float sums grow with the number of products, here up to about 7000.
double tolerance(DType dtype) {
  const double sums = dtype == DType::kDouble ? 1e-13 : 4e-6;
  return sums + (dtype == DType::kHalf ? 0x1p-11 : dtype == DType::kBFloat16 ? 0x1p-8 : 0);
}

// How images and weights lie: row-major, both channels-last, or as TensorFlow keeps them, filters [kernel…, in, out].
enum class Layout { kRows, kLast, kFilterLast };

std::vector<size_t> order_of(Layout layout, size_t rank, bool weight = false) {
  if (layout == Layout::kRows) return {};
  std::vector<size_t> order;
  for (size_t d = 2; d < rank; ++d) order.push_back(d);
  const bool filter = weight && layout == Layout::kFilterLast;
  if (filter) order.insert(order.end(), {1, 0});
  if (!filter) order.insert(order.begin(), 0), order.push_back(1);
  return order;
}

size_t u(int64_t i) { return static_cast<size_t>(i); }

void check(const Geometry& g, DType dtype, Layout layout) {
  const std::string what = fmt::format("{} {} layout {}", g.name, name_of(dtype), static_cast<int>(layout));
  const auto order = order_of(layout, g.input.size()), filter = order_of(layout, g.input.size(), true);
  const Array input = Array(dtype, g.input, order).random(1), weight = Array(dtype, g.weight, filter).random(2);
  const ConvOptions options{g.stride, g.padding, g.dilation, g.output_padding, g.transposed, g.groups};
  const Dims shape = conv_output_shape(input, weight, options);
  const Array bias = Array(dtype, {shape[1]}).random(3), out(dtype, shape, order);
  const auto call = [&](const char* name) {
    return std::move(Call(name)
                         .set("input", input.tensor())
                         .set("weight", weight.tensor())
                         .set("stride", g.stride)
                         .set("padding", g.padding)
                         .set("dilation", g.dilation)
                         .set("output_padding", g.output_padding)
                         .set("transposed", g.transposed)
                         .set("groups", g.groups));
  };
  call("convolution").set("bias", bias.tensor()).set("out", out.tensor()).run();

  const cube::ConvShape s = conv_shape(input, weight, out, options);
  const auto x = input.values(), w = weight.values(), b = bias.values();
  std::vector<double> want(u(out.tensor().count()));
  const int64_t pixels = out.tensor().count() / (shape[0] * shape[1]);
  for (size_t i = 0; i < want.size(); ++i) want[i] = b[i / u(pixels) % b.size()];
  each_product(s, [&](int64_t src, int64_t tap, int64_t dst) {
    want[u(g.transposed ? src : dst)] += x[u(g.transposed ? dst : src)] * w[u(tap)];
  });
  expect_near(out.values(), want, tolerance(dtype), what + " forward");

  const Array grad = Array(dtype, shape, order).random(4);
  const Array grad_input(dtype, g.input, order), grad_weight(dtype, g.weight, filter), grad_bias(dtype, {shape[1]});
  call("convolution_backward")
      .set("grad_output", grad.tensor())
      .set("output_mask", std::vector<bool>{true, true, true})
      .set("grad_input", grad_input.tensor())
      .set("grad_weight", grad_weight.tensor())
      .set("grad_bias", grad_bias.tensor())
      .run();
  const auto dy = grad.values();
  std::vector<double> dx(x.size()), dw(w.size()), db(b.size());
  for (size_t i = 0; i < dy.size(); ++i) db[i / u(pixels) % db.size()] += dy[i];
  each_product(s, [&](int64_t src, int64_t tap, int64_t dst) {
    const size_t in = u(g.transposed ? dst : src), at = u(g.transposed ? src : dst);
    dx[in] += dy[at] * w[u(tap)];
    dw[u(tap)] += dy[at] * x[in];
  });
  expect_near(grad_input.values(), dx, tolerance(dtype), what + " grad_input");
  expect_near(grad_weight.values(), dw, tolerance(dtype), what + " grad_weight");
  expect_near(grad_bias.values(), db, tolerance(dtype), what + " grad_bias");
}

class Convolution : public testing::TestWithParam<DType> {};

TEST_P(Convolution, MatchesPlainLoops) {
  for (const Geometry& g : geometries()) {
    for (const Layout layout : {Layout::kRows, Layout::kLast, Layout::kFilterLast}) check(g, GetParam(), layout);
  }
}
INSTANTIATE_TEST_SUITE_P(Dtypes, Convolution,
                         testing::Values(DType::kFloat, DType::kHalf, DType::kBFloat16, DType::kDouble),
                         [](const auto& info) { return std::string(name_of(info.param)); });

void expect_fast(const Geometry& g, Layout layout) {
  const auto order = order_of(layout, g.input.size()), filter = order_of(layout, g.input.size(), true);
  const Array input(DType::kFloat, g.input, order), weight(DType::kFloat, g.weight, filter);
  const ConvOptions options{g.stride, g.padding, g.dilation, g.output_padding, g.transposed, g.groups};
  const Array out(DType::kFloat, conv_output_shape(input, weight, options), order);
  const cube::ConvShape s = conv_shape(input, weight, out, options);
  const Tensor& src = g.transposed ? out.tensor() : input.tensor();
  const Tensor& dst = g.transposed ? input.tensor() : out.tensor();
  const ConvTensors t{at_least_2d(src), at_least_2d(weight), {}, at_least_2d(dst)};
  const bool unread = s.pad_after(1) + s.stride[1] <= 0;  // a whole stride of input that no output reads: plain way
  if (unread) return;
  for (const auto pass : {cube::ConvPass::kForward, cube::ConvPass::kBackwardData, cube::ConvPass::kBackwardWeights}) {
    if (s.pointwise())
      EXPECT_NE(make_pointwise_conv(pass, s, t), nullptr) << g.name;
    else
      EXPECT_NE(make_tiled_conv(pass, s, t), nullptr) << g.name << " pass " << static_cast<int>(pass);
  }
}

TEST(ConvolutionKernels, TheFastWaysAreTaken) {
  for (const Geometry& g : geometries())
    for (const Layout layout : {Layout::kRows, Layout::kLast, Layout::kFilterLast}) expect_fast(g, layout);
}

// Against the plain way, also where the table gives the work to another.
void check_direct(const Geometry& g, DType dtype, Layout layout, cube::ConvPass pass) {
  const auto order = order_of(layout, g.input.size()), filter = order_of(layout, g.input.size(), true);
  const ConvOptions options{g.stride, g.padding, g.dilation, g.output_padding, g.transposed, g.groups};
  const Array input = Array(dtype, g.input, order).random(1);
  std::vector<std::vector<double>> results;
  for (ConvMaker* make : {make_direct_kernel, make_unfolded_conv}) {
    const Array weight = Array(dtype, g.weight, filter).random(2);
    const Dims shape = conv_output_shape(input, weight, options);
    const Array bias = Array(dtype, {shape[1]}).random(3), out = Array(dtype, shape, order).random(4);
    const bool forward = pass == cube::ConvPass::kForward;
    const ConvTensors t{input.tensor(), weight.tensor(), forward ? bias.tensor() : Tensor(), out.tensor()};
    const auto kernel = make(pass, conv_shape(input, weight, out, options), t);
    if (kernel == nullptr) return;
    kernel->run(t, nullptr);
    results.push_back((forward ? out : weight).values());
  }
  expect_near(results[0], results[1], tolerance(dtype), fmt::format("{} {}", g.name, name_of(dtype)));
}

// A kernel of 2 x 8 at its stride leaves out the last line and columns: their gradient is 0, whatever lay there.
TEST(ConvolutionKernels, NoGradientBesideDisjointPatches) {
  const Array input = Array(DType::kFloat, {2, 3, 5, 19}).filled(9), out = Array(DType::kFloat, {2, 4, 2, 2}).filled(1);
  const Array weight = Array(DType::kFloat, {4, 3, 2, 8}).filled(1);
  const ConvOptions options{{2, 8}, {0}, {1}, {0}, false, 1};
  const ConvTensors t{input.tensor(), weight.tensor(), {}, out.tensor()};
  const auto kernel = make_disjoint_conv(cube::ConvPass::kBackwardData, conv_shape(input, weight, out, options), t);
  ASSERT_NE(kernel, nullptr);
  kernel->run(t, nullptr);
  const auto got = input.values();
  for (size_t i = 0; i < got.size(); ++i) {
    const bool beside = i % 19 >= 16 || i / 19 % 5 == 4;
    EXPECT_EQ(got[i], beside ? 0 : 4) << i;
  }
}

TEST(ConvolutionKernels, TheHousesOwnOnAllTheyTake) {
  for (const Geometry& g : geometries()) {
    if (g.transposed || g.input.size() != 4) continue;
    for (const DType dtype : {DType::kFloat, DType::kBFloat16}) {
      for (const Layout layout : {Layout::kRows, Layout::kLast, Layout::kFilterLast}) {
        for (const auto pass : {cube::ConvPass::kForward, cube::ConvPass::kBackwardWeights})
          check_direct(g, dtype, layout, pass);
      }
    }
  }
}

TEST(ConvolutionKernels, FiltersAsTheyLie) {
  const auto made = [](const char* name, Layout layout) {
    const auto g = std::find_if(geometries().begin(), geometries().end(),
                                [&](const Geometry& one) { return std::string_view(one.name) == name; });
    const auto order = order_of(layout, g->input.size()), filter = order_of(layout, g->input.size(), true);
    const Array input(DType::kFloat, g->input, order), weight(DType::kFloat, g->weight, filter);
    const ConvOptions options{g->stride, g->padding, g->dilation, g->output_padding, g->transposed, g->groups};
    const Array out(DType::kFloat, conv_output_shape(input, weight, options), order);
    const cube::ConvShape s = conv_shape(input, weight, out, options);
    return make_patches_conv(cube::ConvPass::kForward, s, {input, weight, {}, out}) != nullptr;
  };
  for (const char* name : {"large_filter", "few_channels", "few_channels_wide_filter", "few_channels_volume"}) {
    EXPECT_TRUE(made(name, Layout::kFilterLast)) << name;
    EXPECT_FALSE(made(name, Layout::kLast)) << name;
  }
  EXPECT_FALSE(made("batch_cut", Layout::kFilterLast));
  EXPECT_FALSE(made("rgb", Layout::kFilterLast));
}

TEST(ConvolutionArguments, EmptyBatchGivesZeroGradients) {
  const Array input(DType::kFloat, {0, 4, 5, 5}), weight = Array(DType::kFloat, {6, 4, 3, 3}).random(1);
  const Array out(DType::kFloat, {0, 6, 3, 3}), grad_weight = Array(DType::kFloat, {6, 4, 3, 3}).random(2);
  const Array grad_bias = Array(DType::kFloat, {6}).filled(3);
  Call("convolution").set("input", input.tensor()).set("weight", weight.tensor()).set("out", out.tensor()).run();
  Call("convolution_backward")
      .set("grad_output", out.tensor())
      .set("input", input.tensor())
      .set("weight", weight.tensor())
      .set("output_mask", std::vector<bool>{false, true, true})
      .set("grad_weight", grad_weight.tensor())
      .set("grad_bias", grad_bias.tensor())
      .run();
  EXPECT_EQ(grad_weight.values(), std::vector<double>(216, 0.0));
  EXPECT_EQ(grad_bias.values(), std::vector<double>(6, 0.0));
}

TEST(ConvolutionArguments, PaddingBeforeAndAfterALine) {
  const Array input = Array(DType::kFloat, {1, 1, 4}).random(1), weight = Array(DType::kFloat, {2, 1, 3}).random(2);
  const Array padded = Array(DType::kFloat, {1, 1, 7}).filled(0), want(DType::kFloat, {1, 2, 5});
  std::copy_n(input.tensor().as<float>(), 4, padded.tensor().as<float>() + 1);
  Call("convolution").set("input", padded.tensor()).set("weight", weight.tensor()).set("out", want.tensor()).run();
  const Array out(DType::kFloat, {1, 2, 5});
  Call("convolution")
      .set("input", input.tensor())
      .set("weight", weight.tensor())
      .set("out", out.tensor())
      .set("padding", std::vector<int64_t>{1, 2})
      .run();
  expect_near(out.values(), want.values(), 1e-6, "padding");
}

TEST(ConvolutionArguments, PaddingBeforeAndAfter) {
  const Array input = Array(DType::kFloat, {1, 2, 4, 4}).random(1),
              weight = Array(DType::kFloat, {3, 2, 3, 3}).random(2);
  const Array padded = Array(DType::kFloat, {1, 2, 7, 5}).filled(0), want(DType::kFloat, {1, 3, 5, 3});
  const auto x = input.values();
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 16; ++i)
      padded.tensor().as<float>()[c * 35 + (i / 4 + 1) * 5 + i % 4 + 1] = static_cast<float>(x[u(c * 16 + i)]);
  }
  Call("convolution").set("input", padded.tensor()).set("weight", weight.tensor()).set("out", want.tensor()).run();
  const Array out(DType::kFloat, {1, 3, 5, 3});
  Call("convolution")
      .set("input", input.tensor())
      .set("weight", weight.tensor())
      .set("out", out.tensor())
      .set("padding", std::vector<int64_t>{1, 2, 1, 0})
      .run();
  expect_near(out.values(), want.values(), 1e-6, "padding");
}

TEST(ConvolutionArguments, Refusals) {
  const Array input(DType::kFloat, {2, 4, 5, 5}), weight(DType::kFloat, {6, 3, 3, 3}), out(DType::kFloat, {2, 6, 3, 3});
  const auto refusal = [&](const Tensor& in, const Tensor& w, std::vector<int64_t> stride = {1}, int64_t groups = 1) {
    return Call("convolution")
        .set("input", in)
        .set("weight", w)
        .set("out", out.tensor())
        .set("stride", std::move(stride))
        .set("groups", groups)
        .refusal();
  };
  EXPECT_EQ(refusal(input, weight), "input has 4 channels, weight 6x3x3x3 with groups 1 takes 3");
  const Array small(DType::kFloat, {6, 4, 7, 7}), good(DType::kFloat, {6, 4, 3, 3}), line(DType::kFloat, {6, 4, 3});
  EXPECT_EQ(refusal(input, small),
            "input 2x4x5x5 padded to 5 in dimension 2 is smaller than the kernel, which spans 7");
  EXPECT_EQ(refusal(input, line), "input has 4 dimensions, weight 3: they must agree");
  EXPECT_EQ(refusal(input, good, {0}), "stride is [0]: each value must be at least 1");
  EXPECT_EQ(refusal(input, good, {1, 1, 1}),
            "stride has 3 values for 2 spatial dimensions; give one, or one per dimension");
  EXPECT_EQ(refusal(input, good, {1}, 0), "groups is 0; it must be at least 1");
  EXPECT_EQ(refusal(input, good, {2}), "out is 2x6x3x3, the arguments give 2x6x2x2");
  const Array whole(DType::kInt32, {2, 4, 5, 5});
  EXPECT_EQ(refusal(whole, good), "input is int32: convolution computes float tensors; cast it first");
}

}  // namespace
}  // namespace npu::ops
