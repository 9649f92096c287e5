// SPDX-License-Identifier: Apache-2.0
// Written by tests/bench/choose.py, which measures; see choices.h.
#pragma once

#include "ops/cube/choice_row.h"

namespace npu::ops::cube {

// clang-format off
inline constexpr Choices kChoices[] = {
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, false, 0, "oooooooool"},
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, false, 512, "olloolllol"},
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, false, 2048, "lollllllol"},
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, true, 0, "oooooooool"},
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, true, 512, "olloololoo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kFloat, true, 2048, "lllolloooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, false, 0, "oooooooooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, false, 512, "oolooooooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, false, 2048, "lolllloooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, true, 0, "oooooooooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, true, 512, "oolooooooo"},
    {CpuClass::kZen4, Work::kConvForward, DType::kBFloat16, true, 2048, "lolloooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, false, 0, "ooooooolol"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, false, 512, "oloooooloo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, false, 2048, "lllloooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, true, 0, "lllooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, true, 512, "lloooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kFloat, true, 2048, "lllllooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, false, 0, "oooooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, false, 512, "oloooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, false, 2048, "lolooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, true, 0, "lllooooooo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, true, 512, "lllooooloo"},
    {CpuClass::kZen4, Work::kConvBackwardWeights, DType::kBFloat16, true, 2048, "lllllllllo"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, false, 0, "oooollllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, false, 16, "oollllllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, false, 64, "llllllolll"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, false, 256, "llllllllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, true, 0, "oooollllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, true, 16, "oollllllol"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, true, 64, "lllllooloo"},
    {CpuClass::kZen4, Work::kProduct, DType::kFloat, true, 256, "lllooooooo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, false, 0, "oooooooooo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, false, 16, "ooololoooo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, false, 64, "oolllooooo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, false, 256, "lllloooooo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, true, 0, "ooooolllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, true, 16, "ooolllllll"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, true, 64, "ollllooloo"},
    {CpuClass::kZen4, Work::kProduct, DType::kBFloat16, true, 256, "lllloooooo"},
};
// clang-format on

}  // namespace npu::ops::cube
