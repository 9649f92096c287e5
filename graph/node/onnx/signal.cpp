// SPDX-License-Identifier: Apache-2.0
// Signals: windows, Fourier transforms, mel filters, and counts of n-grams.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "graph/ir/literal.h"
#include "graph/node/onnx/floats.h"
#include "ops/signal/fourier.h"

namespace npu::graph::onnx {
namespace {

/// Numbers that are known when the plan is made.
void give_numbers(Lowering& l, const Dims& shape, const std::vector<double>& values) {
  const Planned out = l.make(0, out_type(l), shape);
  if (out.view.count() > 0) copy(l, l.given(literal_of<double>(shape, values)), out);
}

/// What numbers are put down for when the plan is made.
constexpr int64_t kMostNumbers = int64_t{1} << 27;

/// Sums of cosines: one of its three numbers for each multiple of the angle.
void window(Lowering& l, double constant, double first, double second) {
  const int64_t size = integer(l, at(l, 0));
  require(size >= 0 && size <= kMostNumbers, "size is {}; it must lie between 0 and 2^27", size);
  const int64_t turn = int_attribute(l, "periodic", 1) != 0 ? size : size - 1;
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = turn == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(turn);
    values.push_back(turn == 0 ? 1 : constant - first * std::cos(angle) + second * std::cos(2 * angle));
  }
  give_numbers(l, {size}, values);
}
void hann(Lowering& l) { window(l, 0.5, 0.5, 0); }
void hamming(Lowering& l) { window(l, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Lowering& l) { window(l, 0.42, 0.5, 0.08); }

/// Lines of a signal with real and imaginary parts at the end, and where their transforms go.
struct Lines {
  int64_t outer = 1, length = 0, inner = 1, parts = 1;  ///< of what comes in
  int64_t size = 0, kept = 0;                           ///< elements of a transform, and those that are kept
  bool inverse = false;
};

template <class T>
void transform(const Lines& s, const T* from, T* to) {
  const ops::Fourier fourier(s.size);
  std::vector<Complex128> in(static_cast<size_t>(s.size)), out(in.size());
  for (int64_t line = 0; line < s.outer * s.inner; ++line) {
    const int64_t o = line / s.inner, i = line % s.inner;
    std::ranges::fill(in, Complex128{});
    for (int64_t k = 0; k < std::min(s.length, s.size); ++k) {
      const T* x = from + ((o * s.length + k) * s.inner + i) * s.parts;
      const double imaginary = s.parts == 2 ? static_cast<double>(x[1]) : 0;
      // The inverse is the transform of the conjugate, conjugated.
      in[static_cast<size_t>(k)] = {static_cast<double>(x[0]), s.inverse ? -imaginary : imaginary};
    }
    fourier.run(in.data(), out.data());
    const double share = s.inverse ? 1 / static_cast<double>(s.size) : 1;
    for (int64_t k = 0; k < s.kept; ++k) {
      T* y = to + ((o * s.kept + k) * s.inner + i) * 2;
      const Complex128 value = out[static_cast<size_t>(k)];
      y[0] = static_cast<T>(value.real() * share);
      y[1] = static_cast<T>((s.inverse ? -value.imag() : value.imag()) * share);
    }
  }
}

void run_transform(Lowering& l, const Lines& s, const Planned& from, const Result& r) {
  l.run({from}, {r.rows}, [=, out = r.rows](Frame& frame) {
    in_slot(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      transform<T>(s, frame.tensor(from).as<T>(), frame.tensor(out).as<T>());
    });
  });
  r.store(l);
}

int64_t fourier_axis(const Lowering& l) {
  if (opset(l) < 20) return int_attribute(l, "axis", 1);
  return has(l, 2) ? integer(l, at(l, 2)) : -2;
}

void dft(Lowering& l) {
  require_floats(l, 0);
  Dims shape = l.shape(0);
  require(shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2),
          "the input is {}; its last axis must hold a real part, or a real and an imaginary one", shape);
  const size_t axis = checked_axis(fourier_axis(l), shape.size());
  require(axis + 1 < shape.size(), "axis {} is the one of real and imaginary parts", axis);
  Lines s;
  s.parts = shape.back(), s.length = shape[axis], s.inverse = int_attribute(l, "inverse", 0) != 0;
  s.size = has(l, 1) ? integer(l, at(l, 1)) : s.length;
  require(s.size > 0, "dft_length is {}; it must be at least 1", s.size);
  const bool half = int_attribute(l, "onesided", 0) != 0;
  require(!half || !s.inverse, "an inverse transform has no onesided form");
  s.kept = half ? s.size / 2 + 1 : s.size;
  for (size_t i = 0; i + 1 < shape.size(); ++i) (i < axis ? s.outer : s.inner) *= i == axis ? 1 : shape[i];
  shape[axis] = s.kept, shape.back() = 2;
  const DType slot = slot_of(l.dtype(0));
  const Planned from = rows_of(l, l.input(0), slot);
  const Result r = result(l, 0, l.dtype(0), shape, slot);
  if (r.out.view.count() == 0) return;
  run_transform(l, s, from, r);
}

