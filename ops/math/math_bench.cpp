// SPDX-License-Identifier: Apache-2.0
// Element-wise operators on float32: 16 Ki elements (first-level cache) and 1 Mi (memory), items are elements.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

struct Arrays {
  explicit Arrays(int64_t count) : x(static_cast<size_t>(count)), y(x.size()), out(x.size()) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 1999) * 0.002f + 0.01f;
      y[i] = static_cast<float>(i % 997) * 0.004f - 2.0f;
    }
  }
  Tensor of(std::vector<float>& data) const {
    return make_tensor(data.data(), DType::kFloat, {static_cast<int64_t>(data.size())});
  }
  std::vector<float> x, y, out;
};

// Fills the inputs of `name` with x, y, x, … and leaves attributes at their defaults.
void elementwise(benchmark::State& state, const char* name) {
  Arrays arrays(state.range(0));
  Call call(name);
  call.set("out", arrays.of(arrays.out));
  bool first = true;
  for (const Field& field : find_operator(name)->fields) {
    if (field.role != FieldRole::kIn) continue;
    call.set(field.name, Operand{arrays.of(first ? arrays.x : arrays.y), {}});
    first = !first;
  }
  call.prepare();
  for ([[maybe_unused]] auto _ : state) call.compute();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

const bool registered = [] {
  for (const char* name : {"add",   "mul",   "div",  "relu",    "maximum", "addcmul",  "exp",       "log",
                           "log1p", "expm1", "tanh", "sigmoid", "silu",    "gelu",     "gelu_tanh", "gelu_backward",
                           "erf",   "sin",   "atan", "power",   "fmod",    "softplus", "mish",      "elu"}) {
    benchmark::RegisterBenchmark(name, elementwise, name)->Arg(1 << 14)->Arg(1 << 20);
  }
  return true;
}();

}  // namespace
}  // namespace npu::ops
