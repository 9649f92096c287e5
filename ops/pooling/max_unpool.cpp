// SPDX-License-Identifier: Apache-2.0
// The partial inverse of max pooling: each value goes where its index says, zeros everywhere else.
#include "ops/operator.h"
#include "ops/pooling/place.h"

namespace npu::ops {
namespace {

struct MaxUnpool final : Operator {
  Tensor self, indices, out;
  std::vector<int64_t> output_size;
  int64_t spatial = 2;
  Planes values, places, planes;
  DType slot = DType::kFloat;

  void prepare() override {
    const auto axes = static_cast<size_t>(spatial);
    slot = pool_slot("self", self);
    require(self.rank() == axes + 1 || self.rank() == axes + 2, "self is {}: unpooling takes {} or {} dimensions", self,
            axes + 1, axes + 2);
    require(output_size.size() == axes, "output_size has {} numbers; give {}", output_size.size(), axes);
    Dims expected = self.shape;
    for (size_t i = 0; i < axes; ++i) expected[self.rank() - axes + i] = output_size[i];
    require(out.shape == expected, "out is {}, expected shape {}", out, expected);
    const int64_t lanes = plane_lanes(out, axes);
    // Flat on all sides: indices count the elements of a plane.
    values = Planes(self, axes, slot, lanes, true);
    places = index_planes(indices, self, axes, slot, lanes);
    planes = Planes(out, axes, slot, lanes, true);
  }
  void run() override {
    const int64_t values_at = planes.buffer_bytes(), places_at = values_at + values.buffer_bytes();
    for_planes(planes, places_at + places.buffer_bytes(), [&](int64_t part, std::byte* buffer) {
      const PlaneView to = planes.target(part, buffer);
      const PlaneView from = values.load(part, buffer + values_at);
      places.load(part, buffer + places_at);
      slot == DType::kDouble ? put<double>(part, from, to, buffer + places_at)
                             : put<float>(part, from, to, buffer + places_at);
      planes.store(part, buffer);
    });
  }
  int64_t cost() const override { return 500 + 3 * planes.parts() * planes.plane(); }

 private:
  // An index that lies nowhere in the plane is passed over: the client's memory may hold anything.
  template <class T>
  void put(int64_t part, const PlaneView& from, const PlaneView& to, const void* place_raw) const {
    const int64_t lanes = planes.lanes(part), size = planes.plane();
    const auto* place = static_cast<const PlaceOf<T>*>(place_raw);
    // First all zeros: an index names few of the places.
    for (int64_t i = 0; i < size; ++i) std::fill_n(static_cast<T*>(to.data) + i * to.pixel, lanes, T(0));
    for (int64_t i = 0; i < values.plane(); ++i) {
      for (int64_t l = 0; l < lanes; ++l) {
        const int64_t at = place[i * lanes + l];
        if (at < 0 || at >= size) continue;
        // In order: of several values for one place the last one stays.
        static_cast<T*>(to.data)[at * to.pixel + l] = static_cast<const T*>(from.data)[i * from.pixel + l];
      }
    }
  }
};

NPU_OPERATOR(MaxUnpool, "max_unpool", "pooling", in<&MaxUnpool::self>("self"), in<&MaxUnpool::indices>("indices"),
             attr<&MaxUnpool::output_size>("output_size"), attr<&MaxUnpool::spatial>("spatial"),
             out<&MaxUnpool::out>("out"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
