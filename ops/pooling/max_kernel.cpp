// SPDX-License-Identifier: Apache-2.0
// Without lanes one element of the window is compared for a whole row of outputs at a time, so that vectors run along
// the row. With lanes a window is walked in registers, a vector of channels at a time.
#include "ops/pooling/max_kernel.h"

#include <limits>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pooling/max_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// `>` keeps the first of equal elements. A NaN compares false, so it is asked for by name and then stays: no number is
// greater.
template <class T>
HWY_INLINE void take(T value, int64_t at, T* best, PlaceOf<T>* place) {
  if (value > *best || value != value) {
    *best = value;
    *place = static_cast<PlaceOf<T>>(at);
  }
}

// One element of each window: best[i] against in[i * kStep], found at `at` + i * at_step. Returns how many are done;
// the rest is for the caller (with kStep 2 a vector load would reach behind the last element).
template <int kStep, class T>
HWY_INLINE int64_t max_vectors(const T* in, int64_t n, int64_t at, int64_t at_step, T* best, PlaceOf<T>* place) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes + (kStep == 2)) return 0;
  auto here = hn::Set(di, static_cast<PlaceOf<T>>(at));
  if (at_step != 0) {
    HWY_ALIGN PlaceOf<T> begin[hn::MaxLanes(d)];
    for (int64_t i = 0; i < lanes; ++i) begin[i] = static_cast<PlaceOf<T>>(at + i * at_step);
    here = hn::Load(di, begin);
  }
  const auto next = hn::Set(di, static_cast<PlaceOf<T>>(lanes * at_step));
  int64_t i = 0;
  for (; i + lanes + (kStep == 2) <= n; i += lanes) {
    auto value = hn::Undefined(d);
    if constexpr (kStep == 1) {
      value = hn::LoadU(d, in + i);
    } else {
      auto odd = value;
      hn::LoadInterleaved2(d, in + 2 * i, value, odd);
    }
    // The two halves of `take`, as masks: places are as wide as elements so that one mask serves both.
    const auto old = hn::LoadU(d, best + i);
    const auto taken = hn::Or(hn::Gt(value, old), hn::IsNaN(value));
    hn::StoreU(hn::IfThenElse(taken, value, old), d, best + i);
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, taken), here, hn::LoadU(di, place + i)), di, place + i);
    here = hn::Add(here, next);
  }
  return i;
}

template <class T>
HWY_INLINE void max_row(const T* in, int64_t step, int64_t n, int64_t at, int64_t at_step, T* best, PlaceOf<T>* place) {
  int64_t i = 0;
  if (step == 1) i = max_vectors<1>(in, n, at, at_step, best, place);
  if (step == 2) i = max_vectors<2>(in, n, at, at_step, best, place);
  for (; i < n; ++i) take(in[i * step], at + i * at_step, best + i, place + i);
}

// One row of the input against one row of outputs with a single lane. `at` is the place of the row's element 0.
template <class T>
HWY_INLINE void max_line(const MaxPart& part, const T* in, int64_t at, T* best, PlaceOf<T>* place) {
  const PoolAxis& x = (*part.window)[2];
  const bool plane = part.meaning == Place::kPlane;
  // Element k of all windows at once, for the outputs whose element k lies inside (PoolAxis::from and to).
  if (x.kernel > 0) {
    for (int64_t k = 0; k < x.kernel; ++k) {
      const int64_t o = x.from[k];
      const int64_t first = o * x.stride - x.padding + k * x.dilation;
      max_row(in + first * part.in.pixel, x.stride * part.in.pixel, x.to[k] - o, at + (plane ? first : k),
              plane ? x.stride : 0, best + o, place + o);
    }
    return;
  }
  // Adaptive windows differ in size, so they are walked one by one.
  for (int64_t o = 0; o < x.out; ++o) {
    for (int64_t j = 0; j < x.count[o]; ++j) {
      const int64_t position = x.first[o] + j;
      take(in[position * part.in.pixel], at + position, best + o, place + o);
    }
  }
}

template <class T>
HWY_INLINE void start_line(const MaxPart& part, int64_t at, T* best, PlaceOf<T>* place) {
  // A window of -inf only takes no element, but it has a place all the same: that of its first one inside.
  const PoolAxis& x = (*part.window)[2];
  for (int64_t o = 0; o < x.out; ++o) {
    best[o] = -std::numeric_limits<T>::infinity();
    place[o] = static_cast<PlaceOf<T>>(at + (part.meaning == Place::kPlane ? x.first[o] : x.skip[o]));
  }
}

/// Where the rows of one output's window lie.
struct WindowRows {
  const MaxPart& part;
  int64_t oz, oy;

