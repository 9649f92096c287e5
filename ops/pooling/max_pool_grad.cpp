// SPDX-License-Identifier: Apache-2.0
// Gradients of max pooling: each output's gradient is added where its maximum was found. Outputs are added in
// row-major order.
// A part is some planes, and what is written in it comes from its own outputs only: sums have one order for any number
// of threads.
#include "ops/operator.h"
#include "ops/pooling/place.h"

namespace npu::ops {
namespace {

struct Spread {
  PlaneView grad;  ///< of the input; flat
  PlaneView out;   ///< gradient of the outputs
  const void* place;
  int64_t lanes;
};

struct MaxPlanGrad : Operator {
  Tensor grad_output, self, indices, grad_input;
  PoolWindow window;
  Planes grad, in, places;
  DType slot = DType::kFloat;
  /// Distance of each element of the window from its first one; empty where places are positions in the plane.
  std::vector<int64_t> elements;

  void run() override {
    const int64_t in_at = grad.buffer_bytes(), place_at = in_at + in.buffer_bytes();
    for_planes(grad, place_at + places.buffer_bytes(), [&](int64_t part, std::byte* buffer) {
      places.load(part, buffer + place_at);
      const Spread spread{grad.target(part, buffer), in.load(part, buffer + in_at), buffer + place_at,
                          grad.lanes(part)};
      slot == DType::kDouble ? add<double>(spread) : add<float>(spread);
      grad.store(part, buffer);
    });
  }
  int64_t cost() const override { return 500 + grad.parts() * grad.plane() * 4; }

 protected:
  void plan(size_t spatial) {
    require(grad_input.shape == self.shape, "grad_input is {}, self {}: the shapes must be equal", grad_input, self);
    const int64_t lanes = plane_lanes(grad_input, spatial);
    // Flat, as places count elements of a plane row by row.
    grad = Planes(grad_input, spatial, slot, lanes, true);
    in = Planes(grad_output, spatial, slot, lanes, false);
    places = elements.empty() ? index_planes(indices, grad_output, spatial, slot, lanes)
                              : mask_planes(indices, grad_output, spatial, slot, lanes, window);
  }

 private:
  template <class T>
  void add(const Spread& s) const {
    // Elements that no window chose have a gradient of 0.
    clear<T>(s);
    const auto& [z, y, x] = window;
    const auto* place = static_cast<const PlaceOf<T>*>(s.place);
    for (int64_t oz = 0; oz < z.out; ++oz) {
      for (int64_t oy = 0; oy < y.out; ++oy, place += x.out * s.lanes) {
        const T* g = static_cast<const T*>(s.out.data) + oz * s.out.slice + oy * s.out.row;
        // Where the window's element 0 lies, in the padding too: the distances in `elements` count from there.
        const int64_t corner = ((oz * z.stride - z.padding) * y.in + oy * y.stride - y.padding) * x.in - x.padding;
        if (elements.empty()) {
          add_line(s, g, place, [](int64_t, PlaceOf<T> at) { return static_cast<int64_t>(at); });
        } else {
          add_line(s, g, place, [&](int64_t o, PlaceOf<T> at) {
            // Behind the last element of the window: a position that no plane has.
            return static_cast<size_t>(at) < elements.size() ? corner + o * x.stride + elements[static_cast<size_t>(at)]
                                                             : int64_t{-1};
          });
        }
      }
    }
  }

  template <class T>
  void clear(const Spread& s) const {
    T* to = static_cast<T*>(s.grad.data);
    if (s.grad.pixel == s.lanes) {
      std::fill_n(to, grad.plane() * s.lanes, T(0));
      return;
    }
    for (int64_t i = 0; i < grad.plane(); ++i) std::fill_n(to + i * s.grad.pixel, s.lanes, T(0));
  }

