// SPDX-License-Identifier: Apache-2.0
// Both ways of every class of shapes that the table of ops/cube/choices.h tells apart, by shapes that stand for the
// class: what tests/bench/choose.py reads. Names are choice/WORK/DTYPE/VARIANT/LEAST_ROWS/SIZE/SHAPE/WAY.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "ops/call_fixture.h"
#include "ops/cube/choices.h"

namespace npu::ops {
namespace {

constexpr int kSizes = 10;

// A multiple of 8 whose square, times `taps`, lies in the middle of size class `size`.
int64_t side_of(int size, int64_t taps) {
  const double side = std::sqrt(std::exp2(cube::kFirstSize - 0.5 + size) / static_cast<double>(taps));
  return 8 * std::lround(side / 8);
}

// 3 x 3, of images 7, 14 and 28 pixels wide: what networks for images have of such weights.
void convolution(benchmark::State& state, DType dtype, bool strided, bool backward, int64_t width, int64_t batch,
                 int64_t channels, bool own) {
  const cube::ForcedWay way(own);
  const int64_t in = strided ? 2 * width : width;
  const Array input = Array(dtype, {batch, channels, in, in}).filled(0.5),
              weight = Array(dtype, {channels, channels, 3, 3}).filled(0.25),
              output = Array(dtype, {batch, channels, width, width}).filled(1);
  Call call(backward ? "convolution_backward" : "convolution");
  call.set("stride", std::vector<int64_t>{strided ? 2 : 1}).set("padding", std::vector<int64_t>{1});
  call.set("groups", int64_t{1}).set("input", input.tensor()).set("weight", weight.tensor());
  if (backward) {
    call.set("grad_output", output.tensor()).set("grad_input", input.tensor()).set("grad_weight", weight.tensor());
    call.set("output_mask", std::vector<bool>{false, true, false});
  } else {
    call.set("out", output.tensor());
  }
  for ([[maybe_unused]] auto _ : state) call.run();
}

void product(benchmark::State& state, DType dtype, bool columns, int64_t m, int64_t n, int64_t k, bool own) {
  const cube::ForcedWay way(own);
  const Array a = Array(dtype, {m, k}).filled(0.5), c(dtype, {m, n});
  const Array b = Array(dtype, {k, n}, columns ? std::vector<size_t>{1, 0} : std::vector<size_t>{}).filled(0.25);
  Call call("mm");
  call.set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor());
  for ([[maybe_unused]] auto _ : state) call.run();
}

struct Rows {
  int64_t least, width, batch;
};
struct Right {
  const char* shape;
  int64_t n, k;
};

template <class F>
void add(const char* work, DType dtype, bool variant, int64_t least_rows, int size, const char* shape, F&& run) {
  for (const bool own : {false, true}) {
    const std::string name = fmt::format("choice/{}/{}/{:d}/{}/{}/{}/{}", work, name_of(dtype), variant, least_rows,
                                         size, shape, own ? "own" : "library");
    benchmark::RegisterBenchmark(name.c_str(), [run, own](benchmark::State& state) { run(state, own); })->UseRealTime();
  }
}

void add_size(DType dtype, bool variant, int size) {
  for (const auto& [least, width, batch] : {Rows{0, 7, 4}, {512, 14, 4}, {2048, 28, 4}}) {
    for (const bool backward : {false, true}) {
      add(backward ? "conv_backward_weights" : "conv_forward", dtype, variant, least, size, "square",
          [=, width = width, batch = batch](benchmark::State& state, bool own) {
            convolution(state, dtype, variant, backward, width, batch, side_of(size, 9), own);
          });
    }
  }
  for (const auto& [least, rows] : {std::array<int64_t, 2>{0, 8}, {16, 32}, {64, 128}, {256, 1024}}) {
    // The right operand is square, four times as wide as deep, and the other way round.
    const int64_t side = side_of(size, 1);
    for (const auto& [shape, n, k] :
         {Right{"square", side, side}, {"wide", 2 * side, side / 2}, {"deep", side / 2, 2 * side}}) {
      add("product", dtype, variant, least, size, shape,
          [=, m = rows, n = n, k = k](benchmark::State& state, bool own) {
            product(state, dtype, variant, m, n, k, own);
          });
    }
  }
}

const bool added = [] {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16}) {
    for (const bool variant : {false, true}) {
      for (int size = 0; size < kSizes; ++size) add_size(dtype, variant, size);
    }
  }
  return true;
}();

}  // namespace
}  // namespace npu::ops
