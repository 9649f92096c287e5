// SPDX-License-Identifier: Apache-2.0
// All the house knows of oneDNN. Every call computes in the calling thread only. The version of oneDNN shows in
// onednn.cpp and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/cube/conv_shape.h"
#include "ops/cube/gemm.h"

namespace npu::ops::cube {

/// gemm_serial for float by dnnl_sgemm: level with the frameworks' own libraries on every shape, which oneDNN's matmul
/// primitive is not. k > 0.
void onednn_sgemm(const GemmArgs<float>& args);

enum class ConvPass : uint8_t { kForward, kBackwardData, kBackwardWeights };

/// One compiled convolution of dense channels-last images, one thread, usable from any number of threads at once.
class OnednnConv {
 public:
  /// From the process's table or compiled now (0.3 to 2 ms). Null when oneDNN has no fast kernel for it. `dtype` is
  /// that of images and weights, float32 or bfloat16; bias and weight gradients are float32.
  static std::shared_ptr<const OnednnConv> get(ConvPass pass, DType dtype, const ConvShape& shape, bool bias);

  virtual ~OnednnConv() = default;
  /// Bytes of the weights (or their gradient) in the kernel's own order.
  virtual size_t weight_bytes() const = 0;
  /// True when both kernels keep weights in the same order.
  virtual bool same_weights(const OnednnConv& other) const = 0;
  /// Dense row-major weights [o, c / groups, kernel…] into the kernel's order.
  virtual void pack_weights(const void* dense, void* packed) const = 0;
  /// The kernel's weight gradient (float32) into dense row-major order.
  virtual void unpack_gradient(const float* packed, float* dense) const = 0;
  /// forward: reads src, weights, bias; writes dst. Data gradient: reads dst, weights; writes src.
  /// Weight gradient: reads src and dst; writes weights.
  virtual void run(void* src, void* weights, const float* bias, void* dst) const = 0;
};

}  // namespace npu::ops::cube
