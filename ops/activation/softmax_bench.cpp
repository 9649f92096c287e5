// SPDX-License-Identifier: Apache-2.0
// softmax along rows in memory (inner = 1) and across it.
#include <benchmark/benchmark.h>

#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

// Arguments: outer, length, inner.
void softmax(benchmark::State& state, const char* name) {
  const Dims shape{state.range(0), state.range(1), state.range(2)};
  std::vector<float> x(static_cast<size_t>(count_of(shape)), 0.25f), y(x.size());
  Call call(name);
  call.set("self", make_tensor(x.data(), DType::kFloat, shape)).set("dim", int64_t{1});
  call.set("out", make_tensor(y.data(), DType::kFloat, shape)).prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  state.SetBytesProcessed(state.iterations() * count_of(shape) * 2 * static_cast<int64_t>(sizeof(float)));
}

BENCHMARK_CAPTURE(softmax, forward, "softmax")->Args({4096, 1024, 1})->Args({100000, 10, 1})->Args({8, 21, 65536});
BENCHMARK_CAPTURE(softmax, logarithm, "log_softmax")->Args({4096, 1024, 1})->Args({512, 32000, 1});

}  // namespace
}  // namespace npu::ops
