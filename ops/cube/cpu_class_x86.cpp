// SPDX-License-Identifier: Apache-2.0
#include <cpuid.h>

#include "ops/cube/cpu_class.h"

namespace npu::ops::cube {
namespace {

// As cpuid counts them: the base family, and above 15 the extended one on top.
unsigned family() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return 0;
  const unsigned base = eax >> 8 & 0xf;
  return base == 0xf ? base + (eax >> 20 & 0xff) : base;
}

CpuClass find_class() {
  // Zen 3 has the family of Zen 4, without AVX-512.
  if (!__builtin_cpu_is("amd") || !__builtin_cpu_supports("avx512f")) return CpuClass::kOther;
  return family() <= 0x19 ? CpuClass::kZen4 : CpuClass::kZen5;
}

}  // namespace

CpuClass cpu_class() {
  static const CpuClass found = find_class();
  return found;
}

}  // namespace npu::ops::cube
