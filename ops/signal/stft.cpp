// SPDX-License-Identifier: Apache-2.0
// The short-time Fourier transform: frames of a signal, every hop_length elements, each through a window and a
// transform. Half a spectrum (onesided) is enough for real signals.
#include <cmath>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/signal/fourier.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct Stft final : Operator {
  Tensor self, window, out;
  int64_t n_fft = 0, hop_length = 0, win_length = 0;
  bool normalized = false, onesided = true, return_complex = true;
  Fourier fourier;
  OrderedTensor signal, weights;
  Rows spectra;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 20 * batches_ * frames_ * n_fft; }

 private:
  void check_out();
  void run_frame(int64_t index, const double* factors) const;
  int64_t batches_ = 1, samples_ = 0, frames_ = 0, bins_ = 0;
};

void Stft::prepare() {
  require(self.rank() == 1 || self.rank() == 2, "self is {}; it must be [samples] or [batch, samples]", self);
  require(is_floating(self.dtype) || is_complex(self.dtype), "self is {}; it must be floating point or complex", self);
  require(!onesided || !is_complex(self.dtype), "self is {}; half a spectrum is for real signals: pass onesided=False",
          self);
  samples_ = self.shape.back();
  batches_ = self.rank() == 2 ? self.shape[0] : 1;
  require(n_fft > 0 && n_fft <= samples_, "n_fft is {}; it is 1 to {}, the samples there are", n_fft, samples_);
  require(hop_length > 0, "hop_length is {}; it must be positive", hop_length);
  require(win_length > 0 && win_length <= n_fft, "win_length is {}; it is 1 to n_fft ({})", win_length, n_fft);
  if (window.defined()) {
    require(is_floating(window.dtype), "window is {}; it must be floating point", window);
    check_shape(window, "window", {win_length});
    weights = OrderedTensor(window, DType::kDouble);
  }
  // Frames that do not fit whole are left out; a client that wants padding has padded the signal.
  frames_ = 1 + (samples_ - n_fft) / hop_length;
  bins_ = onesided ? n_fft / 2 + 1 : n_fft;
  check_out();
  fourier = Fourier(n_fft);
  signal = OrderedTensor(self, DType::kComplex128);
}

void Stft::check_out() {
  Dims shape{bins_, frames_};
  if (self.rank() == 2) shape.insert(0, batches_);
  const size_t axis = shape.size() - 2;
  if (!return_complex) shape.push_back(2);
  check_shape(out, "output", shape);
  require(return_complex == is_complex(out.dtype), "output is {}; return_complex is {}", out, return_complex);
  const size_t axes[2] = {axis, axis + 2};
  spectra =
      Rows(out, {axes, return_complex ? size_t{1} : size_t{2}}, return_complex ? DType::kComplex128 : DType::kDouble);
}

void Stft::run() {
  // A short window lies in the middle of the frame.
  const int64_t left = (n_fft - win_length) / 2;
  const Scratch<double> shape(win_length);
  std::fill(shape.data(), shape.data() + win_length, 1.0);
  if (window.defined()) weights.load(0, win_length, shape.data());
  // Window and normalisation are one factor an element.
  const double scale = normalized ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1.0;
  std::vector<double> factors(static_cast<size_t>(n_fft));
  for (int64_t i = 0; i < win_length; ++i) factors[static_cast<size_t>(left + i)] = shape[i] * scale;
  parallel_for(batches_ * frames_, 4, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) run_frame(index, factors.data());
  });
}

// Frames overlap in the signal only: each is computed in double, by one thread, and rounded as it is stored.
void Stft::run_frame(int64_t index, const double* factors) const {
  const Scratch<Complex128> frame(n_fft), spectrum(n_fft), buffer(n_fft);
  signal.load(index / frames_ * samples_ + index % frames_ * hop_length, n_fft, frame.data());
  for (int64_t i = 0; i < n_fft; ++i) frame[i] *= factors[i];
  fourier.run(frame, spectrum);
  auto* to = static_cast<Complex128*>(spectra.target(index, buffer));
  // Of a real signal the second half mirrors the first.
  std::copy_n(spectrum.data(), bins_, to);
  spectra.store(index, to);
}

NPU_OPERATOR(Stft, "stft", "signal", in<&Stft::self>("self"), optional<&Stft::window>("window"),
             attr<&Stft::n_fft>("n_fft"), attr<&Stft::hop_length>("hop_length"), attr<&Stft::win_length>("win_length"),
             attr<&Stft::normalized>("normalized"), attr<&Stft::onesided>("onesided"),
             attr<&Stft::return_complex>("return_complex"), out<&Stft::out>("output"));

}  // namespace
}  // namespace npu::ops
