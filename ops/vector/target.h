// SPDX-License-Identifier: Apache-2.0
// Which instruction sets kernels are built for: AVX-512, AVX2 and the baseline of the machine (on ARM: NEON). Include
// this before hwy/foreach_target.h in every kernel file.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | HWY_AVX3_DL)
