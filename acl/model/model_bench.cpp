// SPDX-License-Identifier: Apache-2.0
// What a run of a model costs on top of its nodes, and how long loading takes.
#include <benchmark/benchmark.h>

#include "acl/model/model_fixture.h"

namespace npu::acl {
namespace {

void execute(benchmark::State& state) {
  aclrtSetDevice(0);
  const std::string om = scaled_model({2, 3});
  uint32_t id = 0;
  aclmdlLoadFromMem(om.data(), om.size(), &id);
  const Memory in(24), out(24), sum(8);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  for ([[maybe_unused]] auto _ : state) aclmdlExecute(id, inputs, outputs);
  aclmdlUnload(id);
}
BENCHMARK(execute);

void execute_async(benchmark::State& state) {
  aclrtSetDevice(0);
  const std::string om = scaled_model({2, 3});
  uint32_t id = 0;
  aclmdlLoadFromMem(om.data(), om.size(), &id);
  const Memory in(24), out(24), sum(8);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  for ([[maybe_unused]] auto _ : state) {
    aclmdlExecuteAsync(id, inputs, outputs, nullptr);
    aclrtSynchronizeStream(nullptr);
  }
  aclmdlUnload(id);
}
BENCHMARK(execute_async);

/// x + weight, of as many bytes as asked for.
std::string heavy_model(int64_t bytes) {
  graph::TestFunction f("main");
  const int64_t count = bytes / 4;
  const graph::Edge x = f.argument("x");
  const graph::Edge weight = f.constant<float>({count}, std::vector<float>(static_cast<size_t>(count), 0.5F));
  return model_of(f, {count}, {{"out", f.node("AddV2", {x, weight})}});
}

void load_file(benchmark::State& state) {
  aclrtSetDevice(0);
  const ModelPath path(heavy_model(state.range(0) << 20));
  for ([[maybe_unused]] auto _ : state) {
    uint32_t id = 0;
    aclmdlLoadFromFile(path.get(), &id);
    aclmdlUnload(id);
  }
}
BENCHMARK(load_file)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npu::acl
