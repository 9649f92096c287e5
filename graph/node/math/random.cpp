// SPDX-License-Identifier: Apache-2.0
// Random numbers with TensorFlow's own bits. What differs is where key and counter come from: inputs (stateless), two
// seeds, a variable (generators), or the node itself, which goes on from run to run as TensorFlow's kernels do.
#include <random>

#include "graph/node/array.h"
#include "graph/node/generator.h"
#include "graph/plan/lowering.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

using ops::RandomCounter;

constexpr int64_t kPhilox = 1;               // TensorFlow's numbers of algorithms; its CPU has no other,
constexpr int64_t kAnyAlgorithm = 3;         // and so chooses this one when it may
constexpr uint64_t kBlocksPerElement = 256;  // by which stateful generators move on, however few an element takes

/// Key and counter as three uint64 in memory: counter, then key.
struct Point {
  Planned key, counter;
};

Point point_over(const Planned& three) { return {narrowed(three, 0, 2, 1), narrowed(three, 0, 0, 2)}; }

void write(Frame& frame, const Planned& three, const RandomCounter& counter) {
  auto* words = frame.tensor(three).as<uint64_t>();
  words[0] = counter.low, words[1] = counter.high, words[2] = counter.key;
}

Point seeded(Lowering& l, size_t seed) {
  const Point point = point_over(l.scratch(DType::kUInt64, {3}));
  l.call("counter_seed").set("seed", l.input(seed)).set("key", point.key).set("counter", point.counter);
  return point;
}

void check_algorithm(const Lowering& l, size_t input) {
  const int64_t algorithm = integer(l, input);
  if (algorithm != kPhilox && algorithm != kAnyAlgorithm) l.decline("its algorithm is not Philox");
}

// Generators of nodes.

/// Where it begins. Seeds that are both 0 ask for numbers that differ every time.
RandomCounter beginning(uint64_t seed, uint64_t seed2) {
  if (seed != 0 || seed2 != 0) return {0, seed2, seed};
  std::random_device entropy;
  const auto word = [&] { return uint64_t{entropy()} << 32 | entropy(); };
  const uint64_t high = word(), key = word();
  return {0, high, key};
}

std::shared_ptr<NodeGenerator> make_generator(const Attributes& attributes) {
  const auto seed = static_cast<uint64_t>(attributes.get_or<int64_t>("seed", 0));
  const auto seed2 = static_cast<uint64_t>(attributes.get_or<int64_t>("seed2", 0));
  return std::make_shared<NodeGenerator>([=] { return beginning(seed, seed2); });
}

Point drawn_by_node(Lowering& l, uint64_t blocks) {
  const auto generator = node_generator(l);
  const Planned three = l.scratch(DType::kUInt64, {3});
  l.run({three}, [=](Frame& frame) { write(frame, three, generator->reserve(blocks)); });
  return point_over(three);
}

// Generators in variables: an int64 each of the counter's halves and the key.

const Tensor& generator_variable(const Lowering& l) {
  const Tensor& state = l.variable(0);
  require(state.defined() && state.dtype == DType::kInt64 && state.rank() == 1 && state.count() >= 3,
          "the generator's state is {}; it is int64, counter and key", state);
  return state;
}

/// Reads the generator and moves it on.
RandomCounter skip(Frame& frame, const Planned& handle, uint64_t blocks) {
  RandomCounter from;
  static_cast<Variable&>(*frame.value(handle).object).update([&](const Tensor& state) {
    auto* words = state.as<uint64_t>();
    from = {words[0], words[1], words[2]};
    const RandomCounter next = from.after(blocks);
    words[0] = next.low, words[1] = next.high;
  });
  return from;
}

Point drawn_from_variable(Lowering& l, uint64_t blocks) {
  generator_variable(l);
  const Planned handle = l.input(0), three = l.scratch(DType::kUInt64, {3});
  l.run({handle, three}, [=](Frame& frame) { write(frame, three, skip(frame, handle, blocks)); });
  return point_over(three);
}

void read_and_skip(Lowering& l) {
  generator_variable(l);
  check_algorithm(l, 1);
  const Planned handle = l.input(0), delta = l.input(2), out = l.make(0, DType::kInt64, {3});
  l.run({handle, delta, out}, [=](Frame& frame) {
    const uint64_t elements = *frame.tensor(delta).as<uint64_t>();
    write(frame, out, skip(frame, handle, elements * kBlocksPerElement));
  });
}

