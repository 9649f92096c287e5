// SPDX-License-Identifier: Apache-2.0
// All the house knows of oneDNN. Every call computes in the calling thread only. The version of oneDNN shows in
// onednn.cpp and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/cube/conv_shape.h"
#include "ops/cube/gemm_args.h"

namespace npu::ops::cube {

/// gemm_serial for float by dnnl_sgemm: level with the frameworks' own libraries on every shape, which oneDNN's matmul
/// primitive is not. k > 0.
void onednn_sgemm(const GemmArgs<float>& args);

/// True when this CPU multiplies matrices of `dtype` (bfloat16 or float16) faster than float32 ones, so that widening
/// them would lose: matrix units, AMD's bfloat16 dot products, Intel's float16 arithmetic. ANYNPU_WIDEN turns it off.
bool computes_natively(DType dtype);

/// One compiled product C (dense) = op(A) op(B) of matrices with leading dimensions, one thread, usable from any number
/// of threads at once. Summed in float32, and rounded once where C is of another type.
class OnednnMatmul {
 public:
  struct Shape {
    DType dtype;
    bool trans_a, trans_b;
    int64_t m, n, k, lda, ldb;
    DType out = DType::kFloat;
    bool ordered = false;  ///< B lies in the kernel's own order, which order_right makes
    bool bias = false;     ///< n numbers of float32 are added to each row
    bool operator==(const Shape&) const = default;
  };
  /// From the process's table or compiled now. Null when oneDNN has no fast kernel for it.
  static std::shared_ptr<const OnednnMatmul> get(const Shape& shape);
  virtual ~OnednnMatmul() = default;
  virtual void run(const void* a, const void* b, void* c, const float* bias = nullptr) const = 0;
  /// Of kernels with `ordered`: the bytes of B in that order, the way there, and whether another one has the same.
  virtual size_t right_bytes() const = 0;
  virtual void order_right(const void* b, void* to) const = 0;
  virtual bool same_right(const OnednnMatmul& other) const = 0;
};

enum class ConvPass : uint8_t { kForward, kBackwardData, kBackwardWeights };

/// How the client's weights lie. The kernels' own order is blocked; one reorder leads from any of these to it.
enum class WeightOrder : uint8_t {
  kRows,         ///< [o, c / groups, kernel…]
  kInputsLast,   ///< [o, kernel…, c / groups]: channels-last weights
  kOutputsLast,  ///< [kernel…, c / groups, o]: TensorFlow's filters
};

struct WeightLayout {
  WeightOrder order = WeightOrder::kRows;
  int64_t outputs = 0, inputs = 0;  ///< of the whole tensor (inputs: of a group), which a kernel may see a slice of
  bool operator==(const WeightLayout&) const = default;
};

/// One compiled convolution of dense channels-last images, one thread, usable from any number of threads at once.
class OnednnConv {
 public:
  /// From the process's table or compiled now (0.3 to 2 ms). Null when oneDNN has no fast kernel for it. `dtype` is
  /// that of images and weights, float32 or bfloat16; bias and weight gradients are float32.
  static std::shared_ptr<const OnednnConv> get(ConvPass pass, DType dtype, const ConvShape& shape, bool bias,
                                               const WeightLayout& layout);

  virtual ~OnednnConv() = default;
  /// Bytes of the weights (or their gradient) in the kernel's own order.
  virtual size_t weight_bytes() const = 0;
  /// True when both kernels keep weights in the same order.
  virtual bool same_weights(const OnednnConv& other) const = 0;
  /// The client's weights into the kernel's order, on the thread pool.
  virtual void pack_weights(const void* weights, void* packed) const = 0;
  /// The kernel's weight gradient (float32) into the client's order, on the thread pool.
  virtual void unpack_gradient(const float* packed, float* weights) const = 0;
  /// forward: reads src, weights, bias; writes dst. Data gradient: reads dst, weights; writes src.
  /// Weight gradient: reads src and dst; writes weights.
  virtual void run(void* src, void* weights, const float* bias, void* dst) const = 0;
};

}  // namespace npu::ops::cube
