// SPDX-License-Identifier: Apache-2.0
// Random numbers of ONNX's operators: those that NumPy's RandomState(seed) draws (Mersenne Twister, doubles of 53 bits,
// the polar method), which ONNX's own definitions use. A node goes on where its last run ended; without a seed it
// begins anywhere.
#include <cmath>
#include <mutex>
#include <random>

#include "graph/node/onnx/floats.h"
#include "graph/plan/surroundings.h"

namespace npu::graph::onnx {
namespace {

/// The generator of a node.
class Twister final : public NodeState {
 public:
  explicit Twister(std::optional<uint32_t> seed) : seed_(seed) { restart(); }
  void restart() override {
    const std::lock_guard lock(mutex_);
    engine_.seed(seed_ ? *seed_ : std::random_device()());
    spare_.reset();
  }
  /// Draws under one lock: what a run draws stands side by side.
  template <class F>
  void draw(F&& body) {
    const std::lock_guard lock(mutex_);
    body();
  }
  /// In [0, 1).
  double uniform() {
    const uint64_t high = engine_() >> 5, low = engine_() >> 6;
    return (static_cast<double>(high) * 67108864.0 + static_cast<double>(low)) / 9007199254740992.0;
  }
  double normal() {
    if (spare_) {
      const double out = *spare_;
      spare_.reset();
      return out;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1, y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = factor * x;
    return factor * y;
  }

 private:
  const std::optional<uint32_t> seed_;
  std::mutex mutex_;
  std::mt19937 engine_;
  std::optional<double> spare_;
};

std::shared_ptr<Twister> twister(Lowering& l) {
  std::optional<uint32_t> seed;
  if (l.attributes().has("seed")) {
    const Attribute& given = l.attributes().entries().find("seed")->second.value;
    const bool whole = std::holds_alternative<int64_t>(given);
    seed = static_cast<uint32_t>(whole ? std::get<int64_t>(given)
                                       : static_cast<int64_t>(l.attributes().get<double>("seed")));
  }
  return l.state<Twister>([&] { return std::make_shared<Twister>(seed); });
}

/// Output 0 of `shape`, element by element in float64.
template <class F>
void fill_drawn(Lowering& l, const Dims& shape, F next) {
  const Planned numbers = l.scratch(DType::kDouble, shape), out = l.make(0, out_type(l), shape);
  const auto generator = twister(l);
  l.run({}, {numbers}, [=](Frame& frame) {
    const Tensor to = frame.tensor(numbers);
    generator->draw([&] {
      for (int64_t i = 0; i < to.count(); ++i) to.as<double>()[i] = next(*generator);
    });
  });
  copy(l, numbers, out);
}

Dims asked_shape(const Lowering& l) {
  const Dims shape = l.input_count() > 0 ? l.shape(0) : Dims(l.attributes().get<std::vector<int64_t>>("shape"));
  for (const int64_t size : shape) require(size >= 0, "shape is {}; sizes are not negative", shape);
  return shape;
}

void random_normal(Lowering& l) {
  const double mean = float_attribute(l, "mean", 0), scale = float_attribute(l, "scale", 1);
  fill_drawn(l, asked_shape(l), [=](Twister& t) { return mean + scale * t.normal(); });
}
void random_uniform(Lowering& l) {
  const double low = float_attribute(l, "low", 0), high = float_attribute(l, "high", 1);
  fill_drawn(l, asked_shape(l), [=](Twister& t) { return low + (high - low) * t.uniform(); });
}

/// One draw an element, turned as NumPy turns it: so that the rarer result takes the upper end.
double bernoulli_of(double p, double drawn) {
  if (p <= 0.5) return drawn > 1 - p ? 1 : 0;
  return drawn > p ? 0 : 1;
}

void bernoulli(Lowering& l) {
  require_floats(l, 0);
  const Planned p = rows_of(l, l.input(0), DType::kDouble);
  const Planned numbers = l.scratch(DType::kDouble, p.shape()), out = l.make(0, out_type(l), p.shape());
  const auto generator = twister(l);
  l.run({p}, {numbers}, [=](Frame& frame) {
    const Tensor from = frame.tensor(p), to = frame.tensor(numbers);
    for (int64_t i = 0; i < from.count(); ++i)
      require(from.as<double>()[i] >= 0 && from.as<double>()[i] <= 1, "element {} is {}; probabilities lie in [0, 1]",
              i, from.as<double>()[i]);
    generator->draw([&] {
      for (int64_t i = 0; i < from.count(); ++i)
        to.as<double>()[i] = bernoulli_of(from.as<double>()[i], generator->uniform());
    });
  });
  copy(l, numbers, out);
}

/// The first class whose share of the whole, with those before it, passes what was drawn.
int64_t chosen(const double* logs, int64_t classes, double drawn) {
  double most = logs[0], sum = 0, part = 0;
  for (int64_t c = 1; c < classes; ++c) most = std::max(most, logs[c]);
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(logs[c] - most);
  for (int64_t c = 0; c < classes; ++c) {
    part += std::exp(logs[c] - most);
    if (part > drawn * sum) return c;
  }
  return classes - 1;
}

/// Rows of unnormalised log probabilities.
void multinomial(Lowering& l) {
  require_floats(l, 0);
  const Dims shape = l.shape(0);
  const int64_t samples = int_attribute(l, "sample_size", 1);
  require(shape.size() == 2 && shape[1] > 0 && samples >= 0,
          "the input is {}, sample_size {}; it must be [batch, classes]", shape, samples);
  const Planned logs = rows_of(l, l.input(0), DType::kDouble), numbers = l.scratch(DType::kInt64, {shape[0], samples});
  const Planned out = l.make(0, out_type(l), {shape[0], samples});
  const auto generator = twister(l);
  l.run({logs}, {numbers}, [=](Frame& frame) {
    const auto* from = frame.tensor(logs).as<double>();
    auto* to = frame.tensor(numbers).as<int64_t>();
    generator->draw([&] {
      for (int64_t i = 0; i < shape[0] * samples; ++i)
        to[i] = chosen(from + i / samples * shape[1], shape[1], generator->uniform());
    });
  });
  copy(l, numbers, out);
}

/// Training: an attribute nowhere since opset 7, an input since opset 12.
bool trains(const Lowering& l) { return has(l, 2) && number(l, at(l, 2)).to_bool(); }
double ratio_of(const Lowering& l) {
  return has(l, 1) ? number(l, at(l, 1)).to_double() : float_attribute(l, "ratio", 0.5);
}

/// Without training what comes in, with a mask of ones.
void keep_all(Lowering& l) {
  give(l, 0, l.input(0));
  if (wants(l, 1)) fill(l, l.make(1, out_type(l, 1), l.shape(0)), Scalar(1));
}

void dropout(Lowering& l) {
  if (!trains(l) || ratio_of(l) == 0) return keep_all(l);
  const double ratio = ratio_of(l);
  require(ratio > 0 && ratio < 1, "ratio is {}; it must lie in [0, 1)", ratio);
  const Planned in = l.input(at(l, 0)), keep = l.scratch(DType::kBool, in.shape());
  const auto generator = twister(l);
  l.run({}, {keep}, [=](Frame& frame) {
    const Tensor to = frame.tensor(keep);
    generator->draw([&] {
      for (int64_t i = 0; i < to.count(); ++i) to.as<bool>()[i] = generator->uniform() >= ratio;
    });
  });
  const Planned out = l.make(0, in.dtype(), in.shape());
  l.call("where").set("condition", keep).set("self", in).set("other", number_of(Scalar(0))).set("out", out);
  change(l, "mul", out, Scalar(1 / (1 - ratio)));
  if (wants(l, 1)) copy(l, keep, l.make(1, out_type(l, 1), in.shape()));
}

NPU_NODE("ai.onnx::RandomNormal", random_normal);
NPU_NODE("ai.onnx::RandomNormalLike", random_normal);
NPU_NODE("ai.onnx::RandomUniform", random_uniform);
NPU_NODE("ai.onnx::RandomUniformLike", random_uniform);
NPU_NODE("ai.onnx::Bernoulli", bernoulli);
NPU_NODE("ai.onnx::Multinomial", multinomial);
NPU_NODE("ai.onnx::Dropout", dropout);

}  // namespace
}  // namespace npu::graph::onnx