/// Frames of a signal as a view, [batch, frames, length, parts].
Planned framed(const Planned& signal, int64_t frames, int64_t length, int64_t step) {
  const Dims& s = signal.view.strides;
  return restrided(signal, {signal.shape()[0], frames, length, signal.shape()[2]}, {s[0], s[1] * step, s[1], s[2]});
}

/// What is transformed: frames of the signal, with their weights where there is a window.
Planned pieces_of(Lowering& l, int64_t frames, int64_t length, int64_t step, DType slot) {
  const Planned view = framed(rows_of(l, l.input(0), slot), frames, length, step);
  const Planned pieces = l.scratch(slot, view.shape());
  if (!has(l, 2)) {
    copy(l, view, pieces);
    return pieces;
  }
  const Planned weights = rows_of(l, l.input(at(l, 2)), slot);
  require(weights.shape() == Dims{length}, "the window is {}, frame_length is {}", weights.shape(), length);
  l.call("mul").set("self", view).set("other", reshaped(weights, {length, 1})).set("out", pieces);
  return pieces;
}

void stft(Lowering& l) {
  require_floats(l, 0);
  const Dims shape = l.shape(0);
  require(shape.size() == 3 && (shape[2] == 1 || shape[2] == 2), "the signal is {}; it must be [batch, length, 1 or 2]",
          shape);
  const int64_t step = integer(l, at(l, 1));
  require(has(l, 2) || has(l, 3), "neither window nor frame_length is given");
  const int64_t length = has(l, 3) ? integer(l, at(l, 3)) : count_of(l.shape(at(l, 2)));
  require(step > 0 && length > 0 && length <= shape[1], "frame_step is {}, frame_length {}; the signal has {} elements",
          step, length, shape[1]);
  Lines s;
  s.length = s.size = length, s.parts = shape[2];
  s.kept = int_attribute(l, "onesided", 1) != 0 ? length / 2 + 1 : length;
  const int64_t frames = (shape[1] - length) / step + 1;
  s.outer = shape[0] * frames;
  const DType slot = slot_of(l.dtype(0));
  const Planned pieces = pieces_of(l, frames, length, step, slot);
  const Result r = result(l, 0, l.dtype(0), {shape[0], frames, s.kept, 2}, slot);
  if (r.out.view.count() == 0) return;
  run_transform(l, s, pieces, r);
}

