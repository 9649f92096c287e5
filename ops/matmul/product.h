// SPDX-License-Identifier: Apache-2.0
// The product behind every matmul operator: out = alpha * (a @ b) + beta * self on tensors of any strides and dtypes,
// batched over leading axes. Operators check their own shapes, bring their tensors into this form and keep a Product.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/scalar.h"
#include "base/tensor.h"
#include "ops/cube/few_rows.h"
#include "ops/cube/gemm.h"
#include "ops/cube/onednn.h"
#include "ops/kept.h"
#include "ops/matmul/kept_product.h"
#include "ops/vector/chain/chain.h"

namespace npu::ops {

class Product {
 public:
  /// To be told before plan: elements of `b` never change, so that what kernels make of it may be kept.
  void keep_right() { keeps_right_ = true; }
  /// Must precede plan: the caller will ask reads_blocks().
  void accept_blocks() { accepts_blocks_ = true; }
  /// Plans for a [batch…, m, k], b [batch…, k, n], self and out [batch…, m, n], batch axes already equal (strides may
  /// be 0). `self` may be undefined; beta == 0 leaves it unread. Raises 161002 for dtypes that have no product.
  void plan(const Tensor& a, const Tensor& b, const Tensor& self, const Tensor& out, const Scalar& alpha = 1,
            const Scalar& beta = 1);

  /// Computes on tensors planned for; only their addresses may have changed. Inputs may overlap `out` in any way.
  /// `after`, a chain over a row-major `out`, goes over each tile of it while the tile is in the cache.
  void run(const Tensor& a, const Tensor& b, const Tensor& self, const Tensor& out, const Chain* after = nullptr) const;

  /// True if `run` takes a b in ACL_FORMAT_FRACTAL_NZ as it is. Otherwise it takes the plain elements, whatever the
  /// format of the tensors says.
  bool reads_blocks() const { return few_rows_ && right_stored_.width > 0; }
  /// True where what is kept of b lies in the order of the fastest kernels.
  bool orders_right() const { return kept_ != nullptr; }
  /// Nanoseconds, roughly.
  int64_t cost() const;

 private:
  /// One operand: strides of its rows, columns and batch axes, and how a kernel gets at it.
  struct Side {
    DType dtype = DType::kUndefined;
    int64_t row = 0, col = 0;
    Dims batch;
    int64_t span = 0;         ///< elements from the first to past the last
    bool transposed = false;  ///< stored by columns
    bool packed = false;      ///< to be copied into dense memory of the compute dtype first
    int64_t ld = 0;           ///< leading dimension of what the kernel reads
    int64_t element = 0;      ///< bytes
    int64_t group = 0;        ///< of rows gathered from a batch axis, how many lie `row` apart; 0: all
    int64_t group_step = 0;   ///< from one group to the next
    int64_t offset_of_row(int64_t i) const { return group == 0 ? i * row : i / group * group_step + i % group * row; }
  };
  struct Memory {
    const std::byte* a;
    const std::byte* b;
    const std::byte* self;
    std::byte* out;
    const Chain* after;
  };

  Side side_of(const Tensor& t) const;
  static void lay_out(Side& side, int64_t rows, int64_t cols, DType wanted);
  void fold_batch();
  void swap_operands();
  int64_t items() const { return count_of(batch_); }
  const std::byte* item_of(const Side& side, const std::byte* base, int64_t item) const;

  template <class T>
  void compute(const Memory& memory) const;
  template <class T>
  void compute_tiles(const Memory& memory, int64_t item) const;
  template <class T>
  void compute_sliced(const Memory& memory, int64_t item) const;
  template <class T>
  void compute_item(const Memory& memory, int64_t item) const;
  template <class T>
  cube::GemmArgs<T> arguments(const Memory& memory, int64_t item, T* packed_a, T* packed_b, bool parallel) const;
  template <class T>
  void pack(const Side& side, const std::byte* from, int64_t rows, int64_t cols, T* to, bool parallel) const;
  template <class T>
  void run_tile(const Memory& memory, int64_t item, const cube::Tile& tile, const cube::GemmArgs<T>& whole) const;
  void plan_native();
  bool plan_few_rows(const Tensor& b);
  void compute_few_rows(const Memory& memory) const;
  void add_slices(const float* partial, int64_t size, const cube::Tile& tile, float* c) const;
  bool takes_panels(const Side& a, const Side& b) const;
  int64_t parts(const Side& a, const Side& b) const;
  std::string key(const Side& a, const Side& b) const;
  void share_reading(int64_t width, int64_t most);
  bool plan_kept(const Side& a, const Side& b);
  void compute_kept(const Memory& memory) const;
  void plan_bands(const Side& a, const Side& b);
  template <class E>
  void compute_native(const Memory& memory) const;
  bool keeps_panels() const;
  template <class E>
  const E* kept_panels(const Memory& memory) const;
  template <class E>
  void compute_bands(const Memory& memory) const;
  template <class E>
  void multiply_native(const cube::GemmArgs<E>& whole, const E* panels, int64_t tile, int64_t slice, float* c) const;
  template <class E>
  const E* tile_of(const E* panels, const cube::Tile& tile) const;
  template <class E>
  void store_panels(const Memory& memory, int64_t item, const cube::Tile& tile, const cube::GemmArgs<E>& whole,
                    const E* panels) const;
  void finish_native(const Memory& memory, int64_t item, const cube::Tile& tile, float* c) const;
  template <class T>
  void fill(const Memory& memory, int64_t item, const cube::Tile& tile, T* c, int64_t ldc) const;
  template <class T>
  T begin_tile(const Memory& memory, int64_t item, const cube::Tile& tile, T* c, int64_t ldc) const;
  void run_after(const Memory& memory, int64_t item, const cube::Tile& tile) const;
  template <class T>
  void store(const Memory& memory, int64_t item, const cube::Tile& tile, const T* c, int64_t ldc) const;

  DType slot_ = DType::kUndefined;  ///< what sums are computed in
  DType load_ = DType::kUndefined;  ///< what kernels read: the slot, or a and b's own dtype where the CPU has it
  Dims batch_;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  Side a_, b_, self_, out_;
  bool has_self_ = false;
  bool swapped_ = false;        ///< a and b exchanged because `out` is stored by columns
  bool self_like_out_ = false;  ///< same dtype and strides: may be updated in place
  Scalar alpha_, beta_;
  cube::Tiling tiling_;
  /// For products in load_ other than slot_: by tile height, width and depth, the last in each direction differing.
  std::array<std::shared_ptr<const cube::OnednnMatmul>, 8> native_;
  bool panels_ = false;    ///< the house's own kernels (ops/cube/panel_product.h) instead of native_
  bool bands_ = false;     ///< native_ read b in an order of their own, and write whole rows
  bool direct_ = false;    ///< of out itself
  bool few_rows_ = false;  ///< ops/cube/few_rows.h reads b as it is stored
  cube::StoredRight right_stored_;
  std::shared_ptr<const KeptProduct> kept_;
  bool keeps_right_ = false;
  bool accepts_blocks_ = false;
  mutable Kept right_;  ///< b in the order of panels
};

/// `self` broadcast to a product of `shape`, undefined where it is absent. Raises 161002 where it does not broadcast.
Tensor addend(const Tensor& self, const Dims& shape);

/// Raises 161002 unless `out` has `shape`.
void require_shape(const Tensor& out, const Dims& shape, const char* name = "out");

}  // namespace npu::ops