void skip_only(Lowering& l) {
  generator_variable(l);
  check_algorithm(l, 1);
  const Planned handle = l.input(0), delta = l.input(2);
  l.run({handle, delta}, [=](Frame& frame) {
    skip(frame, handle, static_cast<uint64_t>(*frame.tensor(delta).as<int64_t>()) * kBlocksPerElement);
  });
}

// What is drawn.

Planned output(Lowering& l, size_t shape) {
  const std::vector<int64_t> sizes = l.integers(shape);
  for (const int64_t size : sizes) require(size >= 0, "a size of {} is asked for", size);
  return l.make(0, out_type(l), Dims(sizes));
}

void draw(Lowering& l, std::string_view op, const Point& point, const Planned& out) {
  l.call(op).set("key", point.key).set("counter", point.counter).set("out", out);
}

uint64_t elements_of(const Planned& out) { return static_cast<uint64_t>(out.view.count()); }

/// Whole numbers of [input `low`, the next input); an empty range is refused when something is to be drawn.
void draw_between(Lowering& l, const Point& point, const Planned& out, size_t low) {
  const Planned from = l.input(low), to = l.input(low + 1);
  require(from.view.count() == 1 && to.view.count() == 1, "minval is {}, maxval is {}; they are one number each",
          from.view, to.view);
  const auto check = [](const Tensor& a, const Tensor& b) {
    const int64_t least = Scalar(a.bytes(), a.dtype).to_int(), limit = Scalar(b.bytes(), b.dtype).to_int();
    require(least < limit, "minval is {}, maxval is {}; minval must be below", least, limit);
  };
  if (l.known(low) && l.known(low + 1)) {
    if (out.view.count() > 0)
      require(number(l, low).to_int() < number(l, low + 1).to_int(), "minval is not below maxval");
  } else if (out.view.count() > 0) {
    l.run({from, to}, [=](Frame& frame) { check(frame.tensor(from), frame.tensor(to)); });
  }
  l.call("counter_integers")
      .set("key", point.key)
      .set("counter", point.counter)
      .set("low", restrided(from, {}, {}))
      .set("high", restrided(to, {}, {}))
      .set("out", out);
}

void stateless(Lowering& l) { draw(l, l.target(), seeded(l, 1), output(l, 0)); }
void stateless_between(Lowering& l) { draw_between(l, seeded(l, 1), output(l, 0), 2); }

Point given(const Lowering& l) {
  check_algorithm(l, 3);
  return {l.input(1), l.input(2)};
}
void keyed(Lowering& l) { draw(l, l.target(), given(l), output(l, 0)); }
void keyed_between(Lowering& l) { draw_between(l, given(l), output(l, 0), 4); }

void stateful(Lowering& l) {
  const Planned out = output(l, 0);
  draw(l, l.target(), drawn_by_node(l, elements_of(out) * kBlocksPerElement), out);
}
void stateful_between(Lowering& l) {
  const Planned out = output(l, 0);
  draw_between(l, drawn_by_node(l, elements_of(out) * kBlocksPerElement), out, 1);
}

void from_variable(Lowering& l) {
  check_algorithm(l, 1);
  const Planned out = output(l, 2);
  draw(l, l.target(), drawn_from_variable(l, elements_of(out) * kBlocksPerElement), out);
}
void from_variable_between(Lowering& l) {
  check_algorithm(l, 1);
  const Planned out = output(l, 2);
  draw_between(l, drawn_from_variable(l, elements_of(out) * kBlocksPerElement), out, 3);
}

void key_and_counter(Lowering& l) {
  const Planned key = l.make(0, DType::kUInt64, {1}), counter = l.make(1, DType::kUInt64, {2});
  l.call("counter_seed").set("seed", l.input(0)).set("key", key).set("counter", counter);
}
void algorithm(Lowering& l, size_t output) {
  l.constant(output, integer_literal(DType::kInt32, {}, std::span(&kPhilox, 1)));
}
void algorithm_only(Lowering& l) { algorithm(l, 0); }
void key_counter_and_algorithm(Lowering& l) {
  key_and_counter(l);
  algorithm(l, 2);
}

