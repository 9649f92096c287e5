// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/view.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace npu::compare {
namespace {

constexpr uintptr_t kPage = 1 << 16;        // a multiple of any page
constexpr size_t kLarge = size_t{1} << 24;  // smaller tensors are gone soon anyway

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

void View::forget(uint64_t first, uint64_t n) const {
  if (!mapped || layout || bytes.size() < kLarge) return;
  const auto bits = static_cast<uint64_t>(type->bits);
  const auto base = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (base + first * bits / 8 + kPage - 1) / kPage * kPage;
  const uintptr_t end = (base + (first + n) * bits / 8) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void View::read(uint64_t first, size_t n, float* to) const { read_as(*this, first, n, to); }
void View::read(uint64_t first, size_t n, double* to) const { read_as(*this, first, n, to); }

}  // namespace npu::compare
