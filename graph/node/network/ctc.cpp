// SPDX-License-Identifier: Apache-2.0
// Sequences of labels from scores of labels and blanks over time (CTC): the best label of each step, or beam search.
#include <algorithm>

#include "graph/node/network/beam.h"
#include "graph/node/rows.h"
#include "graph/node/run_integer.h"
#include "graph/value/value.h"

namespace npu::graph {
namespace {

/// Scores [time, batch, classes].
struct Steps {
  int64_t time, batch, classes;
  template <class T>
  const T* at(const Tensor& scores, int64_t step, int64_t item) const {
    return scores.as<T>() + (step * batch + item) * classes;
  }
};

struct Decoded {
  std::vector<int64_t> labels;
  double score = 0;
};
/// By path, then by item of the batch.
using Paths = std::vector<std::vector<Decoded>>;

Steps steps_of(const Lowering& l) {
  const Dims &scores = l.shape(0), &lengths = l.shape(1);
  require(scores.size() == 3, "inputs is not a 3-Tensor");
  require(count_of(scores) > 0, "inputs must not be empty");
  require(lengths.size() == 1, "sequence_length is not a vector");
  require(lengths[0] == scores[1], "len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {}",
          lengths[0], scores[1]);
  return {scores[0], scores[1], scores[2]};
}

void check_lengths(const std::vector<int64_t>& lengths, int64_t time) {
  for (size_t b = 0; b < lengths.size(); ++b) require(lengths[b] <= time, "sequence_length({}) <= {}", b, time);
}

/// Sparse tensors of the labels, one for each path, and the scores of all.
void give_paths(Frame& frame, const Paths& paths, const std::vector<Planned>& out) {
  const auto batch = static_cast<int64_t>(paths.front().size());
  const auto count = static_cast<int64_t>(paths.size());
  Value scores = make_value(frame.device(), out.back().dtype(), {batch, count});
  for (int64_t p = 0; p < count; ++p) {
    const auto path = static_cast<size_t>(p);
    std::vector<int64_t> places, labels;
    int64_t longest = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const Decoded& one = paths[path][static_cast<size_t>(b)];
      const auto length = static_cast<int64_t>(one.labels.size());
      for (int64_t t = 0; t < length; ++t) places.insert(places.end(), {b, t});
      labels.insert(labels.end(), one.labels.begin(), one.labels.end());
      longest = std::max(longest, length);
      in_slot(out.back().dtype(), [&](auto zero) {
        scores.tensor.as<decltype(zero)>()[b * count + p] = static_cast<decltype(zero)>(one.score);
      });
    }
    const auto total = static_cast<int64_t>(labels.size());
    const auto integers_value = [&](const Dims& shape, const std::vector<int64_t>& numbers) {
      Value value = make_value(frame.device(), DType::kInt64, shape);
      std::ranges::copy(numbers, value.tensor.as<int64_t>());
      return value;
    };
    frame.set(out[path], integers_value({total, 2}, places));
    frame.set(out[path + paths.size()], integers_value({total}, labels));
    frame.set(out[path + 2 * paths.size()], integers_value({2}, {batch, longest}));
  }
  frame.set(out.back(), std::move(scores));
}

/// decode(zero of the scores' type, scores, item, its length) gives the `paths` sequences of an item.
template <class Decode>
void lower_decoder(Lowering& l, size_t paths, Decode&& decode) {
  const Steps steps = steps_of(l);
  const DType dtype = l.dtype(0);
  require(dtype == DType::kFloat || dtype == DType::kDouble, "inputs are {}; they must be float32 or float64", dtype);
  const Planned scores = rows_of(l, l.input(0), dtype), lengths = l.input(1);
  std::vector<Planned> out;
  for (size_t i = 0; i < 2 * paths; ++i) out.push_back(l.dynamic(i, DType::kInt64));
  for (size_t i = 2 * paths; i < 3 * paths; ++i) out.push_back(l.late(i, DType::kInt64, {2}));
  out.push_back(l.late(3 * paths, dtype, {steps.batch, static_cast<int64_t>(paths)}));
  l.run({scores, lengths}, out, [=](Frame& frame) {
    const std::vector<int64_t> given = integers(frame, lengths);
    check_lengths(given, steps.time);
    const Tensor from = frame.tensor(scores);
    Paths all(paths, std::vector<Decoded>(static_cast<size_t>(steps.batch)));
    for (int64_t b = 0; b < steps.batch; ++b)
      in_slot(dtype, [&](auto zero) {
        std::vector<Decoded> found = decode(zero, steps, from, b, given[static_cast<size_t>(b)]);
        for (size_t p = 0; p < paths; ++p) all[p][static_cast<size_t>(b)] = std::move(found[p]);
      });
    give_paths(frame, all, out);
  });
}

template <class T>
Decoded best_labels(const Steps& s, const Tensor& scores, int64_t item, int64_t length, int64_t blank, bool merge) {
  Decoded out;
  T sum = 0;
  int64_t last = -1;
  for (int64_t t = 0; t < length; ++t) {
    const T* at = s.at<T>(scores, t, item);
    int64_t best = 0;
    for (int64_t i = 1; i < s.classes; ++i)
      if (at[i] > at[best]) best = i;
    sum += -at[best];
    if (best != blank && !(merge && best == last)) out.labels.push_back(best);
    last = best;
  }
  out.score = static_cast<double>(sum);
  return out;
}

void greedy(Lowering& l) {
  const Steps steps = steps_of(l);
  const bool merge = l.attributes().get_or<bool>("merge_repeated", false);
  const int64_t given = l.attributes().get_or<int64_t>("blank_index", -1),
                blank = given < 0 ? steps.classes + given : given;
  require(blank >= 0 && blank < steps.classes, "blank_index expected to be between {} and {} but was {}",
          -steps.classes, steps.classes - 1, given);
  lower_decoder(l, 1, [=](auto zero, const Steps& s, const Tensor& scores, int64_t item, int64_t length) {
    return std::vector<Decoded>{best_labels<decltype(zero)>(s, scores, item, length, blank, merge)};
  });
}

void beam_search(Lowering& l) {
  const auto width = l.attributes().get<int64_t>("beam_width"), paths = l.attributes().get<int64_t>("top_paths");
  const bool merge = l.attributes().get_or<bool>("merge_repeated", true);
  require(width >= 1 && paths >= 1, "beam_width is {}, top_paths {}; both must be at least 1", width, paths);
  lower_decoder(l, static_cast<size_t>(paths),
                [=](auto zero, const Steps& s, const Tensor& scores, int64_t item, int64_t length) {
                  using T = decltype(zero);
                  BeamSearch<T> search(s.classes, width);
                  for (int64_t t = 0; t < length; ++t) search.step(s.at<T>(scores, t, item));
                  std::vector<Decoded> out;
                  for (auto& path : search.best(paths, merge)) out.push_back({std::move(path.labels), path.score});
                  return out;
                });
}

NPU_NODE("CTCGreedyDecoder", greedy);
NPU_NODE("CTCBeamSearchDecoder", beam_search);

}  // namespace
}  // namespace npu::graph
