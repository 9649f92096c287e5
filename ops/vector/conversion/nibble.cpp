// SPDX-License-Identifier: Apache-2.0
// Neighbours are read a vector of bytes at a time: the lower halves make one vector of floats and the upper halves
// another, and storing interleaves both. (bits ^ 8) - 8 extends the sign of 4 bits.
#include "ops/vector/conversion/nibble.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/conversion/nibble.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE float nibble_at(const uint8_t* data, int64_t index) {
  const unsigned bits = data[index >> 1] >> (index & 1) * 4 & 15u;
  return static_cast<float>(static_cast<int>(bits ^ 8u) - 8);
}

HWY_INLINE auto nibbles_as_floats(hn::VFromD<hn::ScalableTag<int32_t>> bits) {
  const hn::ScalableTag<int32_t> d;
  const auto eight = hn::Set(d, 8);
  return hn::ConvertTo(hn::ScalableTag<float>(), hn::Sub(hn::Xor(bits, eight), eight));
}

void read_nibble_line(const uint8_t* data, int64_t first, int64_t stride, float* to, int64_t count) {
  int64_t i = 0;
  if (stride == 1) {
    if ((first & 1) != 0 && count > 0) to[i++] = nibble_at(data, first);  // what follows begins at a byte
    const hn::ScalableTag<float> floats;
    const hn::RebindToSigned<decltype(floats)> words;
    const hn::Rebind<uint8_t, decltype(floats)> bytes;
    const auto pairs = static_cast<int64_t>(hn::Lanes(floats));
    for (; i + 2 * pairs <= count; i += 2 * pairs) {
      const auto both = hn::PromoteTo(words, hn::LoadU(bytes, data + ((first + i) >> 1)));
      hn::StoreInterleaved2(nibbles_as_floats(hn::And(both, hn::Set(words, 15))),
                            nibbles_as_floats(hn::ShiftRight<4>(both)), floats, to + i);
    }
  }
  for (; i < count; ++i) to[i] = nibble_at(data, first + i * stride);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(read_nibble_line);

void read_nibbles(const void* data, int64_t first, int64_t stride, float* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(read_nibble_line)(static_cast<const uint8_t*>(data), first, stride, to, count);
}

}  // namespace npu::ops
#endif
