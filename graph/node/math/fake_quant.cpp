// SPDX-License-Identifier: Apache-2.0
// FakeQuant: numbers rounded to the steps that 2 to 16 bits have between a least and a largest number, which are moved
// so that 0 is a step (Jacob et al. 2018). Gradients pass within the range; outside of it they are the range's.
#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

/// The steps that numbers are rounded to.
struct Steps {
  float least, most;
};

/// One range, moved so that 0 is a step. One from 0 to 0 has no steps: everything in it is 0, and gradients pass.
struct Nudged {
  float low = 0, high = 0, scale = 0, inverse = 0, zero = 0;
  bool empty = true;

  Nudged(float from, float to, const Steps& s) : empty(from == 0 && to == 0) {
    if (empty) return;
    scale = (to - from) / (s.most - s.least), inverse = (s.most - s.least) / (to - from);
    const float point = s.least - from / scale;
    const float nearest = point < s.least ? s.least : point > s.most ? s.most : std::round(point);
    low = (s.least - nearest) * scale, high = (s.most - nearest) * scale;
    zero = std::floor(-low * inverse + 0.5F);
  }
  float rounded(float x, bool divides) const {
    if (empty) return 0;
    const float inside = std::max(std::min(x, high), low) - low;
    return std::floor((divides ? inside / scale : inside * inverse) - zero + 0.5F) * scale;
  }
};

Steps steps_of(const Lowering& l) {
  const int64_t bits = l.attributes().get_or<int64_t>("num_bits", 8);
  require(bits >= 2 && bits <= 16, "num_bits must be between 2 and 16, inclusive");
  const bool narrow = l.attributes().get_or<bool>("narrow_range", false);
  return {narrow ? 1.0F : 0.0F, static_cast<float>((int64_t{1} << bits) - 1)};
}

/// What an input is rounded by: attributes, or two inputs of a number or of one for each channel.
struct Ranges {
  Planned from, to;
  float low = 0, high = 0;
  bool given = false, channels = false;  ///< by inputs; one for each channel
  Steps steps{};
  int64_t depth = 1;

  std::vector<Planned> reads(std::vector<Planned> others) const {
    if (given) others.insert(others.end(), {from, to});
    return others;
  }
  std::vector<Nudged> in(const Frame& frame) const {
    if (!given) return {Nudged(low, high, steps)};
    const auto *least = frame.tensor(from).as<float>(), *most = frame.tensor(to).as<float>();
    std::vector<Nudged> out;
    for (int64_t i = 0; i < depth; ++i) out.emplace_back(least[i], most[i], steps);
    return out;
  }
};

Ranges by_attributes(const Lowering& l) {
  Ranges r;
  r.low = static_cast<float>(l.attributes().get_or<double>("min", -6));
  r.high = static_cast<float>(l.attributes().get_or<double>("max", 6));
  require(r.low < r.high, "min has to be smaller than max, was: {} >= {}", r.low, r.high);
  r.steps = steps_of(l);
  return r;
}

/// Inputs `i` and `i + 1`, for numbers of `shape`.
Ranges by_inputs(Lowering& l, size_t i, const Dims& shape, bool channels) {
  Ranges r;
  r.given = true, r.channels = channels, r.steps = steps_of(l);
  if (channels) require(!shape.empty(), "`inputs` must have rank >= 1 but is rank 0");
  if (channels) r.depth = shape.back();
  constexpr const char* kNames[] = {"min", "max"};
  const size_t rank = channels ? 1 : 0;
  for (size_t k = 0; k < 2; ++k) {
    const Dims& given = l.shape(i + k);
    require(given.size() == rank, "`{}` must be rank {} but is rank {}", kNames[k], rank, given.size());
    require(count_of(given) == r.depth, "{} has incorrect size, expected {} was {}", kNames[k], r.depth,
            count_of(given));
  }
  r.from = rows_of(l, l.input(i), DType::kFloat), r.to = rows_of(l, l.input(i + 1), DType::kFloat);
  return r;
}

/// Rows of `depth` numbers for one part of the work.
int64_t rows_a_part(int64_t depth) { return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(depth, 1)); }

void round_to_steps(Lowering& l, const Ranges& r) {
  const Planned x = rows_of(l, l.input(0), DType::kFloat), out = l.make(0, DType::kFloat, l.shape(0));
  if (out.view.count() == 0) return;
  l.run(r.reads({x}), {out}, [=](Frame& frame) {
    const std::vector<Nudged> ranges = r.in(frame);
    const auto* from = frame.tensor(x).as<float>();
    auto* to = frame.tensor(out).as<float>();
    const bool divides = r.given && !r.channels;
    parallel_for(out.view.count() / r.depth, rows_a_part(r.depth), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t c = 0; c < r.depth; ++c) {
          const int64_t i = row * r.depth + c;
          to[i] = ranges[static_cast<size_t>(c)].rounded(from[i], divides);
        }
    });
  });
}

