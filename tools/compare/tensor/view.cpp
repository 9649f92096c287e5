// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/view.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace npu::compare {
namespace {

template <size_t Size>
void gather(const Layout& layout, Bytes from, uint64_t first, size_t n, std::byte* to) {
  layout.walk(first, n, [&](const uint64_t* offsets, uint64_t base, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i, to += Size) std::memcpy(to, from.data() + (base + offsets[i]) * Size, Size);
  });
}

template <class To>
void read_as(const View& view, uint64_t first, size_t n, To* to) {
  if (!view.layout) return decode(*view.type, view.bytes, first, n, to);
  if (view.type->bits % 8 != 0)
    return view.layout->walk(first, n, [&](const uint64_t* offsets, uint64_t base, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) decode(*view.type, view.bytes, base + offsets[i], 1, to++);
    });
  constexpr size_t kPart = 512;
  alignas(16) std::array<std::byte, kPart * 16> raw;
  for (size_t done = 0; done < n; done += kPart) {
    const size_t part = std::min(kPart, n - done);
    view.read_raw(first + done, part, raw.data());
    decode(*view.type, raw, 0, part, to + done);
  }
}

}  // namespace

void View::read_raw(uint64_t first, size_t n, std::byte* to) const {
  const size_t size = static_cast<size_t>(type->bits) / 8;
  if (!layout) {
    if (n > 0) std::memcpy(to, bytes.data() + first * size, n * size);
    return;
  }
  switch (size) {
    case 1: return gather<1>(*layout, bytes, first, n, to);
    case 2: return gather<2>(*layout, bytes, first, n, to);
    case 4: return gather<4>(*layout, bytes, first, n, to);
    case 8: return gather<8>(*layout, bytes, first, n, to);
    default: return gather<16>(*layout, bytes, first, n, to);
  }
}

void View::read(uint64_t first, size_t n, float* to) const { read_as(*this, first, n, to); }
void View::read(uint64_t first, size_t n, double* to) const { read_as(*this, first, n, to); }

}  // namespace npu::compare
