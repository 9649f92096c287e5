// SPDX-License-Identifier: Apache-2.0
// What a node and a call cost on top of the kernel: chains of additions of 8x8.
#include <benchmark/benchmark.h>

#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

void chain(benchmark::State& state) {
  TestFunction f("f");
  const Edge x = f.argument("x");
  Edge y = x;
  for (int64_t i = 0; i < state.range(0); ++i) y = f.node("AddV2", {y, x});
  f.result(y);
  Program program;
  program.add(f.function());
  Library library(0);
  library.add(program);
  const auto executable = library.get("f");
  const std::vector<Value> arguments = {value_of<float>({8, 8}, std::vector<float>(64, 1))};
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(executable->run(arguments));
  state.counters["ns/node"] =
      benchmark::Counter(static_cast<double>(state.range(0)) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(chain)->Arg(1)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace npu::graph