/// The rows of input 0 in random order; `point` says from where, given how many words that takes.
template <class PointOf>
void shuffle_rows(Lowering& l, PointOf&& point_of) {
  decline_objects(l);
  const Planned in = l.input(0);
  if (in.view.count() <= 1 || in.shape()[0] <= 1) return l.alias(0, in);
  const int64_t rows = in.shape()[0];
  const Planned order = l.scratch(DType::kInt64, {rows});
  const Point point = point_of((static_cast<uint64_t>(rows) - 1 + 3) / 4);
  draw(l, "counter_permutation", point, order);
  l.call("index_select")
      .set("self", in)
      .set("dim", int64_t{0})
      .set("index", order)
      .set("out", l.make(0, in.dtype(), in.shape()));
}

void shuffle(Lowering& l) {
  shuffle_rows(l, [&](uint64_t blocks) { return drawn_by_node(l, blocks); });
}
void stateless_shuffle(Lowering& l) {
  shuffle_rows(l, [&](uint64_t) { return given(l); });
}

Planned samples_output(Lowering& l) {
  const int64_t samples = integer(l, 1);
  require(l.shape(0).size() == 2, "logits are {}; they are a matrix", l.input(0).view);
  require(samples >= 0, "{} samples are asked for", samples);
  return l.make(0, out_type(l), {l.shape(0)[0], samples});
}

void draw_samples(Lowering& l, const Point& point, const Planned& out) {
  l.call("counter_multinomial")
      .set("key", point.key)
      .set("counter", point.counter)
      .set("logits", l.input(0))
      .set("out", out);
}

void multinomial(Lowering& l) {
  const Planned out = samples_output(l);
  const auto rows = static_cast<uint64_t>(out.shape()[0]), samples = static_cast<uint64_t>(out.shape()[1]);
  draw_samples(l, drawn_by_node(l, rows * ((samples + 3) / 4 * 4) * 2 * kBlocksPerElement), out);
}
void stateless_multinomial(Lowering& l) { draw_samples(l, seeded(l, 2), samples_output(l)); }

NPU_NODE("StatelessRandomUniform", stateless, "counter_uniform");
NPU_NODE("StatelessRandomNormal", stateless, "counter_normal");
NPU_NODE("StatelessTruncatedNormal", stateless, "counter_truncated_normal");
NPU_NODE("StatelessRandomUniformFullInt", stateless, "counter_integers");
NPU_NODE("StatelessRandomUniformInt", stateless_between);
NPU_NODE("StatelessRandomUniformV2", keyed, "counter_uniform");
NPU_NODE("StatelessRandomNormalV2", keyed, "counter_normal");
NPU_NODE("StatelessTruncatedNormalV2", keyed, "counter_truncated_normal");
NPU_NODE("StatelessRandomUniformFullIntV2", keyed, "counter_integers");
NPU_NODE("StatelessRandomUniformIntV2", keyed_between);
NPU_NODE("StatelessRandomGetKeyCounter", key_and_counter);
NPU_NODE("StatelessRandomGetKeyCounterAlg", key_counter_and_algorithm);
NPU_NODE("StatelessRandomGetAlg", algorithm_only);
NPU_NODE("StatelessShuffle", stateless_shuffle);
NPU_NODE("StatelessMultinomial", stateless_multinomial);
NPU_NODE("RandomUniform", stateful, "counter_uniform");
NPU_NODE("RandomStandardNormal", stateful, "counter_normal");
NPU_NODE("TruncatedNormal", stateful, "counter_truncated_normal");
NPU_NODE("RandomUniformInt", stateful_between);
NPU_NODE("RandomShuffle", shuffle);
NPU_NODE("Multinomial", multinomial);
NPU_NODE("RngReadAndSkip", read_and_skip);
NPU_NODE("RngSkip", skip_only);
NPU_NODE("StatefulUniform", from_variable, "counter_uniform");
NPU_NODE("StatefulStandardNormalV2", from_variable, "counter_normal");
NPU_NODE("StatefulTruncatedNormal", from_variable, "counter_truncated_normal");
NPU_NODE("StatefulUniformFullInt", from_variable, "counter_integers");
NPU_NODE("StatefulUniformInt", from_variable_between);

}  // namespace

std::shared_ptr<NodeGenerator> node_generator(Lowering& l) {
  return l.state<NodeGenerator>([&] { return make_generator(l.attributes()); });
}

}  // namespace npu::graph