/// Adds gradients of numbers below and above each channel's range: 2 sums for each, in double.
void gradient_rows(const std::vector<Nudged>& ranges, const float* gradient, const float* x, float* to, int64_t rows,
                   double* sums) {
  for (int64_t row = 0; row < rows; ++row)
    for (size_t c = 0; c < ranges.size(); ++c, ++gradient, ++x, ++to) {
      const Nudged& range = ranges[c];
      *to = range.empty || (*x >= range.low && *x <= range.high) ? *gradient : *gradient * 0.0F;
      if (range.empty) continue;
      // A factor, not a condition: what is no number in the gradient is none in the sums.
      sums[2 * c] += static_cast<double>(*gradient * (*x < range.low ? 1.0F : 0.0F));
      sums[2 * c + 1] += static_cast<double>(*gradient * (*x > range.high ? 1.0F : 0.0F));
    }
}

/// Parts have sums of their own, which are added in their order: results do not depend on the number of threads.
std::vector<double> gradient_sums(const std::vector<Nudged>& ranges, const float* gradient, const float* x, float* to,
                                  int64_t rows) {
  const auto depth = static_cast<int64_t>(ranges.size());
  const int64_t grain = rows_a_part(depth), parts = (rows + grain - 1) / grain;
  std::vector<double> all(static_cast<size_t>(parts * 2 * depth)), out(static_cast<size_t>(2 * depth));
  parallel_parts(parts, [&](int64_t part) {
    const int64_t at = part * grain * depth, count = std::min(grain, rows - part * grain);
    gradient_rows(ranges, gradient + at, x + at, to + at, count, all.data() + part * 2 * depth);
  });
  for (size_t i = 0; i < all.size(); ++i) out[i % out.size()] += all[i];
  return out;
}

void gradients(Lowering& l, const Ranges& r) {
  require(l.shape(0) == l.shape(1), "gradient and input must be the same size");
  const Dims shape = l.shape(1), each = r.channels ? Dims{r.depth} : Dims{};
  const Planned gradient = rows_of(l, l.input(0), DType::kFloat), x = rows_of(l, l.input(1), DType::kFloat);
  std::vector<Planned> out{l.make(0, DType::kFloat, shape)};
  if (r.given) out.insert(out.end(), {l.make(1, DType::kFloat, each), l.make(2, DType::kFloat, each)});
  l.run(r.reads({gradient, x}), out, [=](Frame& frame) {
    const std::vector<Nudged> ranges = r.in(frame);
    const int64_t rows = r.depth == 0 ? 0 : count_of(shape) / r.depth;
    const std::vector<double> sums = gradient_sums(ranges, frame.tensor(gradient).as<float>(),
                                                   frame.tensor(x).as<float>(), frame.tensor(out[0]).as<float>(), rows);
    for (size_t side = 0; side + 1 < out.size(); ++side)
      for (size_t c = 0; c < ranges.size(); ++c)
        frame.tensor(out[side + 1]).as<float>()[c] = static_cast<float>(sums[2 * c + side]);
  });
}

void by_args(Lowering& l) { round_to_steps(l, by_attributes(l)); }
void by_vars(Lowering& l) { round_to_steps(l, by_inputs(l, 1, l.shape(0), false)); }
void by_channels(Lowering& l) { round_to_steps(l, by_inputs(l, 1, l.shape(0), true)); }
void args_gradient(Lowering& l) { gradients(l, by_attributes(l)); }
void vars_gradient(Lowering& l) { gradients(l, by_inputs(l, 2, l.shape(1), false)); }
void channels_gradient(Lowering& l) { gradients(l, by_inputs(l, 2, l.shape(1), true)); }

NPU_NODE("FakeQuantWithMinMaxArgs", by_args);
NPU_NODE("FakeQuantWithMinMaxVars", by_vars);
NPU_NODE("FakeQuantWithMinMaxVarsPerChannel", by_channels);
NPU_NODE("FakeQuantWithMinMaxArgsGradient", args_gradient);
NPU_NODE("FakeQuantWithMinMaxVarsGradient", vars_gradient);
NPU_NODE("FakeQuantWithMinMaxVarsPerChannelGradient", channels_gradient);

}  // namespace
}  // namespace npu::graph
