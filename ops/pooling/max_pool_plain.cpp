// SPDX-License-Identifier: Apache-2.0
// Max pooling for clients that never see where the maxima are: the places live in a buffer of one part only, and the
// gradient finds them anew instead of reading them from memory.
#include <algorithm>

#include "ops/pooling/fixed_windows.h"
#include "ops/pooling/place.h"
#include "ops/pooling/plain_max_kernel.h"

namespace npu::ops {
namespace {

/// The windows of a pooling and the buffers of one part: maxima and places.
struct MaxWindows : FixedWindows {
 protected:
  void plan(const char* name, const Tensor& pooled) {
    slot_ = pool_slot("self", self);
    window_ = windows();
    check_pooled(name, pooled, self, axes(), window_);
    lanes_ = plane_lanes(self, axes());
    in_ = Planes(self, axes(), slot_, lanes_, false);
    pooled_ = Planes(pooled, axes(), slot_, lanes_, false);
    // Even places that no client sees must be countable.
    check_places(self, in_, slot_);
  }
  int64_t outputs() const { return window_[0].out * window_[1].out * window_[2].out; }
  /// Bytes of a dense part of outputs, elements or places.
  int64_t dense_bytes() const { return (outputs() * lanes_ * static_cast<int64_t>(size_of(slot_)) + 63) / 64 * 64; }
  PlaneView dense(std::byte* buffer, int64_t lanes) const {
    return {buffer, window_[1].out * window_[2].out * lanes, window_[2].out * lanes, lanes};
  }
  void find(const PlaneView& from, const PlaneView& best, std::byte* place, int64_t lanes) const {
    max_kernel(slot_)({&window_, from, best, place, lanes, Place::kPlane});
  }

  DType slot_ = DType::kFloat;
  PoolWindow window_;
  int64_t lanes_ = 1;
  Planes in_, pooled_;
};

struct PlainMaxPool final : MaxWindows {
  Tensor out;
  int64_t auto_pad = 0;

  void prepare() override {
    require(auto_pad == 0, "autoPad is {}; only 0 exists: the padding is what is given", auto_pad);
    plan("out", out);
    // A single lane is computed line by line; its outputs lie side by side.
    pooled_ = Planes(out, axes(), slot_, lanes_, true);
    if (lanes_ == 1) return;
    // In memory of the slot's own there is no buffer to fit: all channels are one bundle, so that runs are long.
    const size_t channel = self.rank() - axes() - 1;
    if (self.dtype == slot_ && out.dtype == slot_ && out.strides[channel] == 1) {
      lanes_ = self.shape[channel];
      in_ = Planes(self, axes(), slot_, lanes_, false);
      pooled_ = Planes(out, axes(), slot_, lanes_, false);
    }
  }
  void run() override { lanes_ > 1 ? run_lanes() : run_line(); }
  int64_t cost() const override { return 500 + in_.parts() * in_.plane() * 4; }

 private:
  static constexpr int64_t kPartElements = 1 << 14;

  void run_line() const {
    const int64_t best_at = in_.buffer_bytes(), place_at = best_at + pooled_.buffer_bytes();
    for_planes(in_, place_at + dense_bytes(), [&](int64_t part, std::byte* buffer) {
      find(in_.load(part, buffer), pooled_.target(part, buffer + best_at), buffer + place_at, in_.lanes(part));
      pooled_.store(part, buffer + best_at);
    });
  }

  /// What lies in place is cut into rows as well; the rest has a buffer for each part, which holds all rows.
  void run_lanes() const {
    const int64_t best_at = in_.buffer_bytes(), line_at = best_at + pooled_.buffer_bytes();
    const int64_t rows = window_[0].out * window_[1].out, line = window_[2].in * lanes_;
    const int64_t each = line_at == 0 ? std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, line)) : rows;
    const int64_t blocks = (rows + each - 1) / each;
    parallel_parts(in_.parts() * blocks, [&](int64_t i) {
      const Scratch<std::byte> buffer(line_at + line * static_cast<int64_t>(size_of(slot_)));
      const int64_t part = i / blocks, begin = i % blocks * each;
      plain_max_kernel(slot_)({&window_, in_.load(part, buffer.data()), pooled_.target(part, buffer.data() + best_at),
                               buffer.data() + line_at, in_.lanes(part), begin, std::min(begin + each, rows)});
      pooled_.store(part, buffer.data() + best_at);
    });
  }
};

