// SPDX-License-Identifier: Apache-2.0
#include "ops/pooling/place.h"

namespace npu::ops {
namespace {

// Masks of bytes become int32: neither is a slot, so no converter does it.
template <class From, class To>
void copy_places(const void* from_raw, int64_t from_step, void* to_raw, int64_t to_step, int64_t count) {
  const auto* from = static_cast<const From*>(from_raw);
  auto* to = static_cast<To*>(to_raw);
  for (int64_t i = 0; i < count; ++i) to[i * to_step] = static_cast<To>(from[i * from_step]);
}

template <class Stored>
Planes planes_of(const Tensor& t, size_t spatial, DType slot, int64_t lanes) {
  if (slot == DType::kDouble) {
    return {t, spatial, DType::kInt64, lanes, &copy_places<Stored, int64_t>, &copy_places<int64_t, Stored>};
  }
  return {t, spatial, DType::kInt32, lanes, &copy_places<Stored, int32_t>, &copy_places<int32_t, Stored>};
}

}  // namespace

void check_places(const Tensor& self, const Planes& in, DType slot) {
  require(slot == DType::kDouble || in.plane() < INT32_MAX, "self is {}: planes of 2^31 elements cannot be pooled",
          self);
}

Planes index_planes(const Tensor& indices, const Tensor& out, size_t spatial, DType slot, int64_t lanes) {
  require(indices.shape == out.shape, "indices is {}, the pooled tensor {}: the shapes must be equal", indices, out);
  require(indices.dtype == DType::kInt32 || indices.dtype == DType::kInt64, "indices is {}: it must be int32 or int64",
          indices);
  return indices.dtype == DType::kInt32 ? planes_of<int32_t>(indices, spatial, slot, lanes)
                                        : planes_of<int64_t>(indices, spatial, slot, lanes);
}

Planes mask_planes(const Tensor& mask, const Tensor& out, size_t spatial, DType slot, int64_t lanes,
                   const PoolWindow& window) {
  // The number of an element of the window fits a byte up to 256 elements. The mask's own dtype and shape mean nothing:
  // it is memory that the client hands back.
  const bool bytes = window[0].kernel * window[1].kernel * window[2].kernel <= 256;
  Tensor places = make_tensor(mask.bytes(), bytes ? DType::kUInt8 : DType::kInt32, out.shape);
  const int64_t needed = bytes_of(places);
  require(mask.contiguous(), "the mask is {} with gaps; pass a contiguous tensor", mask);
  require(bytes_of(mask) >= needed, "the mask is {}: {} bytes are needed for {} outputs", mask, needed, out.count());
  return bytes ? planes_of<uint8_t>(places, spatial, slot, lanes) : planes_of<int32_t>(places, spatial, slot, lanes);
}

}  // namespace npu::ops