  // A place that lies nowhere in the plane is passed over: the client's memory may hold anything.
  template <class T, class F>
  void add_line(const Spread& s, const T* g, const PlaceOf<T>* place, F&& position) const {
    const auto size = static_cast<uint64_t>(grad.plane());
    T* to = static_cast<T*>(s.grad.data);
    const int64_t outputs = window[2].out;
    // Without lanes, and dense: the common case needs no second index.
    if (s.lanes == 1 && s.grad.pixel == 1) {
      for (int64_t o = 0; o < outputs; ++o) {
        // As unsigned, so that one comparison catches both ends.
        const auto at = static_cast<uint64_t>(position(o, place[o]));
        if (at < size) to[at] += g[o * s.out.pixel];
      }
      return;
    }
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t l = 0; l < s.lanes; ++l) {
        const auto at = static_cast<uint64_t>(position(o, place[o * s.lanes + l]));
        if (at < size) to[static_cast<int64_t>(at) * s.grad.pixel + l] += g[o * s.out.pixel + l];
      }
    }
  }
};

template <Place kMeaning>
struct MaxPoolGrad final : MaxPlanGrad {
  std::vector<int64_t> kernel_size, stride, padding, dilation;
  bool ceil_mode = false;
  int64_t spatial = 2;

  void prepare() override {
    slot = pool_slot("self", self);
    const auto axes = static_cast<size_t>(spatial);
    window = fixed_window(self, axes, {kernel_size, stride, padding, dilation, ceil_mode});
    check_pooled("grad_output", grad_output, self, axes, window);
    elements.clear();
    if (kMeaning == Place::kWindow) list_elements();
    plan(axes);
  }

 private:
  // Once for all outputs: a mask's number is then one look-up.
  void list_elements() {
    const auto& [z, y, x] = window;
    for (int64_t k = 0; k < z.kernel * y.kernel * x.kernel; ++k) {
      const int64_t dz = k / x.kernel / y.kernel * z.dilation, dy = k / x.kernel % y.kernel * y.dilation;
      elements.push_back((dz * y.in + dy) * x.in + k % x.kernel * x.dilation);
    }
  }
};

struct AdaptiveMaxPoolGrad final : MaxPlanGrad {
  int64_t spatial = 2;

  void prepare() override {
    slot = pool_slot("self", self);
    const auto axes = static_cast<size_t>(spatial);
    require(grad_output.rank() == self.rank() && self.rank() > axes, "grad_output is {}, self {}: the ranks must agree",
            grad_output, self);
    const std::span<const int64_t> shape = grad_output.shape;
    window = adaptive_window(self, axes, shape.subspan(shape.size() - axes));
    check_pooled("grad_output", grad_output, self, axes, window);
    plan(axes);
  }
};

using MaxPoolIndicesBackward = MaxPoolGrad<Place::kPlane>;
using MaxPoolMaskBackward = MaxPoolGrad<Place::kWindow>;

template <class Op>
std::vector<Field> fixed_fields() {
  return {in<&Op::grad_output>("grad_output"), in<&Op::self>("self"),
          in<&Op::indices>("indices"),         attr<&Op::kernel_size>("kernel_size"),
          attr<&Op::stride>("stride"),         attr<&Op::padding>("padding"),
          attr<&Op::dilation>("dilation"),     attr<&Op::ceil_mode>("ceil_mode"),
          attr<&Op::spatial>("spatial"),       out<&Op::grad_input>("grad_input")};
}

const Registration register_indices("max_pool_indices_backward", "pooling", fixed_fields<MaxPoolIndicesBackward>(),
                                    &make<MaxPoolIndicesBackward>);
const Registration register_mask("max_pool_mask_backward", "pooling", fixed_fields<MaxPoolMaskBackward>(),
                                 &make<MaxPoolMaskBackward>);
NPU_OPERATOR(AdaptiveMaxPoolGrad, "adaptive_max_pool_backward", "pooling",
             in<&AdaptiveMaxPoolGrad::grad_output>("grad_output"), in<&AdaptiveMaxPoolGrad::self>("self"),
             in<&AdaptiveMaxPoolGrad::indices>("indices"), attr<&AdaptiveMaxPoolGrad::spatial>("spatial"),
             out<&AdaptiveMaxPoolGrad::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
