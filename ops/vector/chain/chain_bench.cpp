// SPDX-License-Identifier: Apache-2.0
// The steps of Adam as a chain and as the operators one by one; items are elements.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "ops/runner/call.h"
#include "ops/vector/chain/chain.h"

namespace npu::ops {
namespace {

/// var, m, v, gradient and numbers.
struct Adam {
  explicit Adam(int64_t count) : arrays(5, std::vector<float>(static_cast<size_t>(count), 0.25f)) {}
  Tensor of(size_t k) { return make_tensor(arrays[k].data(), DType::kFloat, {static_cast<int64_t>(arrays[k].size())}); }
  Tensor number(size_t k) { return make_tensor(&numbers[k], DType::kFloat, {}); }
  std::vector<std::vector<float>> arrays;
  float numbers[4] = {0.1f, 0.001f, 0.01f, 1e-7f};
};

const ChainGroup kAdam{{},
                       {{"sub", DType::kFloat, {{"self", 3}, {"other", 1}}},
                        {"mul", DType::kFloat, {{"self", 8}, {"other", 4}}},
                        {"add", DType::kFloat, {{"self", 1}, {"other", 9}}},
                        {"mul", DType::kFloat, {{"self", 3}, {"other", 3}}},
                        {"sub", DType::kFloat, {{"self", 11}, {"other", 2}}},
                        {"mul", DType::kFloat, {{"self", 12}, {"other", 5}}},
                        {"add", DType::kFloat, {{"self", 2}, {"other", 13}}},
                        {"mul", DType::kFloat, {{"self", 10}, {"other", 6}}},
                        {"sqrt", DType::kFloat, {{"self", 14}}},
                        {"add", DType::kFloat, {{"self", 16}, {"other", 7}}},
                        {"div", DType::kFloat, {{"self", 15}, {"other", 17}}},
                        {"sub", DType::kFloat, {{"self", 0}, {"other", 18}}}},
                       {19, 10, 14}};

void adam_in_one(benchmark::State& state) {
  Adam a(state.range(0));
  ChainGroup group = kAdam;
  group.inputs.assign(8, DType::kFloat);
  Chain chain(std::make_shared<const ChainProgram>(std::vector<ChainGroup>{group}));
  chain.bind(
      std::vector<Tensor>{a.of(0), a.of(1), a.of(2), a.of(3), a.number(0), a.number(1), a.number(2), a.number(3)},
      std::vector<Tensor>{a.of(0), a.of(1), a.of(2)});
  for ([[maybe_unused]] auto _ : state) chain.run();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void adam_one_by_one(benchmark::State& state) {
  Adam a(state.range(0));
  std::vector<Call> calls;
  const auto call = [&](const char* op, Tensor x, Tensor y, Tensor out) {
    calls.emplace_back(op);
    calls.back().set("self", Operand{x, {}}).set("out", out);
    if (y.defined()) calls.back().set("other", Operand{y, {}});
    calls.back().prepare();
  };
  const Tensor var = a.of(0), m = a.of(1), v = a.of(2), g = a.of(3), t = a.of(4);
  std::vector<float> other(static_cast<size_t>(state.range(0)));
  const Tensor u = make_tensor(other.data(), DType::kFloat, {state.range(0)});
  call("sub", g, m, t), call("mul", t, a.number(0), t), call("add", m, t, m);
  call("mul", g, g, t), call("sub", t, v, t), call("mul", t, a.number(1), t), call("add", v, t, v);
  call("mul", m, a.number(2), t), call("sqrt", v, {}, u), call("add", u, a.number(3), u), call("div", t, u, t);
  call("sub", var, t, var);
  for ([[maybe_unused]] auto _ : state)
    for (Call& one : calls) one.compute();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(adam_in_one)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(adam_one_by_one)->Arg(1 << 10)->Arg(1 << 14)->Arg(1 << 18)->Arg(1 << 22);

}  // namespace
}  // namespace npu::ops
