// SPDX-License-Identifier: Apache-2.0
// Moving elements between a tensor walked in order ("plain") and one addressed through index tensors ("indexed"): the
// engine of gather, scatter, index, embedding and their relatives.
//
// Both are views over one loop shape. The indexed view has stride 0 where an index decides; what the index tensors
// select, added up, is an offset per position of the index shape, which is laid over some axes of the loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// One index tensor: positions of [0, size), or [-size, size) when `negative`, each worth `stride` elements.
struct IndexAxis {
  Tensor index;
  int64_t size = 0;
  int64_t stride = 0;
  bool negative = false;
  std::string name = "index";  ///< for error texts
};

/// Offsets read from index tensors that broadcast to one shape.
class IndexOffsets {
 public:
  /// Raises 161002 when an index is no integer tensor or does not broadcast to `shape`.
  void plan(const Dims& shape, std::vector<IndexAxis> axes);
  /// Element offsets in row-major order of the shape. Values are on the device, so a bad one is found only here: raises
  /// Error naming the tensor, the position and the value before anything is written.
  std::vector<int64_t> read() const;
  const Dims& shape() const { return shape_; }

 private:
  int64_t add(const IndexAxis& axis, int64_t begin, int64_t end, int64_t* offsets) const;
  Dims shape_;
  std::vector<IndexAxis> axes_;
};

enum class IndexedMode : uint8_t {
  kGather,  ///< plain = indexed
  kPut,     ///< indexed = plain; of several writes to one place the last in row-major order stays
  kAdd,     ///< indexed += plain, in row-major order
  kMultiply,
  kDivide,  ///< whole numbers are cut; by zero they give 0
  kMaximum,
  kMinimum,
};

class IndexedMove {
 public:
  /// `plain` and `indexed` have the loop's shape; `offset_axis` is the loop axis where the offsets' shape begins.
  /// For kPut and kGather both have one dtype; for the others plain is converted to indexed's, which must not be a
  /// half.
  void plan(IndexedMode mode, const Tensor& plain, const Tensor& indexed, const Dims& offset_shape, size_t offset_axis);
  /// Multiplies plain by `alpha` on its way (kAdd only).
  void scale(const Scalar& alpha);
  /// `offsets`: from IndexOffsets::read. `indexed_base`: the indexed tensor's first element, if it moved after plan.
  void run(const std::vector<int64_t>& offsets, std::byte* indexed_base = nullptr) const;
  int64_t cost() const { return 200 + 3 * loop_.count(); }

  /// Moves or combines one run of positions.
  struct Run {
    std::byte* indexed;
    int64_t indexed_stride;
    const int64_t* offsets;
    int64_t offset_stride;
    std::byte* plain;
    int64_t plain_stride;
    int64_t count;
  };
  using Kernel = void (*)(const Run& run);

 private:
  void run_part(const Loop& loop, std::byte* plain, std::byte* indexed, const int64_t* offsets, int64_t begin,
                int64_t end) const;
  size_t split_axis() const;

  IndexedMode mode_ = IndexedMode::kGather;
  Tensor plain_, indexed_;
  Loop loop_;  ///< operand 0: plain, 1: indexed, 2: offsets
  Kernel kernel_ = nullptr;
  Convert load_ = nullptr;  ///< plain into indexed's dtype; null when none is needed
  Scalar alpha_;
  void (*scale_)(void* block, int64_t count, const Scalar& alpha) = nullptr;
};

/// `self` as seen by a loop in which axis `axis` is replaced by `index_shape`: those axes have stride 0.
Tensor replace_axis(const Tensor& self, size_t axis, const Dims& index_shape);

}  // namespace npu::ops
