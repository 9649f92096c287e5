// SPDX-License-Identifier: Apache-2.0
// Tensors written as files of their own.
#pragma once

#include <string>

#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// As NumPy reads it. Types that NumPy has not become wider: bfloat16 float32, float8 float64, packed ones a byte each.
void write_npy(const std::string& path, const View& view);
/// As torch.load(weights_only=True) reads it. Types without a storage in torch become wider: uint16 int32, uint32
/// int64, float8 and smaller ones float32. Raises a Refusal for uint64, and for more than 4 GiB.
void write_pt(const std::string& path, const View& view);
/// The elements alone, as they are.
void write_bin(const std::string& path, const View& view);

}  // namespace npu::compare
