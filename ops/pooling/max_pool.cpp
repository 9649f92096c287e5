// SPDX-License-Identifier: Apache-2.0
// Max pooling in 2-D and 3-D, with the places of the maxima as positions or as an opaque mask; adaptive max pooling.
// Adaptive windows differ from fixed ones in their tables only, so one frame serves both.
#include "ops/pooling/fixed_windows.h"
#include "ops/pooling/place.h"

namespace npu::ops {
namespace {

template <class Windows>
struct MaxPlan : Windows {
  Tensor out, indices;
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
  void plan(Place what) {
    const Tensor& self = this->self;
    const size_t spatial = this->axes();
    meaning = what;
    slot = pool_slot("self", self);
    window = this->windows();
    check_pooled("out", out, self, spatial, window);
    const int64_t lanes = plane_lanes(self, spatial);
    in = Planes(self, spatial, slot, lanes, false);
    // Flat: a kernel without lanes fills rows of outputs as if they were one after another.
    best = Planes(out, spatial, slot, lanes, true);
    // Places have the elements' width: planes that 32 bits cannot number are refused.
    check_places(self, in, slot);
    places = what == Place::kPlane ? index_planes(indices, out, spatial, slot, lanes)
                                   : mask_planes(indices, out, spatial, slot, lanes, window);
  }

 private:
  Place meaning = Place::kPlane;
};

template <Place kMeaning>
struct MaxPool final : MaxPlan<FixedWindows> {
  void prepare() override { plan(kMeaning); }
};

struct AdaptiveWindows : Operator {
  Tensor self;
  std::vector<int64_t> output_size;
  int64_t spatial = 2;

  size_t axes() const { return static_cast<size_t>(spatial); }
  PoolWindow windows() const { return adaptive_window(self, axes(), output_size); }
};

struct AdaptiveMaxPool final : MaxPlan<AdaptiveWindows> {
  void prepare() override { plan(Place::kPlane); }
};

template <class Op>
std::vector<Field> fixed_fields() {
  return with_windows({out<&Op::out>("out"), out<&Op::indices>("indices")});
}

using MaxPoolIndices = MaxPool<Place::kPlane>;
using MaxPoolMask = MaxPool<Place::kWindow>;

const Registration register_indices =
    Registration("max_pool_indices", "pooling", fixed_fields<MaxPoolIndices>(), &make<MaxPoolIndices>).is(kMovesBits);
const Registration register_mask =
    Registration("max_pool_mask", "pooling", fixed_fields<MaxPoolMask>(), &make<MaxPoolMask>).is(kMovesBits);
NPU_OPERATOR(AdaptiveMaxPool, "adaptive_max_pool", "pooling", in<&AdaptiveMaxPool::self>("self"),
             attr<&AdaptiveMaxPool::output_size>("output_size"), attr<&AdaptiveMaxPool::spatial>("spatial"),
             out<&AdaptiveMaxPool::out>("out"), out<&AdaptiveMaxPool::indices>("indices"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
