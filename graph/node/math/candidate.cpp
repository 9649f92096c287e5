// SPDX-License-Identifier: Apache-2.0
// Classes drawn instead of all of them, as losses over large vocabularies take them, with TensorFlow's own bits.
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "graph/node/generator.h"
#include "graph/node/run_integer.h"
#include "graph/plan/lowering.h"
#include "ops/random/words.h"

namespace npu::graph {
namespace {

using ops::Words;

constexpr uint64_t kBlocksPerSample = 2048 / 4;  // by which TensorFlow moves on, however often it rejects one

/// Classes in falling order of frequency: class k about as often as 1 / (k + 1).
struct LogUniform {
  explicit LogUniform(int64_t classes) : range(classes), log_range(std::log1p(static_cast<double>(classes))) {}
  int64_t draw(Words& words) const {
    const uint64_t high = words() & 0xfffff, low = words();
    const double from_0_to_1 = std::bit_cast<double>(uint64_t{1023} << 52 | high << 32 | low) - 1;
    return (static_cast<int64_t>(std::exp(from_0_to_1 * log_range)) - 1) % range;
  }
  float probability(int64_t value) const {
    const auto k = static_cast<double>(value);
    return static_cast<float>(std::log((k + 2) / (k + 1)) / log_range);
  }
  int64_t range;
  double log_range;
};

struct Uniform {
  explicit Uniform(int64_t classes) : range(static_cast<uint64_t>(classes)) {}
  /// Values below a multiple of the range are left out, so that all classes are as likely.
  int64_t draw(Words& words) const {
    const uint64_t left_out = std::has_single_bit(range) ? 0 : ~uint64_t{0} % range + 1;
    while (true) {
      const uint64_t low = words(), value = low | uint64_t{words()} << 32;
      if (value >= left_out) return static_cast<int64_t>(value % range);
    }
  }
  float probability(int64_t /*value*/) const { return 1 / static_cast<float>(range); }
  uint64_t range;
};

/// How often a class of this probability is expected among the samples, which took so many tries.
float expected(float probability, int64_t samples, int64_t tries) {
  if (tries == samples) return probability * static_cast<float>(samples);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-probability));
}

/// Draws until `out` is full; how often that was.
template <class Distribution>
int64_t draw_all(const Distribution& distribution, Words& words, bool unique, std::span<int64_t> out) {
  std::unordered_set<int64_t> drawn;
  int64_t tries = 0;
  for (size_t i = 0; i < out.size(); ++tries) {
    const int64_t value = distribution.draw(words);
    if (!unique || drawn.insert(value).second) out[i++] = value;
  }
  return tries;
}

struct Samples {
  Planned classes, drawn, expected_classes, expected_drawn;
  int64_t count, range;
  bool unique;

  template <class Distribution>
  void draw(Frame& frame, ops::RandomCounter from) const {
    const std::vector<int64_t> known = integers(frame, classes);
    for (const int64_t value : known)
      require(value >= 0 && value < range, "`true_candidate` out of range [0, {}), received {}", range, value);
    const Distribution distribution(range);
    Words words(from);
    const std::span<int64_t> out(frame.tensor(drawn).as<int64_t>(), static_cast<size_t>(count));
    const int64_t tries = draw_all(distribution, words, unique, out);
    const auto put = [&](const Planned& to, std::span<const int64_t> values) {
      auto* number = frame.tensor(to).as<float>();
      for (const int64_t value : values) *number++ = expected(distribution.probability(value), count, tries);
    };
    put(expected_classes, known), put(expected_drawn, out);
  }
};

template <class Distribution>
void sample(Lowering& l) {
  const auto columns = l.attributes().get<int64_t>("num_true");
  Samples s;
  s.count = l.attributes().get<int64_t>("num_sampled"), s.range = l.attributes().get<int64_t>("range_max");
  s.unique = l.attributes().get<bool>("unique");
  require(l.shape(0).size() == 2, "true_classes must be a matrix");
  require(l.shape(0)[1] == columns, "true_classes must have num_true columns, expected: {} was: {}", l.shape(0)[1],
          columns);
  require(s.range > 0 && (!s.unique || s.count <= s.range), "Sampler's range is too small.");
  s.classes = l.input(0);
  s.drawn = l.make(0, DType::kInt64, {s.count});
  s.expected_classes = l.make(1, DType::kFloat, l.shape(0));
  s.expected_drawn = l.make(2, DType::kFloat, {s.count});
  const auto generator = node_generator(l);
  l.run({s.classes, s.drawn, s.expected_classes, s.expected_drawn}, [=](Frame& frame) {
    s.draw<Distribution>(frame, generator->reserve(static_cast<uint64_t>(s.count) * kBlocksPerSample));
  });
}

template <class T>
Value vector_of(int device, const std::vector<T>& elements) {
  Value value = make_value(device, dtype_of<T>, {static_cast<int64_t>(elements.size())});
  std::copy(elements.begin(), elements.end(), value.tensor.as<T>());
  return value;
}

/// Where a sample is one of the row's own classes: row, sample, and a weight that takes it out of a softmax.
void accidental_hits(Lowering& l) {
  const auto columns = l.attributes().get<int64_t>("num_true");
  require(l.shape(1).size() == 1,
          "sampled_candidates must be a vector, which is typically an output from CandidateSampler");
  require(l.shape(0).size() == 2 && l.shape(0)[1] == columns, "true_candidates must be a batch_size * num_true matrix");
  const Planned classes = l.input(0), drawn = l.input(1);
  const std::vector<Planned> out{l.dynamic(0, DType::kInt32), l.dynamic(1, DType::kInt64), l.dynamic(2, DType::kFloat)};
  l.run({classes, drawn}, out, [=](Frame& frame) {
    std::unordered_map<int64_t, int64_t> places;  // the last of each class
    int64_t place = 0;
    for (const int64_t value : integers(frame, drawn)) places[value] = place++;
    std::vector<int32_t> rows;
    std::vector<int64_t> found, known = integers(frame, classes);
    for (size_t i = 0; i < known.size(); ++i) {
      const auto at = places.find(known[i]);
      if (at == places.end()) continue;
      rows.push_back(static_cast<int32_t>(static_cast<int64_t>(i) / columns));
      found.push_back(at->second);
    }
    frame.set(out[0], vector_of(frame.device(), rows));
    frame.set(out[1], vector_of(frame.device(), found));
    frame.set(out[2], vector_of(frame.device(), std::vector(rows.size(), -std::numeric_limits<float>::max())));
  });
}

NPU_NODE("LogUniformCandidateSampler", sample<LogUniform>);
NPU_NODE("UniformCandidateSampler", sample<Uniform>);
NPU_NODE("ComputeAccidentalHits", accidental_hits);

}  // namespace
}  // namespace npu::graph