  int64_t place(int64_t j, int64_t i) const {
    const auto& [z, y, x] = *part.window;
    // Elements of the window are counted with those in the padding, so that a place says where in the window it lies.
    if (part.meaning == Place::kWindow) return ((z.skip[oz] + j) * y.kernel + y.skip[oy] + i) * x.kernel;
    return ((z.first[oz] + j * z.dilation) * y.in + y.first[oy] + i * y.dilation) * x.in;
  }
  template <class F>
  HWY_INLINE void each(F&& body) const {
    const auto& [z, y, x] = *part.window;
    for (int64_t j = 0; j < z.count[oz]; ++j) {
      const int64_t slice = (z.first[oz] + j * z.dilation) * part.in.slice;
      for (int64_t i = 0; i < y.count[oy]; ++i) {
        body(slice + (y.first[oy] + i * y.dilation) * part.in.row, place(j, i));
      }
    }
  }
};

/// From one element of a window to the next: distances in the memory of a plane, and between places.
struct Steps {
  Steps(const PoolWindow& window, const PlaneView& view, Place meaning)
      : slice(window[0].dilation * view.slice),
        row(window[1].dilation * view.row),
        pixel(window[2].dilation * view.pixel) {
    const auto& [z, y, x] = window;
    const bool plane = meaning == Place::kPlane;
    place_slice = plane ? z.dilation * y.in * x.in : y.kernel * x.kernel;
    place_row = plane ? y.dilation * x.in : x.kernel;
    place_pixel = plane ? x.dilation : 1;
  }
  int64_t slice, row, pixel, place_slice, place_row, place_pixel;
};

/// The part of one output's window that lies inside the plane.
struct Box {
  int64_t z, y, x;  ///< elements along each axis
  int64_t place;    ///< of the first one
};

HWY_INLINE Box box_at(const PoolWindow& window, int64_t oz, int64_t oy, int64_t o, Place meaning) {
  const auto& [z, y, x] = window;
  const bool plane = meaning == Place::kPlane;
  return {z.count[oz], y.count[oy], x.count[o],
          plane ? (z.first[oz] * y.in + y.first[oy]) * x.in + x.first[o]
                : (z.skip[oz] * y.kernel + y.skip[oy]) * x.kernel + x.skip[o]};
}

HWY_INLINE int64_t offset_at(const PoolWindow& window, const PlaneView& view, int64_t oz, int64_t oy, int64_t o) {
  return window[0].first[oz] * view.slice + window[1].first[oy] * view.row + window[2].first[o] * view.pixel;
}

/// The elements of a box at `data`, in order: body(element, place).
template <class T, class F>
HWY_INLINE void each_element(const Box& box, const Steps& steps, T* data, F&& body) {
  for (int64_t j = 0; j < box.z; ++j) {
    for (int64_t i = 0; i < box.y; ++i) {
      T* at = data + j * steps.slice + i * steps.row;
      int64_t place = box.place + j * steps.place_slice + i * steps.place_row;
      for (int64_t k = 0; k < box.x; ++k, at += steps.pixel, place += steps.place_pixel) body(at, place);
    }
  }
}

/// All lanes: body(vector tag, first lane), as few as possible.
// A bundle at the end of the channels may have any number of lanes: whole vectors first, then narrower ones.
template <class T, class F>
HWY_INLINE void each_vector(int64_t lanes, F&& body) {
  int64_t l = 0;
  const auto run = [&](auto d) HWY_ATTR {
    const auto size = static_cast<int64_t>(hn::Lanes(d));
    for (; l + size <= lanes; l += size) body(d, l);
  };
  run(hn::ScalableTag<T>());
  if (l == lanes) return;
  run(hn::CappedTag<T, 8>());
  run(hn::CappedTag<T, 4>());
  run(hn::CappedTag<T, 1>());
}

