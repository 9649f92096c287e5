// SPDX-License-Identifier: Apache-2.0
// Matrix products through the operators, beside one plain call into oneDNN (float32, one thread). The counter is GF/s
// of CPU time: with ANYNPU_THREADS=1 it compares with process time of other libraries even on a busy machine.
#include <benchmark/benchmark.h>

#include "ops/call_fixture.h"
#include "ops/cube/onednn.h"

namespace npu::ops {
namespace {

void report(benchmark::State& state, int64_t work) {
  state.counters["GF/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(work) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void mm(benchmark::State& state, DType dtype, bool transposed) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const Array a = Array(dtype, {m, k}).random(1), c(dtype, {m, n});
  const Array b = Array(dtype, {k, n}, transposed ? std::vector<size_t>{1, 0} : std::vector<size_t>{}).random(2);
  Call call("mm");
  call.set("self", a.tensor()).set("mat2", b.tensor()).set("out", c.tensor());
  for ([[maybe_unused]] auto _ : state) call.run();
  report(state, m * n * k);
}

void library(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const Array a = Array(DType::kFloat, {m, k}).random(1), b = Array(DType::kFloat, {k, n}).random(2),
              c(DType::kFloat, {m, n});
  cube::GemmArgs<float> g{false, false, m, n, k};
  g.a = a.tensor().as<float>(), g.lda = k, g.b = b.tensor().as<float>(), g.ldb = n, g.c = c.tensor().as<float>(),
  g.ldc = n;
  for ([[maybe_unused]] auto _ : state) cube::onednn_sgemm(g);
  report(state, m * n * k);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{512, 768, 768},
                                {512, 3072, 768},
                                {512, 768, 3072},
                                {1024, 1024, 1024},
                                {768, 3072, 512},
                                {64, 64, 50000},
                                {128, 128, 128},
                                {16, 1024, 1024},
                                {256, 1024, 256},
                                {64, 64, 64},
                                {8, 16, 16}}) {
    bench->Args({m, n, k});
  }
}

BENCHMARK_CAPTURE(mm, float32, DType::kFloat, false)->Apply(sizes);
BENCHMARK_CAPTURE(mm, float32_transposed, DType::kFloat, true)->Apply(sizes);
BENCHMARK_CAPTURE(mm, bfloat16, DType::kBFloat16, false)->Apply(sizes);
BENCHMARK_CAPTURE(mm, bfloat16_transposed, DType::kBFloat16, true)->Apply(sizes);
BENCHMARK_CAPTURE(mm, float16, DType::kHalf, false)->Apply(sizes);
BENCHMARK_CAPTURE(mm, float64, DType::kDouble, false)->Apply(sizes);
BENCHMARK(library)->Apply(sizes);

void bmm(benchmark::State& state, DType dtype) {
  const int64_t b = state.range(0), m = state.range(1), n = state.range(2), k = state.range(3);
  const Array x = Array(dtype, {b, m, k}).random(1), y = Array(dtype, {b, k, n}, {0, 2, 1}).random(2),
              z(dtype, {b, m, n});
  Call call("batch_matmul");
  call.set("self", x.tensor()).set("mat2", y.tensor()).set("out", z.tensor());
  for ([[maybe_unused]] auto _ : state) call.run();
  report(state, b * m * n * k);
}
BENCHMARK_CAPTURE(bmm, float32, DType::kFloat)
    ->Args({96, 128, 128, 64})
    ->Args({96, 128, 64, 128})
    ->Args({64, 32, 32, 32});
BENCHMARK_CAPTURE(bmm, bfloat16, DType::kBFloat16)->Args({96, 128, 128, 64})->Args({96, 128, 64, 128});

}  // namespace
}  // namespace npu::ops
