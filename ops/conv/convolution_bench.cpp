// SPDX-License-Identifier: Apache-2.0
// Layers of ResNet-50, batch 8, each pass. The counter is GF/s of CPU time (see matmul_bench.cpp).
#include <benchmark/benchmark.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

void layer(benchmark::State& state, DType dtype, bool channels_last, int pass) {
  const int64_t c = state.range(0), o = state.range(1), kernel = state.range(2), stride = state.range(3);
  const int64_t size = state.range(4), groups = state.range(5), n = 8, pad = kernel / 2;
  const int64_t out_size = (size + 2 * pad - kernel) / stride + 1;
  const std::vector<size_t> order = channels_last ? std::vector<size_t>{0, 2, 3, 1} : std::vector<size_t>{};
  const Array input = Array(dtype, {n, c, size, size}, order).filled(0.5);
  const Array weight = Array(dtype, {o, c / groups, kernel, kernel}, order).filled(0.25);
  const Array output = Array(dtype, {n, o, out_size, out_size}, order).filled(1);
  Call call(pass == 0 ? "convolution" : "convolution_backward");
  call.set("stride", std::vector<int64_t>{stride}).set("padding", std::vector<int64_t>{pad}).set("groups", groups);
  if (pass == 0) {
    call.set("input", input.tensor()).set("weight", weight.tensor()).set("out", output.tensor());
  } else {
    call.set("input", input.tensor()).set("weight", weight.tensor()).set("grad_output", output.tensor());
    call.set("grad_input", input.tensor()).set("grad_weight", weight.tensor());
    call.set("output_mask", std::vector<bool>{pass == 1, pass == 2, false});
  }
  for ([[maybe_unused]] auto _ : state) call.run();
  const double work = 2e-9 * static_cast<double>(output.tensor().count() * (c / groups) * kernel * kernel);
  state.counters["GF/s"] =
      benchmark::Counter(work * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void layers(benchmark::internal::Benchmark* bench) {
  bench->Args({3, 64, 7, 2, 224, 1})
      ->Args({64, 64, 1, 1, 56, 1})
      ->Args({64, 64, 3, 1, 56, 1})
      ->Args({64, 256, 1, 1, 56, 1});
  bench->Args({128, 128, 3, 1, 28, 1})->Args({128, 128, 3, 2, 56, 1})->Args({256, 256, 3, 1, 14, 1});
  bench->Args({512, 512, 3, 1, 7, 1})
      ->Args({256, 512, 1, 2, 56, 1})
      ->Args({32, 32, 3, 1, 112, 32})
      ->Args({16, 32, 3, 1, 28, 1});
}

#define NPU_LAYERS(dtype, name)                                                 \
  BENCHMARK_CAPTURE(layer, name##_forward, dtype, false, 0)->Apply(layers);     \
  BENCHMARK_CAPTURE(layer, name##_data, dtype, false, 1)->Apply(layers);        \
  BENCHMARK_CAPTURE(layer, name##_weights, dtype, false, 2)->Apply(layers);     \
  BENCHMARK_CAPTURE(layer, name##_last_forward, dtype, true, 0)->Apply(layers); \
  BENCHMARK_CAPTURE(layer, name##_last_data, dtype, true, 1)->Apply(layers);    \
  BENCHMARK_CAPTURE(layer, name##_last_weights, dtype, true, 2)->Apply(layers)
NPU_LAYERS(DType::kFloat, float32);
NPU_LAYERS(DType::kBFloat16, bfloat16);
NPU_LAYERS(DType::kHalf, float16);

}  // namespace
}  // namespace npu::ops