/// grad_input: the gradient of each output where its maximum was found, added output by output.
struct PlainMaxPoolGrad final : MaxWindows {
  Tensor grad_output, grad_input;

  void prepare() override {
    require(grad_input.shape == self.shape, "grad_input is {}, self {}: the shapes must be equal", grad_input, self);
    plan("grad_output", grad_output);
    // Flat without lanes, where places are positions; with lanes the kernel walks windows.
    grad_ = Planes(grad_input, axes(), slot_, lanes_, lanes_ == 1);
    covered_ = every_element_once();
  }
  void run() override {
    const int64_t out_at = in_.buffer_bytes(), grad_at = out_at + pooled_.buffer_bytes();
    const int64_t best_at = grad_at + grad_.buffer_bytes(), place_at = best_at + (lanes_ == 1 ? dense_bytes() : 0);
    for_planes(in_, place_at + dense_bytes(), [&](int64_t part, std::byte* buffer) {
      const int64_t lanes = in_.lanes(part);
      const PlaneView in = in_.load(part, buffer), out = pooled_.load(part, buffer + out_at);
      const PlaneView grad = grad_.target(part, buffer + grad_at);
      // Where every element is written exactly once, clearing would be one pass for nothing.
      if (!covered_) slot_ == DType::kDouble ? clear<double>(grad, lanes) : clear<float>(grad, lanes);
      if (lanes_ > 1) {
        max_grad_kernel(slot_)({&window_, in, grad, out, lanes});
      } else {
        // Lines of maxima are found faster than single ones.
        find(in, dense(buffer + best_at, 1), buffer + place_at, 1);
        const void* place = buffer + place_at;
        slot_ == DType::kDouble ? add<double>(grad, out, place) : add<float>(grad, out, place);
      }
      grad_.store(part, buffer + grad_at);
    });
  }
  int64_t cost() const override { return 500 + in_.parts() * in_.plane() * 8; }

 private:
  /// Whether every element lies in exactly one window, so that the kernel of lanes writes it.
  bool every_element_once() const {
    return lanes_ > 1 && std::all_of(window_.begin(), window_.end(), [](const PoolAxis& a) {
             // Windows side by side without a gap, or one window: and from the first element to the last.
             const bool apart = a.stride == a.kernel && a.dilation == 1;
             return a.out > 0 && (apart || a.out == 1) && a.dilation == 1 && a.first[0] == 0 &&
                    a.first.back() + a.count.back() == a.in;
           });
  }

  template <class T>
  void add(const PlaneView& grad, const PlaneView& out, const void* place) const {
    const auto* at = static_cast<const PlaceOf<T>*>(place);
    T* to = static_cast<T*>(grad.data);
    const auto& [z, y, x] = window_;
    for (int64_t i = 0; i < outputs(); ++i) {
      const int64_t row = i / x.out;
      const int64_t from = row / y.out * out.slice + row % y.out * out.row + i % x.out * out.pixel;
      to[static_cast<int64_t>(at[i]) * grad.pixel] += static_cast<const T*>(out.data)[from];
    }
  }
  template <class T>
  void clear(const PlaneView& grad, int64_t lanes) const {
    const auto& [z, y, x] = window_;
    for (int64_t i = 0; i < z.in * y.in; ++i) {
      T* row = static_cast<T*>(grad.data) + i / y.in * grad.slice + i % y.in * grad.row;
      if (grad.pixel == lanes) {
        std::fill_n(row, x.in * lanes, T(0));
        continue;
      }
      for (int64_t j = 0; j < x.in; ++j) std::fill_n(row + j * grad.pixel, lanes, T(0));
    }
  }

  Planes grad_;
  bool covered_ = false;
};

const Registration register_max_pool =
    Registration("max_pool", "pooling",
                 with_windows({attr<&PlainMaxPool::auto_pad>("auto_pad"), out<&PlainMaxPool::out>("out")}),
                 &make<PlainMaxPool>)
        .is(kMovesBits);
const Registration register_max_pool_backward("max_pool_backward", "pooling",
                                              with_windows({in<&PlainMaxPoolGrad::grad_output>("grad_output"),
                                                            out<&PlainMaxPoolGrad::grad_input>("grad_input")}),
                                              &make<PlainMaxPoolGrad>);

}  // namespace
}  // namespace npu::ops
