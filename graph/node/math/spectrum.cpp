// SPDX-License-Identifier: Apache-2.0
// Fourier transforms over the last 1, 2 or 3 axes, of complex numbers, of real ones (half of the spectrum is given, the
// rest are its conjugates) and back to real ones. One axis after the other in float64, so a result is rounded once.
#include <algorithm>
#include <complex>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"
#include "ops/signal/fourier.h"

namespace npu::graph {
namespace {

using Spectrum = std::vector<Complex128>;

int64_t product(const std::vector<int64_t>& sizes) { return count_of(Dims(sizes)); }

/// What all items of a batch have in common. Sizes are those of the transformed axes.
struct Transforms {
  std::vector<int64_t> in, out, lengths;  ///< of the input, the result, the transforms
  bool inverse = false, real = false;
  std::vector<ops::Fourier> plans = {};  ///< one for each axis

  size_t rank() const { return lengths.size(); }
  bool to_real() const { return real && inverse; }
  /// What is read of the input: half of a spectrum where the result is real.
  std::vector<int64_t> read() const {
    std::vector<int64_t> sizes = lengths;
    if (to_real()) sizes.back() = lengths.back() / 2 + 1;
    return sizes;
  }
};

/// Calls body(offset in a box of sizes `of`, index) for each row of the box `sizes` that lies at its beginning.
template <class F>
void each_row(const std::vector<int64_t>& sizes, const std::vector<int64_t>& of, F&& body) {
  const int64_t rows = sizes.back() == 0 ? 0 : product(sizes) / sizes.back();
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, offset = 0, step = of.back();
    for (size_t d = sizes.size() - 1; d-- > 0; rest /= sizes[d], step *= of[d]) offset += rest % sizes[d] * step;
    body(offset, row);
  }
}

/// Lines are transformed by as many threads as there are, each in memory of its own.
constexpr int64_t kPointsAPart = 1 << 12;

/// `axis` of a box of `sizes` in place.
void transform_axis(const ops::Fourier& plan, Spectrum& box, const std::vector<int64_t>& sizes, size_t axis,
                    bool inverse) {
  const int64_t length = sizes[axis];
  int64_t inner = 1;
  for (size_t d = axis + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const int64_t lines = product(sizes) / length;
  parallel_for(lines, std::max<int64_t>(1, kPointsAPart / length), [&](int64_t begin, int64_t end) {
    Spectrum in(static_cast<size_t>(length)), out(in.size());
    for (int64_t line = begin; line < end; ++line) {
      Complex128* at = box.data() + line / inner * inner * length + line % inner;
      // The inverse is the transform of the conjugate, conjugated.
      for (int64_t k = 0; k < length; ++k)
        in[static_cast<size_t>(k)] = inverse ? std::conj(at[k * inner]) : at[k * inner];
      plan.run(in.data(), out.data());
      const double share = inverse ? 1 / static_cast<double>(length) : 1;
      for (int64_t k = 0; k < length; ++k) {
        const Complex128 value = out[static_cast<size_t>(k)];
        at[k * inner] = inverse ? std::conj(value) * share : value;
      }
    }
  });
}

/// The last axis, from half of its spectrum to all of it: the other half are conjugates, its ends are real.
Spectrum completed(const Spectrum& half, int64_t length) {
  const int64_t width = length / 2 + 1, lines = static_cast<int64_t>(half.size()) / width;
  Spectrum out(static_cast<size_t>(lines * length));
  for (int64_t line = 0; line < lines; ++line) {
    const Complex128* from = half.data() + line * width;
    Complex128* to = out.data() + line * length;
    to[0] = from[0].real();
    for (int64_t k = 1; k < width; ++k) to[k] = from[k], to[length - k] = std::conj(from[k]);
    if (length % 2 == 0) to[length / 2] = from[length / 2].real();
  }
  return out;
}

/// Parts of a number of the input or the result, of type T.
template <class T>
Complex128 loaded(const T* from, int64_t i, bool real) {
  if (real) return static_cast<double>(from[i]);
  return {static_cast<double>(from[2 * i]), static_cast<double>(from[2 * i + 1])};
}
template <class T>
void store(T* to, int64_t i, bool real, const Complex128& value) {
  if (real) {
    to[i] = static_cast<T>(value.real());
    return;
  }
  to[2 * i] = static_cast<T>(value.real()), to[2 * i + 1] = static_cast<T>(value.imag());
}

/// One item. Inputs longer than the transform are cut.
template <class T>
void transform_item(const Transforms& t, const T* from, T* to) {
  std::vector<int64_t> sizes = t.read();
  Spectrum box(static_cast<size_t>(product(sizes)));
  each_row(sizes, t.in, [&](int64_t offset, int64_t row) {
    for (int64_t k = 0; k < sizes.back(); ++k)
      box[static_cast<size_t>(row * sizes.back() + k)] = loaded(from, offset + k, t.real && !t.inverse);
  });
  const size_t last = t.rank() - 1;
  for (size_t axis = 0; axis < last; ++axis) transform_axis(t.plans[axis], box, sizes, axis, t.inverse);
  if (t.to_real()) box = completed(box, t.lengths.back());
  sizes.back() = t.lengths.back();
  transform_axis(t.plans[last], box, sizes, last, t.inverse);
  // Of the spectrum of real numbers the first half is given.
  each_row(t.out, sizes, [&](int64_t offset, int64_t row) {
    for (int64_t k = 0; k < t.out.back(); ++k)
      store(to, row * t.out.back() + k, t.to_real(), box[static_cast<size_t>(offset + k)]);
  });
}

/// The lengths that a node on real numbers is given, checked against its input.
std::vector<int64_t> given_lengths(const Lowering& l, const std::vector<int64_t>& in, size_t first, bool inverse) {
  require(l.shape(1) == Dims{static_cast<int64_t>(in.size())}, "fft_length must have shape [{}]", in.size());
  const std::vector<int64_t> lengths = l.integers(1);
  for (size_t d = 0; d < in.size(); ++d) {
    require(lengths[d] >= 0, "fft_length[{}] must >= 0, but got: {}", d, lengths[d]);
    const int64_t least = inverse && d + 1 == in.size() ? lengths[d] / 2 + 1 : lengths[d];
    require(in[d] == 0 || in[d] >= least, "Input dimension {} must have length of at least {} but got: {}", first + d,
            least, in[d]);
  }
  return lengths;
}

Transforms transforms_of(const Lowering& l, size_t rank, bool real, bool inverse) {
  const Dims& shape = l.shape(0);
  require(shape.size() >= rank, "Input must have rank of at least {} but got: {}", rank, client_text(shape));
  const size_t first = shape.size() - rank;
  Transforms t;
  t.in.assign(shape.begin() + first, shape.end());
  t.real = real, t.inverse = inverse;
  t.lengths = real ? given_lengths(l, t.in, first, inverse) : t.in;
  t.out = t.lengths;
  if (real && !inverse && t.out.back() != 0) t.out.back() = t.out.back() / 2 + 1;
  return t;
}

void transform(Lowering& l, size_t rank, bool real, bool inverse) {
  Transforms t = transforms_of(l, rank, real, inverse);
  Dims shape = l.shape(0);
  const size_t first = shape.size() - rank;
  int64_t batch = 1;
  for (size_t d = 0; d < first; ++d) batch *= shape[d];
  for (size_t d = 0; d < rank; ++d) shape[first + d] = t.out[d];
  const DType in = l.dtype(0), dtype = out_type(l);
  require(is_complex(in) == !(real && !inverse) && is_complex(dtype) == !t.to_real() && real_of(in) == real_of(dtype),
          "Wrong types for FFT: in={} out={}", in, dtype);
  if (real_of(in) != DType::kFloat && real_of(in) != DType::kDouble) l.decline("its type is the client's");
  const Planned from = rows_of(l, l.input(0), in), out = l.make(0, dtype, shape);
  if (out.view.count() == 0) return;
  if (from.view.count() == 0) return fill(l, out, Scalar(0));
  for (const int64_t length : t.lengths) t.plans.emplace_back(length);
  const int64_t read = from.view.count() / batch * (is_complex(in) ? 2 : 1);
  const int64_t written = out.view.count() / batch * (is_complex(dtype) ? 2 : 1);
  l.run({from}, {out}, [=](Frame& frame) {
    const Tensor x = frame.tensor(from), y = frame.tensor(out);
    in_slot(real_of(in), [&](auto zero) {
      using T = decltype(zero);
      parallel_parts(batch, [&](int64_t i) { transform_item(t, x.as<T>() + i * read, y.as<T>() + i * written); });
    });
  });
}

template <size_t rank, bool real, bool inverse>
void lower_transform(Lowering& l) {
  transform(l, rank, real, inverse);
}

NPU_NODE("FFT", (lower_transform<1, false, false>));
NPU_NODE("FFT2D", (lower_transform<2, false, false>));
NPU_NODE("FFT3D", (lower_transform<3, false, false>));
NPU_NODE("IFFT", (lower_transform<1, false, true>));
NPU_NODE("IFFT2D", (lower_transform<2, false, true>));
NPU_NODE("IFFT3D", (lower_transform<3, false, true>));
NPU_NODE("RFFT", (lower_transform<1, true, false>));
NPU_NODE("RFFT2D", (lower_transform<2, true, false>));
NPU_NODE("RFFT3D", (lower_transform<3, true, false>));
NPU_NODE("IRFFT", (lower_transform<1, true, true>));
NPU_NODE("IRFFT2D", (lower_transform<2, true, true>));
NPU_NODE("IRFFT3D", (lower_transform<3, true, true>));

}  // namespace
}  // namespace npu::graph
