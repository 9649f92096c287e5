// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "base/log.h"

namespace npu {
namespace {

void BM_FilteredLine(benchmark::State& state) {
  for (auto _ : state) {
    NPU_LOG(kDebug, "OP", "never formatted {}", state.iterations());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_FilteredLine);

}  // namespace
}  // namespace npu