/// Triangles between neighbouring bins, which lie side by side on the mel scale.
void mel_weights(Lowering& l) {
  const int64_t count = integer(l, at(l, 0)), length = integer(l, at(l, 1)), rate = integer(l, at(l, 2));
  const double low = number(l, at(l, 3)).to_double(), high = number(l, at(l, 4)).to_double();
  require(count > 0 && length > 0 && count <= kMostNumbers && length <= kMostNumbers / count && rate > 0 && low >= 0 &&
              high >= low,
          "num_mel_bins is {}, dft_length {}, sample_rate {}, edges {} and {}", count, length, rate, low, high);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const int64_t rows = length / 2 + 1;
  std::vector<int64_t> bins;
  for (int64_t i = 0; i < count + 2; ++i) {
    const double at = mel(low) + static_cast<double>(i) * (mel(high) - mel(low)) / static_cast<double>(count + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    bins.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  std::vector<double> values(static_cast<size_t>(rows * count));
  const auto set = [&](int64_t row, int64_t column, double value) {
    if (row < rows) values[static_cast<size_t>(row * count + column)] = value;
  };
  for (int64_t i = 0; i < count; ++i) {
    const auto first = static_cast<size_t>(i);
    const int64_t from = bins[first], middle = bins[first + 1], to = bins[first + 2];
    if (middle == from) set(middle, i, 1);
    for (int64_t k = from; k <= middle && middle > from; ++k)
      set(k, i, static_cast<double>(k - from) / static_cast<double>(middle - from));
    for (int64_t k = middle; k < to; ++k) set(k, i, static_cast<double>(to - k) / static_cast<double>(to - middle));
  }
  give_numbers(l, {rows, count}, values);
}

/// The n-grams that are counted, by their elements, and what becomes of the counts.
struct Grams {
  std::map<std::vector<int64_t>, int64_t> known;  ///< -> their number
  std::vector<int64_t> place;                     ///< by number: the element of the result
  std::vector<double> weight;                     ///< by number; empty: 1
  int64_t shortest = 1, longest = 1, skips = 0, width = 0;
  std::string mode;
};

Grams grams_of(const Lowering& l) {
  require(!l.attributes().has("pool_strings"), "its n-grams are texts; give numbers, with pool_int64s");
  Grams g;
  g.shortest = l.attributes().get<int64_t>("min_gram_length"),
  g.longest = l.attributes().get<int64_t>("max_gram_length");
  g.skips = l.attributes().get<int64_t>("max_skip_count"), g.mode = l.attributes().get<std::string>("mode");
  g.place = list_attribute(l, "ngram_indexes");
  g.weight = l.attributes().get_or<std::vector<double>>("weights", {});
  require(g.mode == "TF" || g.mode == "IDF" || g.mode == "TFIDF", "mode is '{}'; TF, IDF and TFIDF are known", g.mode);
  const auto starts = list_attribute(l, "ngram_counts"), pool = list_attribute(l, "pool_int64s");
  for (size_t n = 1; n <= starts.size(); ++n) {
    const int64_t end = n < starts.size() ? starts[n] : static_cast<int64_t>(pool.size());
    const auto length = static_cast<int64_t>(n);
    require(starts[n - 1] >= 0 && end <= static_cast<int64_t>(pool.size()) && (end - starts[n - 1]) % length == 0,
            "ngram_counts does not cut the pool of {} elements into n-grams", pool.size());
    for (int64_t i = starts[n - 1]; i < end; i += length)
      g.known.emplace(std::vector<int64_t>(pool.begin() + i, pool.begin() + i + length),
                      static_cast<int64_t>(g.known.size()));
  }
  require(g.place.size() == g.known.size() && (g.weight.empty() || g.weight.size() == g.place.size()),
          "the pool holds {} n-grams, ngram_indexes names {}, weights {}", g.known.size(), g.place.size(),
          g.weight.size());
  for (const int64_t place : g.place) {
    require(place >= 0 && place < kMostNumbers, "ngram_indexes holds {}; it must lie between 0 and 2^27", place);
    g.width = std::max(g.width, place + 1);
  }
  return g;
}

void count_grams(const Grams& g, const int64_t* from, int64_t length, float* to) {
  for (int64_t n = g.shortest; n <= g.longest; ++n)
    for (int64_t step = 1; step <= (n == 1 ? 1 : g.skips + 1); ++step)
      for (int64_t start = 0; start + step * (n - 1) < length; ++start) {
        std::vector<int64_t> gram;
        for (int64_t k = 0; k < n; ++k) gram.push_back(from[start + k * step]);
        const auto at = g.known.find(gram);
        if (at == g.known.end()) continue;
        const auto number = static_cast<size_t>(at->second);
        const float weight = g.weight.empty() ? 1.0F : static_cast<float>(g.weight[number]);
        float& sum = to[g.place[number]];
        if (g.mode == "TF") sum += 1;
        if (g.mode == "IDF") sum = weight;
        if (g.mode == "TFIDF") sum += weight;
      }
}

void tf_idf(Lowering& l) {
  require(is_integer(l.dtype(0)), "the input is {}; numbers of words are integers", l.dtype(0));
  const Dims in = l.shape(0);
  require(in.size() == 1 || in.size() == 2, "the input is {}; it must have 1 or 2 axes", in);
  const Grams g = grams_of(l);
  const int64_t rows = in.size() == 1 ? 1 : in[0], length = in.back();
  const Planned from = rows_of(l, l.input(0), DType::kInt64);
  const Planned out = l.make(0, DType::kFloat, in.size() == 1 ? Dims{g.width} : Dims{rows, g.width});
  fill(l, out, Scalar(0));
  l.run({from, out}, [=](Frame& frame) {
    const auto* words = frame.tensor(from).as<int64_t>();
    auto* counts = frame.tensor(out).as<float>();
    for (int64_t i = 0; i < rows; ++i) count_grams(g, words + i * length, length, counts + i * g.width);
  });
}

NPU_NODE("ai.onnx::HannWindow", hann);
NPU_NODE("ai.onnx::HammingWindow", hamming);
NPU_NODE("ai.onnx::BlackmanWindow", blackman);
NPU_NODE("ai.onnx::DFT", dft);
NPU_NODE("ai.onnx::STFT", stft);
NPU_NODE("ai.onnx::MelWeightMatrix", mel_weights);
NPU_NODE("ai.onnx::TfIdfVectorizer", tf_idf);

}  // namespace
}  // namespace npu::graph::onnx
