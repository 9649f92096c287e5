// SPDX-License-Identifier: Apache-2.0
// Instructions that Highway has no words for: each function is compiled for its own and called where the CPU has it.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/machine_limit/limit.h"

namespace npu::limit {
namespace {

constexpr int kSums = 12;

// Nothing is known of the sums before and after, so the instructions between must run, and equal ones apart.
template <class V>
inline void opaque(V& value) {
  asm volatile("" : "+v"(value));
}

__attribute__((target("avx512f,avx512bf16"))) double bf16_dot(int64_t rounds) {
  __m512 sum[kSums] = {};
  __m512bh x = {};
  opaque(x);
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = _mm512_dpbf16_ps(s, x, x);
  }
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  return 64.0 * kSums * static_cast<double>(rounds);
}

__attribute__((target("avx512f,avx512fp16"))) double fp16_multiply_add(int64_t rounds) {
  __m512h sum[kSums] = {};
  __m512h x = {};
  opaque(x);
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = _mm512_fmadd_ph(s, x, x);
  }
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  return 64.0 * kSums * static_cast<double>(rounds);
}

__attribute__((target("avx512f,avx512vnni"))) double int8_dot(int64_t rounds) {
  __m512i sum[kSums] = {};
  __m512i x = {};
  opaque(x);
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = _mm512_dpbusd_epi32(s, x, x);
  }
#pragma GCC unroll 12
  for (auto& s : sum) opaque(s);
  return 128.0 * kSums * static_cast<double>(rounds);
}

// The layout of a tile configuration: eight tiles of 16 rows of 64 bytes.
struct alignas(64) Tiles {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile"))) void clear_tiles() {
  const Tiles tiles;
  _tile_loadconfig(&tiles);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

__attribute__((target("amx-tile,amx-bf16"))) double bf16_tiles(int64_t rounds) {
  clear_tiles();
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
  return 4.0 * 16 * 16 * 32 * 2 * static_cast<double>(rounds);
}

__attribute__((target("amx-tile,amx-int8"))) double int8_tiles(int64_t rounds) {
  clear_tiles();
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbusd(0, 4, 5);
    _tile_dpbusd(1, 4, 5);
    _tile_dpbusd(2, 4, 5);
    _tile_dpbusd(3, 4, 5);
  }
  _tile_release();
  return 4.0 * 16 * 16 * 64 * 2 * static_cast<double>(rounds);
}

// Linux gives the tiles' registers to a process that asks for them, before its threads start.
bool tiles_allowed() {
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

std::vector<ArithmeticCase> dot_arithmetic() {
  std::vector<ArithmeticCase> found;
  if (__builtin_cpu_supports("avx512bf16")) found.push_back({"bf16 dot", &bf16_dot});
  if (__builtin_cpu_supports("avx512fp16")) found.push_back({"fp16", &fp16_multiply_add});
  if (__builtin_cpu_supports("avx512vnni")) found.push_back({"int8 dot", &int8_dot});
  if (!__builtin_cpu_supports("amx-tile") || !tiles_allowed()) return found;
  if (__builtin_cpu_supports("amx-bf16")) found.push_back({"bf16 tiles", &bf16_tiles});
  if (__builtin_cpu_supports("amx-int8")) found.push_back({"int8 tiles", &int8_tiles});
  return found;
}

}  // namespace npu::limit
