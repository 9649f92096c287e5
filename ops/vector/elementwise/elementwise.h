// SPDX-License-Identifier: Apache-2.0
// The element-wise loop: any strides, any dtypes, one kernel per compute dtype.
//
// Kernels see contiguous blocks of slot elements. An operand that already is such a block is passed as it is; others
// are gathered and converted into a buffer in the first-level cache, and results are converted out of one.
#pragma once

#include <cstdint>

#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// Computes `count` elements: `out[i] = f(in[0][i], in[1][i], …)`. `out` may be one of the inputs, never a shifted one.
using BlockKernel = void (*)(const void* const* in, void* out, int64_t count);

class Elementwise {
 public:
  /// Starts a plan that writes `out`, computed in `slot`.
  void set_output(const Tensor& out, DType slot);
  /// Adds the next input, broadcast to the output's shape, converted to `slot`. Raises 161002 if it does not broadcast.
  /// `through`, when given, is float16 or bfloat16 under a float32 slot: wider elements are rounded to it first.
  void add_input(const Operand& operand, DType slot, DType through = DType::kUndefined);
  /// Ends planning.
  void plan(BlockKernel kernel);
  /// After planning: operand `k` (0 is the output) begins elsewhere. `meet` follows when all have been told.
  void move(size_t k, void* data) { slots_[k].tensor.data = data; }
  void meet();

  void run() const;
  /// Computes without writing and adds the results up, in double and in an order that depends on sizes only. The
  /// output's memory is not touched; its slot must be float32 or float64.
  double sum() const;
  int64_t cost() const { return 100 + count_ * static_cast<int64_t>(inputs_ + 1); }

 private:
  enum class Mode : uint8_t {
    kDirect,    ///< a block is read, or written, where it lies
    kConstant,  ///< one element for all positions
    kGathered,  ///< blocks are put together and converted in a buffer
  };
  struct Slot {
    Tensor tensor;
    Convert convert;
    DType slot;
    int64_t slot_size;
    Mode mode;
    alignas(16) std::byte constant[16];  ///< value of a host scalar, in slot dtype
    bool is_scalar = false;
    bool dense_as_slot = false;  ///< elements side by side are what the kernel wants
  };

  class Blocks;
  struct Tile {
    int64_t row, rows, column, columns;
  };

  void run_range(int64_t begin, int64_t end) const;
  void run_rows(const Loop& rows, int64_t begin, int64_t end) const;
  void run_piece(std::byte* const* at, const int64_t* step, int64_t count, Blocks& blocks) const;
  void fill_constants(int64_t count, Blocks& blocks) const;
  void find_turned();
  bool is_turned(size_t k) const { return (turned_ >> k & 1) != 0; }
  void run_tiles() const;
  void run_tile(const LoopCursor& plane, const Tile& tile, std::byte* room, Blocks& blocks) const;
  void set_constant(Slot& s, const Scalar& scalar, DType through) const;
  bool has(Mode mode) const;
  int64_t part() const;
  double sum_range(int64_t begin, int64_t end) const;
  template <class F>
  void each_block(int64_t begin, int64_t end, F&& body) const;
  bool overlaps_output(const Tensor& tensor) const;

  Slot slots_[kMaxOperands];  ///< 0 is the output
  size_t inputs_ = 0;
  Loop loop_;
  int64_t count_ = 0;
  int64_t block_ = 0;
  bool by_rows_ = false;  ///< the innermost axis is long, and no operand is dense beyond it: blocks end with it
  size_t turned_axis_ = 0;
  uint32_t turned_ = 0;  ///< bit k: input k is stored along turned_axis_, and transposed tile by tile
  BlockKernel kernel_ = nullptr;
  bool copy_inputs_[kMaxOperands] = {};
};

}  // namespace npu::ops
