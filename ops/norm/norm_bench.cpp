// SPDX-License-Identifier: Apache-2.0
// Batch norm and layer norm, forward and gradient, on tensors of a training step.
#include <benchmark/benchmark.h>

#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

struct Data {
  explicit Data(const Dims& shape) : values(static_cast<size_t>(count_of(shape)), 0.5f) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += static_cast<float>(i % 97) * 0.01f;
    view = make_tensor(values.data(), DType::kFloat, shape);
  }
  std::vector<float> values;
  Tensor view;
};

void bytes(benchmark::State& state, const Tensor& t, int64_t passes) {
  state.SetBytesProcessed(state.iterations() * t.count() * passes * static_cast<int64_t>(sizeof(float)));
}

// Arguments: N, C, H·W.
void batch_norm(benchmark::State& state) {
  const Dims shape{state.range(0), state.range(1), state.range(2)};
  Data x(shape), out(shape), mean({shape[1]}), invstd({shape[1]});
  Call call("batch_norm");
  call.set("self", x.view).set("training", true).set("out", out.view);
  call.set("save_mean", mean.view).set("save_invstd", invstd.view).prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  bytes(state, x.view, 2);
}

void batch_norm_backward(benchmark::State& state) {
  const Dims shape{state.range(0), state.range(1), state.range(2)};
  Data x(shape), g(shape), out(shape), mean({shape[1]}), invstd({shape[1]});
  Call call("batch_norm_backward");
  call.set("grad_output", g.view).set("self", x.view).set("training", true).set("grad_input", out.view);
  call.set("save_mean", mean.view).set("save_invstd", invstd.view).prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  bytes(state, x.view, 3);
}

// Arguments: rows, length.
void layer_norm(benchmark::State& state) {
  const Dims shape{state.range(0), state.range(1)};
  Data x(shape), out(shape), weight({shape[1]}), bias({shape[1]});
  Call call("layer_norm");
  call.set("self", x.view).set("normalized_shape", std::vector<int64_t>{shape[1]}).set("out", out.view);
  call.set("weight", weight.view).set("bias", bias.view).prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  bytes(state, x.view, 2);
}

void layer_norm_backward(benchmark::State& state) {
  const Dims shape{state.range(0), state.range(1)};
  Data x(shape), g(shape), out(shape), weight({shape[1]}), mean({shape[0], 1}), rstd({shape[0], 1}), sum({shape[1]});
  Call call("layer_norm_backward");
  call.set("grad_output", g.view).set("self", x.view).set("normalized_shape", std::vector<int64_t>{shape[1]});
  call.set("mean", mean.view).set("rstd", rstd.view).set("weight", weight.view);
  call.set("grad_input", out.view).set("grad_weight", sum.view).prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  bytes(state, x.view, 3);
}

BENCHMARK(batch_norm)->Args({32, 64, 3136})->Args({64, 512, 49})->Args({16384, 256, 1});
BENCHMARK(batch_norm_backward)->Args({32, 64, 3136})->Args({64, 512, 49})->Args({16384, 256, 1});
BENCHMARK(layer_norm)->Args({4096, 768})->Args({65536, 64});
BENCHMARK(layer_norm_backward)->Args({4096, 768})->Args({65536, 64});

}  // namespace
}  // namespace npu::ops