/// The maximum of one output, and where it is: in registers while the window goes by.
template <class D, class T = hn::TFromD<D>>
struct Most {
  hn::VFromD<D> value;
  hn::VFromD<hn::RebindToSigned<D>> place;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE Most<D> find_most(D d, const Box& box, const Steps& steps, const T* in) {
  const hn::RebindToSigned<D> di;
  Most<D> most{hn::Set(d, -std::numeric_limits<T>::infinity()), hn::Set(di, static_cast<PlaceOf<T>>(box.place))};
  // Value and place stay in registers for the whole window: nothing is stored before it is decided.
  each_element(box, steps, in, [&](const T* at, int64_t place) HWY_ATTR {
    const auto value = hn::LoadU(d, at);
    const auto taken = hn::Or(hn::Gt(value, most.value), hn::IsNaN(value));
    most.value = hn::IfThenElse(taken, value, most.value);
    most.place = hn::IfThenElse(hn::RebindMask(di, taken), hn::Set(di, static_cast<PlaceOf<T>>(place)), most.place);
  });
  return most;
}

template <class T>
HWY_INLINE void max_lane_rows(const MaxPart& part, const Steps& steps, int64_t oz, int64_t oy, T* best,
                              PlaceOf<T>* place) {
  const PoolWindow& window = *part.window;
  const T* in = static_cast<const T*>(part.in.data);
  for (int64_t o = 0; o < window[2].out; ++o, best += part.best.pixel, place += part.lanes) {
    const Box box = box_at(window, oz, oy, o, part.meaning);
    const T* first = in + offset_at(window, part.in, oz, oy, o);
    each_vector<T>(part.lanes, [&](auto d, int64_t l) HWY_ATTR {
      const auto most = find_most(d, box, steps, first + l);
      hn::StoreU(most.value, d, best + l);
      hn::StoreU(most.place, hn::RebindToSigned<decltype(d)>(), place + l);
    });
  }
}

template <class T>
void max_part(const MaxPart& part) {
  const auto& [z, y, x] = *part.window;
  const Steps steps(*part.window, part.in, part.meaning);
  for (int64_t oz = 0; oz < z.out; ++oz) {
    for (int64_t oy = 0; oy < y.out; ++oy) {
      T* best = static_cast<T*>(part.best.data) + oz * part.best.slice + oy * part.best.row;
      auto* place = static_cast<PlaceOf<T>*>(part.place) + (oz * y.out + oy) * x.out * part.lanes;
      // The last of many lanes may be alone; its outputs do not lie side by side.
      if (part.lanes > 1 || part.best.pixel != 1) {
        max_lane_rows(part, steps, oz, oy, best, place);
        continue;
      }
      const WindowRows rows{part, oz, oy};
      start_line(part, rows.place(0, 0), best, place);
      rows.each([&](int64_t row, int64_t at)
                    HWY_ATTR { max_line(part, static_cast<const T*>(part.in.data) + row, at, best, place); });
    }
  }
}

// The gradient of one output goes to where its maximum is, zeros to the rest of its window; with kAdd to what other
// windows have left there.
template <bool kAdd, class D, class T = hn::TFromD<D>>
HWY_INLINE void spread(D d, const Box& box, const Steps& steps, hn::VFromD<D> value,
                       hn::VFromD<hn::RebindToSigned<D>> where, T* grad) {
  const hn::RebindToSigned<D> di;
  each_element(box, steps, grad, [&](T* at, int64_t place) HWY_ATTR {
    const auto mine = hn::RebindMask(d, hn::Eq(where, hn::Set(di, static_cast<PlaceOf<T>>(place))));
    const auto share = hn::IfThenElseZero(mine, value);
    if constexpr (kAdd)
      hn::StoreU(hn::Add(hn::LoadU(d, at), share), d, at);
    else
      hn::StoreU(share, d, at);
  });
}

template <bool kAdd, class T>
void grad_part(const MaxGradPart& part) {
  const PoolWindow& window = *part.window;
  // Places are found anew in the plane and compared with those of the elements: no index is read from memory, so none
  // can lie outside.
  const auto& [z, y, x] = window;
  const Steps in_steps(window, part.in, Place::kPlane), grad_steps(window, part.grad, Place::kPlane);
  for (int64_t oz = 0; oz < z.out; ++oz) {
    for (int64_t oy = 0; oy < y.out; ++oy) {
      const T* out = static_cast<const T*>(part.out.data) + oz * part.out.slice + oy * part.out.row;
      for (int64_t o = 0; o < x.out; ++o, out += part.out.pixel) {
        const Box box = box_at(window, oz, oy, o, Place::kPlane);
        const T* in = static_cast<const T*>(part.in.data) + offset_at(window, part.in, oz, oy, o);
        T* grad = static_cast<T*>(part.grad.data) + offset_at(window, part.grad, oz, oy, o);
        each_vector<T>(part.lanes, [&](auto d, int64_t l) HWY_ATTR {
          // A window's own maximum is found again by the same rule, so the first of equal elements gets the gradient
          // here too.
          const auto most = find_most(d, box, in_steps, in + l);
          spread<kAdd>(d, box, grad_steps, hn::LoadU(d, out + l), most.place, grad + l);
        });
      }
    }
  }
}

// Windows that do not meet write each element once.
bool windows_meet(const PoolWindow& window) {
  for (const PoolAxis& axis : window)
    if (axis.out > 1 && axis.stride < axis.dilation * (axis.kernel - 1) + 1) return true;
  return false;
}

// Windows that meet add up, in the order of the outputs; others store, which saves reading the gradient.
template <class T>
void max_grad(const MaxGradPart& part) {
  windows_meet(*part.window) ? grad_part<true, T>(part) : grad_part<false, T>(part);
}

MaxGradKernel max_grad_kernel_for(DType slot) { return slot == DType::kDouble ? &max_grad<double> : &max_grad<float>; }

MaxKernel max_kernel_for(DType slot) { return slot == DType::kDouble ? &max_part<double> : &max_part<float>; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(max_kernel_for);
HWY_EXPORT(max_grad_kernel_for);
MaxGradKernel max_grad_kernel(DType slot) { return HWY_DYNAMIC_DISPATCH(max_grad_kernel_for)(slot); }
MaxKernel max_kernel(DType slot) { return HWY_DYNAMIC_DISPATCH(max_kernel_for)(slot); }
}  // namespace npu::ops
#endif
