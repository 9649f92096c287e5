// SPDX-License-Identifier: Apache-2.0
// Max pooling in 2-D and 3-D, with the places of the maxima as positions or as an opaque mask; adaptive max pooling.
#include "ops/operator.h"
#include "ops/pooling/place.h"

namespace npu::ops {
namespace {

struct MaxPlan : Operator {
  Tensor self, out, indices;
  PoolWindow window;
  Planes in, best, places;
  DType slot = DType::kFloat;

  void run() override {
    const MaxKernel kernel = max_kernel(slot);
    const int64_t best_at = in.buffer_bytes(), place_at = best_at + best.buffer_bytes();
    for_planes(in, place_at + places.buffer_bytes(), [&](int64_t part, std::byte* buffer) {
      std::byte* place = buffer + place_at;
      kernel({&window, in.load(part, buffer), best.target(part, buffer + best_at), place, in.lanes(part), meaning});
      best.store(part, buffer + best_at);
      places.store(part, place);
    });
  }
  int64_t cost() const override { return 500 + in.parts() * in.plane() * 4; }

 protected:
  void plan(size_t spatial, Place what) {
    meaning = what;
    check_pooled("out", out, self, spatial, window);
    const int64_t lanes = plane_lanes(self, spatial);
    in = Planes(self, spatial, slot, lanes, false);
    best = Planes(out, spatial, slot, lanes, true);
    require(slot == DType::kDouble || in.plane() < INT32_MAX, "self is {}: planes of 2^31 elements cannot be pooled",
            self);
    places = what == Place::kPlane ? index_planes(indices, out, spatial, slot, lanes)
                                   : mask_planes(indices, out, spatial, slot, lanes, window);
  }

 private:
  Place meaning = Place::kPlane;
};

template <Place kMeaning>
struct MaxPool final : MaxPlan {
  std::vector<int64_t> kernel_size, stride, padding, dilation;
  bool ceil_mode = false;
  int64_t spatial = 2;

  void prepare() override {
    slot = pool_slot("self", self);
    const auto axes = static_cast<size_t>(spatial);
    window = fixed_window(self, axes, {kernel_size, stride, padding, dilation, ceil_mode});
    plan(axes, kMeaning);
  }
};

struct AdaptiveMaxPool final : MaxPlan {
  std::vector<int64_t> output_size;
  int64_t spatial = 2;

  void prepare() override {
    slot = pool_slot("self", self);
    const auto axes = static_cast<size_t>(spatial);
    window = adaptive_window(self, axes, output_size);
    plan(axes, Place::kPlane);
  }
};

using MaxPoolIndices = MaxPool<Place::kPlane>;
using MaxPoolMask = MaxPool<Place::kWindow>;

NPU_OPERATOR(MaxPoolIndices, "max_pool_indices", "pooling", in<&MaxPoolIndices::self>("self"),
             attr<&MaxPoolIndices::kernel_size>("kernel_size"), attr<&MaxPoolIndices::stride>("stride"),
             attr<&MaxPoolIndices::padding>("padding"), attr<&MaxPoolIndices::dilation>("dilation"),
             attr<&MaxPoolIndices::ceil_mode>("ceil_mode"), attr<&MaxPoolIndices::spatial>("spatial"),
             out<&MaxPoolIndices::out>("out"), out<&MaxPoolIndices::indices>("indices"));
NPU_OPERATOR(MaxPoolMask, "max_pool_mask", "pooling", in<&MaxPoolMask::self>("self"),
             attr<&MaxPoolMask::kernel_size>("kernel_size"), attr<&MaxPoolMask::stride>("stride"),
             attr<&MaxPoolMask::padding>("padding"), attr<&MaxPoolMask::dilation>("dilation"),
             attr<&MaxPoolMask::ceil_mode>("ceil_mode"), attr<&MaxPoolMask::spatial>("spatial"),
             out<&MaxPoolMask::out>("out"), out<&MaxPoolMask::indices>("indices"));
NPU_OPERATOR(AdaptiveMaxPool, "adaptive_max_pool", "pooling", in<&AdaptiveMaxPool::self>("self"),
             attr<&AdaptiveMaxPool::output_size>("output_size"), attr<&AdaptiveMaxPool::spatial>("spatial"),
             out<&AdaptiveMaxPool::out>("out"), out<&AdaptiveMaxPool::indices>("indices"));

}  // namespace
}  // namespace npu::ops
