// SPDX-License-Identifier: Apache-2.0
// All the house knows of oneDNN. Every call computes in the calling thread only. The version of oneDNN shows in
// onednn.cpp and nowhere else.
#pragma once

#include "ops/cube/gemm.h"

namespace npu::ops::cube {

/// gemm_serial for float by dnnl_sgemm: level with the frameworks' own libraries on every shape, which oneDNN's matmul
/// primitive is not. k > 0.
void onednn_sgemm(const GemmArgs<float>& args);

}  // namespace npu::ops::cube
