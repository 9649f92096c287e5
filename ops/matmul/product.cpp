// SPDX-License-Identifier: Apache-2.0
// Every operand is either read where it lies, by rows or by columns, or packed into dense memory of the compute dtype
// first. Sums are formed in the compute dtype and rounded once, as a tile is stored. Tiles and slices of k follow from
// shapes and strides, never from the number of threads, and so do the bits.
#include "ops/matmul/product.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/division.h"
#include "base/thread_pool.h"
#include "base/wrap.h"
#include "ops/cube/choices.h"
#include "ops/cube/panel_product.h"
#include "ops/matmul/blocked.h"
#include "ops/scratch.h"
#include "ops/tuning/parts.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

// A part of the pool should do at least this many multiply-adds, or move this many elements.
constexpr int64_t kPartWork = int64_t{1} << 20;
constexpr int64_t kPartElements = int64_t{1} << 15;
// Below this, a native product's call overhead eats what its instructions win.
constexpr int64_t kNativeWork = int64_t{48} * 48 * 48;
// Of float32, below this not even the question pays which way is the faster one. Panels that are kept cost nothing.
constexpr int64_t kPanelWork = int64_t{1} << 19, kKeptPanelWork = int64_t{1} << 15;
// Rows that are so few that a product is reading its right operand; a thread reads half as fast as two.
constexpr int64_t kReadElements = int64_t{1} << 15, kReadParts = 8;

enum ProductWay : size_t { kOwn, kLibrary };
constexpr std::array<std::string_view, 2> kProductWays{"own", "library"};
const tuning::Point kWayPoint("product_way", "Which kernels multiply matrices: the house's, or oneDNN's.",
                              kProductWays);
const tuning::Point kPartsPoint("product_parts", "Into how many parts a product is cut at most.", tuning::kPartNames);

// Ordered: a result goes into a dtype of the same category or a higher one.
int category(DType dtype) { return is_complex(dtype) ? 2 : is_floating(dtype) ? 1 : 0; }

DType compute_dtype(DType a, DType b) {
  for (const DType d : {a, b}) {
    require(category(d) > 0 || is_integer(d),
            "matrix products take float, integer and complex tensors, got {}; cast it first", d);
  }
  const DType x = slot_of(a), y = slot_of(b);
  const auto either = [&](DType d) { return x == d || y == d; };
  // A float64 beside a complex64 asks for complex128, as in torch's promotion.
  if (category(x) == 2 || category(y) == 2) {
    return either(DType::kComplex128) || either(DType::kDouble) ? DType::kComplex128 : DType::kComplex64;
  }
  if (either(DType::kDouble)) return DType::kDouble;
  // Halves have a float32 slot; all integers multiply in int64, where they wrap.
  return either(DType::kFloat) ? DType::kFloat : DType::kInt64;
}

template <class T>
T number(const Scalar& s) {
  if constexpr (std::is_integral_v<T>)
    return s.to_int();
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(s.to_double());
  else
    return static_cast<T>(s.to_complex());
}

template <class F>
void visit_slot(DType slot, F&& f) {
  switch (slot) {
    case DType::kFloat: return f(float{});
    case DType::kDouble: return f(double{});
    case DType::kComplex64: return f(Complex64{});
    case DType::kComplex128: return f(Complex128{});
    default: return f(int64_t{});
  }
}

// Of what lies between the first and last element, gaps included: views that interleave count as overlapping.
bool overlap(const std::byte* a, int64_t a_bytes, const std::byte* b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

Tensor addend(const Tensor& self, const Dims& shape) {
  if (!self.defined()) return self;
  require(broadcast(self.shape, shape) == shape, "self is {}, the product is {}: self does not broadcast to it",
          self.shape, shape);
  return self.expanded(shape);
}

void require_shape(const Tensor& out, const Dims& shape, const char* name) {
  require(out.shape == shape, "{} is {}, the result is {}; give an output of that shape", name, out.shape, shape);
}

Product::Side Product::side_of(const Tensor& t) const {
  Side side;
  if (!t.defined()) return side;
  side.dtype = t.dtype;
  side.element = static_cast<int64_t>(size_of(t.dtype));
  side.span = t.span();
  side.row = t.strides[t.rank() - 2];
  side.col = t.strides[t.rank() - 1];
  side.batch = Dims(std::span(t.strides.data(), t.rank() - 2));
  return side;
}

// Decides whether the kernel reads the operand where it is, by rows or by columns. Strides of axes of size 1 say
// nothing and are set to what fits.
void Product::lay_out(Side& side, int64_t rows, int64_t cols, DType wanted) {
  if (cols == 1 && side.col != 1 && side.row != 1) side.col = 1;
  if (rows == 1 && side.col == 1) side.row = std::max<int64_t>(cols, 1);
  if (rows == 1 && side.col != 1) side.row = 1;
  side.transposed = side.row == 1 && side.col != 1 && side.group == 0;
  const int64_t outer = side.transposed ? side.col : side.row;
  const int64_t inner = side.transposed ? rows : cols;
  const bool unit = side.transposed || side.col == 1;
  // Rows closer together than they are long, as an expanded operand's stride 0, have no leading dimension.
  side.packed = side.dtype != wanted || !unit || outer < std::max<int64_t>(inner, 1) || side.group != 0;
  side.ld = side.packed ? std::max<int64_t>(inner, 1) : outer;
}

// Batch axes that continue the rows of out while b stays the same make one taller product. Where those of a lie
// elsewhere, as in sequences that were transposed, short items are gathered as they are packed: many products of a few
// rows would each prepare b anew.
void Product::fold_batch() {
  constexpr int64_t kShort = 64;
  const auto drop = [&] {
    batch_.pop_back();
    for (Side* side : {&a_, &b_, &self_, &out_}) {
      if (!side->batch.empty()) side->batch.pop_back();
    }
  };
  const auto continues = [&](const Side& side) {
    return side.batch.back() == (side.group == 0 ? m_ * side.row : m_ / side.group * side.group_step);
  };
  while (!batch_.empty()) {
    if (batch_.back() != 1) {
      if (b_.batch.back() != 0 || !continues(out_) || (has_self_ && !continues(self_))) return;
      if (m_ == 1) a_.row = a_.batch.back();
      if (!continues(a_)) {
        if (a_.group != 0 || m_ > kShort || out_.col != 1) return;
        a_.group = m_, a_.group_step = a_.batch.back();
      }
      m_ *= batch_.back();
    }
    drop();
  }
}

// Kernels write rows. A result stored by columns is that of the transposed product, whose rows are those columns.
void Product::swap_operands() {
  std::swap(a_, b_);
  std::swap(m_, n_);
  for (Side* side : {&a_, &b_, &self_, &out_}) std::swap(side->row, side->col);
  swapped_ = true;
}

void Product::plan(const Tensor& a, const Tensor& b, const Tensor& self, const Tensor& out, const Scalar& alpha,
                   const Scalar& beta) {
  slot_ = compute_dtype(a.dtype, b.dtype);
  require(category(out.dtype) >= category(slot_) && out.dtype != DType::kBool,
          "the product of {} and {} does not fit into an output of {}; give one of {}", a.dtype, b.dtype, out.dtype,
          slot_);
  m_ = a.shape[a.rank() - 2], k_ = a.shape[a.rank() - 1], n_ = b.shape[b.rank() - 1];
  batch_ = Dims(std::span(out.shape.data(), out.rank() - 2));
  alpha_ = alpha.defined() ? alpha : Scalar(1);
  beta_ = beta.defined() ? beta : Scalar(1);
  // Beta 0 does not read self at all, as BLAS has it: what lies there may be NaN.
  has_self_ = self.defined() && beta_.to_bool();
  a_ = side_of(a), b_ = side_of(b), out_ = side_of(out);
  self_ = has_self_ ? side_of(self) : Side();
  if (has_self_) {
    require(category(self.dtype) <= category(slot_), "self is {} but the product is {}; cast self first", self.dtype,
            slot_);
    self_like_out_ = self.dtype == out.dtype && self_.row == out_.row && self_.col == out_.col &&
                     std::ranges::equal(self_.batch, out_.batch);
  }
  fold_batch();
  if (out_.row == 1 && out_.col != 1 && n_ > 1) swap_operands();
  lay_out(out_, m_, n_, slot_);
  out_.packed |= out_.transposed;
  load_ = slot_;
  panels_ = bands_ = few_rows_ = false;
  kept_ = nullptr;
  if (plan_few_rows(b)) return;
  // A native kernel reads one dtype: a float16 beside a bfloat16 is widened, as both are.
  const bool native = a.dtype == b.dtype && cube::computes_natively(a.dtype);
  const bool large = slot_ == DType::kFloat && m_ * n_ * k_ >= (native         ? kNativeWork
                                                                : keeps_right_ ? kKeptPanelWork
                                                                               : kPanelWork);
  if (large) {
    if (native) load_ = a.dtype;
    plan_native();
  }
  // plan_native takes load_ back where it finds no kernel, so operands are laid out after it.
  lay_out(a_, m_, k_, load_);
  lay_out(b_, k_, n_, load_);
  if (!large) tiling_ = cube::plan_tiles(m_, n_, k_, items(), parts(a_, b_));
}

int64_t Product::cost() const {
  // int64 and complex products take plain loops.
  const int64_t rate = slot_ == DType::kFloat ? 32 : slot_ == DType::kDouble ? 16 : 1;  // multiply-adds a nanosecond
  return 300 + items() * (m_ * n_ * k_ / rate + (m_ * n_ + m_ * k_ + k_ * n_) / 8);
}

void Product::run(const Tensor& a, const Tensor& b, const Tensor& self, const Tensor& out, const Chain* after) const {
  if (items() == 0 || m_ == 0 || n_ == 0) return;
  if (after != nullptr && !after->by_pieces()) {
    run(a, b, self, out);
    return after->run();
  }
  Memory memory{a.bytes(), b.bytes(), has_self_ ? self.bytes() : nullptr, out.bytes(), after};
  if (swapped_) std::swap(memory.a, memory.b);
  // What the result would overwrite while it is still needed is set aside.
  // Whole operands, before anything is written: parts run in any order, so no order of reading could save them.
  const auto away_from_out = [&](const Side& side, const std::byte*& from, Scratch<std::byte>* copy) {
    std::memcpy(copy->data(), from, static_cast<size_t>(side.span * side.element));
    from = copy->data();
  };
  const auto clashes = [&](const Side& side, const std::byte* from) {
    return side.span > 0 && overlap(from, side.span * side.element, memory.out, out_.span * out_.element);
  };
  // self in the very place of out: each element is read by just the part that writes it.
  const bool same_self = has_self_ && self_like_out_ && memory.self == memory.out;
  const bool clash_a = k_ > 0 && clashes(a_, memory.a), clash_b = k_ > 0 && clashes(b_, memory.b);
  const bool clash_self = has_self_ && !same_self && clashes(self_, memory.self);
  Scratch<std::byte> copy_a(clash_a ? a_.span * a_.element : 0), copy_b(clash_b ? b_.span * b_.element : 0);
  Scratch<std::byte> copy_self(clash_self ? self_.span * self_.element : 0);
  if (clash_a) away_from_out(a_, memory.a, &copy_a);
  if (clash_b) away_from_out(b_, memory.b, &copy_b);
  if (clash_self) away_from_out(self_, memory.self, &copy_self);
  if (few_rows_) return compute_few_rows(memory);
  if (kept_ != nullptr) return compute_kept(memory);
  if (load_ == DType::kBFloat16 && slot_ != load_) return compute_native<BFloat16>(memory);
  if (load_ == DType::kHalf && slot_ != load_) return compute_native<Half>(memory);
  if (panels_) return compute_native<float>(memory);
  visit_slot(slot_, [&](auto zero) { compute<decltype(zero)>(memory); });
}

template <class T>
void Product::compute(const Memory& memory) const {
  const int64_t count = items();
  // Products of one tile: parts are whole items, and each packs for itself.
  if (tiling_.tiles() == 1 && tiling_.slices == 1) {
    const int64_t grain = std::max<int64_t>(1, kPartWork / std::max<int64_t>(1, m_ * n_ * k_));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) compute_item<T>(memory, item);
    });
  } else if (tiling_.slices > 1) {
    // A long k and few tiles: one item has slices enough for the pool.
    for (int64_t item = 0; item < count; ++item) compute_sliced<T>(memory, item);
  } else if (a_.packed || b_.packed) {
    // All tiles of an item read the packed operands, so these are packed once, by the whole pool.
    for (int64_t item = 0; item < count; ++item) compute_tiles<T>(memory, item);
  } else {
    // Nothing to pack: the tiles of all items are one pool of parts.
    parallel_parts(count * tiling_.tiles(), [&](int64_t part) {
      const int64_t item = part / tiling_.tiles();
      const auto whole = arguments<T>(memory, item, nullptr, nullptr, false);
      run_tile(memory, item, cube::tile_at(tiling_, m_, n_, k_, part % tiling_.tiles(), 0), whole);
    });
  }
}

template <class T>
void Product::compute_item(const Memory& memory, int64_t item) const {
  const Scratch<T> a(a_.packed ? m_ * k_ : 0), b(b_.packed ? k_ * n_ : 0);
  const auto whole = arguments<T>(memory, item, a, b, false);
  run_tile(memory, item, cube::Tile{0, m_, 0, n_, 0, k_}, whole);
}

template <class T>
void Product::compute_tiles(const Memory& memory, int64_t item) const {
  const Scratch<T> a(a_.packed ? m_ * k_ : 0), b(b_.packed ? k_ * n_ : 0);
  const auto whole = arguments<T>(memory, item, a, b, true);
  parallel_parts(tiling_.tiles(),
                 [&](int64_t index) { run_tile(memory, item, cube::tile_at(tiling_, m_, n_, k_, index, 0), whole); });
}

/// What comes after the product, on a tile that has just been stored.
void Product::run_after(const Memory& memory, int64_t item, const cube::Tile& tile) const {
  if (memory.after == nullptr) return;
  memory.after->run_piece((item * m_ + tile.row) * n_ + tile.col, tile.rows, n_, tile.cols);
}

// Few tiles but a long k: the engine splits k; filling and storing surround it.
template <class T>
void Product::compute_sliced(const Memory& memory, int64_t item) const {
  // Dense, as slices are added up there; it is rounded into the output once.
  const Scratch<T> a(a_.packed ? m_ * k_ : 0), b(b_.packed ? k_ * n_ : 0), c(m_ * n_);
  auto whole = arguments<T>(memory, item, a, b, true);
  const cube::Tile all{0, m_, 0, n_, 0, k_};
  whole.c = c, whole.ldc = n_;
  whole.beta = has_self_ ? T(1) : T(0);
  if (has_self_) fill(memory, item, all, c.data(), n_);
  cube::gemm(whole);
  store(memory, item, all, c.data(), n_);
  if (memory.after == nullptr) return;
  const int64_t grain = std::max<int64_t>(1, kPartElements / n_);
  parallel_for(m_, grain,
               [&](int64_t begin, int64_t end) { run_after(memory, item, {begin, end - begin, 0, n_, 0, k_}); });
}

const std::byte* Product::item_of(const Side& side, const std::byte* base, int64_t item) const {
  int64_t offset = 0;
  for (size_t d = batch_.size(); d-- > 0;) {
    offset += item % batch_[d] * side.batch[d];
    item /= batch_[d];
  }
  return base + offset * side.element;
}

template <class T>
cube::GemmArgs<T> Product::arguments(const Memory& memory, int64_t item, T* packed_a, T* packed_b,
                                     bool parallel) const {
  cube::GemmArgs<T> g{a_.transposed, b_.transposed, m_, n_, k_};
  if constexpr (sizeof(T) > 2) g.alpha = number<T>(alpha_);  // the kernels of narrow types take none
  const std::byte* a = item_of(a_, memory.a, item);
  const std::byte* b = item_of(b_, memory.b, item);
  if (a_.packed) pack(a_, a, m_, k_, packed_a, parallel);
  if (b_.packed) pack(b_, b, k_, n_, packed_b, parallel);
  g.a = a_.packed ? packed_a : reinterpret_cast<const T*>(a);
  g.b = b_.packed ? packed_b : reinterpret_cast<const T*>(b);
  g.lda = a_.ld, g.ldb = b_.ld;
  return g;
}

// Keeps the order of storage: a transposed operand stays transposed, and the walk follows memory.
template <class T>
void Product::pack(const Side& side, const std::byte* from, int64_t rows, int64_t cols, T* to, bool parallel) const {
  const Convert convert = converter(side.dtype, load_);
  const int64_t outer = side.transposed ? cols : rows, inner = side.transposed ? rows : cols;
  const int64_t outer_stride = side.transposed ? side.col : side.row;
  const int64_t inner_stride = side.transposed ? side.row : side.col;
  const auto copy = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t offset = side.transposed ? i * outer_stride : side.offset_of_row(i);
      convert(from + offset * side.element, inner_stride, to + i * inner, 1, inner);
    }
  };
  if (parallel)
    parallel_for(outer, std::max<int64_t>(1, kPartElements / std::max<int64_t>(inner, 1)), copy);
  else
    copy(0, outer);
}

// c = beta * self.
// In the compute dtype: beta · self is not rounded to the output's dtype before the product is added.
template <class T>
void Product::fill(const Memory& memory, int64_t item, const cube::Tile& tile, T* c, int64_t ldc) const {
  const Convert convert = converter(self_.dtype, slot_);
  const std::byte* from =
      item_of(self_, memory.self, item) + (tile.row * self_.row + tile.col * self_.col) * self_.element;
  const T beta = number<T>(beta_);
  for (int64_t i = 0; i < tile.rows; ++i) {
    T* row = c + i * ldc;
    convert(from + i * self_.row * self_.element, self_.col, row, 1, tile.cols);
    if (beta != T(1)) {
      for (int64_t j = 0; j < tile.cols; ++j) row[j] = wrap_multiply(row[j], beta);
    }
  }
}

// What the kernel multiplies c with. In place, it does what fill does elsewhere.
template <class T>
T Product::begin_tile(const Memory& memory, int64_t item, const cube::Tile& tile, T* c, int64_t ldc) const {
  if (!has_self_) return T(0);
  if (!out_.packed && self_like_out_ && memory.self == memory.out) return number<T>(beta_);
  fill(memory, item, tile, c, ldc);
  return T(1);
}

// The one rounding of halves.
template <class T>
void Product::store(const Memory& memory, int64_t item, const cube::Tile& tile, const T* c, int64_t ldc) const {
  const Convert convert = converter(slot_, out_.dtype);
  std::byte* to = const_cast<std::byte*>(item_of(out_, memory.out, item)) +
                  (tile.row * out_.row + tile.col * out_.col) * out_.element;
  for (int64_t i = 0; i < tile.rows; ++i)
    convert(c + i * ldc, 1, to + i * out_.row * out_.element, out_.col, tile.cols);
}

// --- products in the operands' own narrow dtype -------------------------------------------------------------------

// Which of the eight kernels fits a tile: bits say that it is the last, shorter one in that direction.
namespace {
size_t kernel_index(const cube::Tiling& t, const cube::Tile& tile) {
  return (tile.rows != t.rows ? 1 : 0) + (tile.cols != t.cols ? 2 : 0) + (tile.depth != t.depth ? 4 : 0);
}
}  // namespace

std::string Product::key(const Side& a, const Side& b) const {
  const auto layout = [](const Side& side) { return side.packed ? "packed" : side.transposed ? "columns" : "rows"; };
  return fmt::format("items={} m={} n={} k={} {} a={} {} b={} {}", items(), m_, n_, k_, name_of(load_),
                     name_of(a.dtype), layout(a), name_of(b.dtype), layout(b));
}

bool Product::takes_panels(const Side& a, const Side& b) const {
  if (!cube::has_panels(load_)) return false;
  const tuning::Question question(kWayPoint, [&] { return key(a, b); });
  const bool usual = keeps_panels() || cube::takes_own({cube::Work::kProduct, load_, b.transposed, k_ * n_, m_});
  const size_t way = question.answer().value_or(usual ? kOwn : kLibrary);
  question.took(way);
  return way == kOwn;
}

// Small ones are not cut, and not asked about.
int64_t Product::parts(const Side& a, const Side& b) const {
  if (m_ * n_ * k_ < 4 * kPartWork) return cube::kProductParts;
  return tuning::parts_for(kPartsPoint, cube::kProductParts,
                           [&] { return fmt::format("{} {}", panels_ ? "own" : "tiles", key(a, b)); });
}

// Compiles what the tiles need. Without a fast kernel for every tile, the product is widened.
void Product::plan_native() {
  Side a = a_, b = b_;
  lay_out(a, m_, k_, load_);
  lay_out(b, k_, n_, load_);
  if (plan_kept(a, b)) return;
  if (takes_panels(a, b)) {
    panels_ = true;
    tiling_ = cube::plan_panels(m_, n_, k_, items(), parts(a, b));
    if (keeps_panels() && m_ <= cube::kMostFewRows && items() == 1) share_reading(cube::kPanel, kReadParts);
    return;
  }
  tiling_ = cube::plan_tiles(m_, n_, k_, items(), parts(a, b));
  if (load_ == slot_) return;
  for (int64_t tile = 0; tile < tiling_.tiles(); ++tile) {
    for (int64_t slice = 0; slice < tiling_.slices; ++slice) {
      const cube::Tile t = cube::tile_at(tiling_, m_, n_, k_, tile, slice);
      auto& kernel = native_[kernel_index(tiling_, t)];
      if (kernel != nullptr) continue;
      // Tiles at an edge are smaller, and a kernel is compiled for one size.
      kernel = cube::OnednnMatmul::get({load_, a.transposed, b.transposed, t.rows, t.cols, t.depth, a.ld, b.ld});
      if (kernel != nullptr) continue;
      // If one tile must be widened, all are: one product has one precision.
      load_ = slot_;
      return;
    }
  }
  plan_bands(a, b);
}

// Of float32 that lies as it is read and written, with nothing but the same addend for each row.
bool Product::plan_kept(const Side& a, const Side& b) {
  const bool plain =
      load_ == DType::kFloat && !a.packed && !a.transposed && !b.packed && !out_.packed && a.ld == k_ && out_.ld == n_;
  const bool bias =
      has_self_ && self_.dtype == DType::kFloat && self_.row == 0 && self_.col == 1 && number<float>(beta_) == 1;
  if (!keeps_panels() || items() != 1 || !plain || bias != has_self_ || number<float>(alpha_) != 1) return false;
  kept_ = KeptProduct::make({m_, n_, k_, b.ld, b.transposed, bias});
  return kept_ != nullptr;
}

void Product::compute_kept(const Memory& memory) const {
  const auto floats = [](const std::byte* at) { return reinterpret_cast<const float*>(at); };
  kept_->run({floats(memory.a), floats(memory.b), floats(memory.self), reinterpret_cast<float*>(memory.out)},
             [&](const cube::Tile& tile) { run_after(memory, 0, tile); });
}

// Columns in up to `most` parts, as many as pay, each a whole number of panels of `width` columns.
void Product::share_reading(int64_t width, int64_t most) {
  const int64_t wanted = std::clamp<int64_t>(n_ * k_ / kReadElements, 1, most);
  const int64_t panels = divide_up(n_, width), parts = std::min(wanted, panels);
  tiling_.cols = parts == 1 ? n_ : divide_up(panels, parts) * width;
  tiling_.col_tiles = divide_up(n_, tiling_.cols);
}

// For a few rows of floats times halves in an order that the kernels read. Smaller products are left to the kernels
// that hold b in the cache, and those whose b never changes to kernels that read it in an order of their own.
bool Product::plan_few_rows(const Tensor& b) {
  constexpr int64_t kLeastSize = 16;  // a line of fewer numbers is mostly rest
  const bool half = b_.dtype == DType::kHalf || b_.dtype == DType::kBFloat16;
  if (slot_ != DType::kFloat || !half || m_ > cube::kMostFewRows || items() != 1) return false;
  if (swapped_ || keeps_right_ || std::min(n_, k_) < kLeastSize || n_ * k_ < kReadElements) return false;
  lay_out(b_, k_, n_, b_.dtype);
  if (b_.packed) return false;
  right_stored_ = {b_.dtype, b_.transposed, b_.ld};
  if (accepts_blocks_ && is_blocked(b.format)) {
    const int64_t rows = b_.transposed ? n_ : k_, cols = b_.transposed ? k_ : n_;
    const BlockSteps steps = block_steps({rows, cols}, b.dtype, b.format);
    right_stored_.ld = right_stored_.width = steps.width, right_stored_.step = steps.step;
    b_.span = divide_up(cols, steps.width) * steps.step;
  }
  tiling_ = {m_, n_, k_, 1, 1, 1};
  share_reading(std::max<int64_t>(right_stored_.width, cube::kPanel), cube::kProductParts);
  // Parts are whole rows: pieces of rows are too far apart in memory for the hardware prefetcher.
  if (!b_.transposed && right_stored_.width == 0 && tiling_.col_tiles > 1) {
    constexpr int64_t kLeastDepth = 64;
    tiling_.depth = std::max(kLeastDepth, divide_up(k_, kReadParts));
    tiling_.slices = divide_up(k_, tiling_.depth);
  }
  return few_rows_ = true;
}

void Product::compute_few_rows(const Memory& memory) const {
  const int64_t rows = cube::padded_rows(m_), slices = tiling_.slices, size = rows * n_;
  const Scratch<float> a(rows * k_), partial(slices > 1 ? slices * size : 0);
  std::fill_n(a.data() + m_ * k_, (rows - m_) * k_, 0.0f);
  const Convert convert = converter(a_.dtype, DType::kFloat);
  for (int64_t i = 0; i < m_; ++i)
    convert(memory.a + a_.offset_of_row(i) * a_.element, a_.col, a.data() + i * k_, 1, k_);
  const auto multiply = [&](const cube::RightPart& part, float* c) {
    cube::few_rows_product({right_stored_, memory.b, part, rows, a.data() + part.begin, k_, c});
  };
  if (slices > 1) {
    parallel_parts(slices, [&](int64_t slice) {
      const int64_t begin = slice * tiling_.depth;
      multiply({begin, std::min(tiling_.depth, k_ - begin), 0, n_}, partial.data() + slice * size);
    });
  }
  parallel_parts(tiling_.tiles(), [&](int64_t index) {
    const cube::Tile tile = cube::tile_at(tiling_, m_, n_, k_, index, 0);
    const Scratch<float> c(rows * tile.cols);
    if (slices > 1)
      add_slices(partial.data() + tile.col, size, tile, c.data());
    else
      multiply({0, k_, tile.col, tile.cols}, c.data());
    finish_native(memory, 0, tile, c.data());
  });
}

// c = the sum of the slices' results, in their order, which begin `size` numbers after each other.
void Product::add_slices(const float* partial, int64_t size, const cube::Tile& tile, float* c) const {
  for (int64_t i = 0; i < tile.rows; ++i) {
    float* row = c + i * tile.cols;
    std::copy_n(partial + i * n_, tile.cols, row);
    for (int64_t s = 1; s < tiling_.slices; ++s) {
      const float* more = partial + s * size + i * n_;
      for (int64_t j = 0; j < tile.cols; ++j) row[j] += more[j];
    }
  }
}

// A tall product of operands that lie by rows: b is put once into the order that oneDNN's fastest kernel reads, and
// each part computes whole rows, rounded into `out` where nothing else is to be added. Fewer than kLeastBands would
// leave threads without work.
void Product::plan_bands(const Side& a, const Side& b) {
  constexpr int64_t kLeastBands = 8, kLeastRows = 64, kMostRows = 256, kMostColumns = 8192;
  if (items() != 1 || tiling_.slices != 1 || tiling_.tiles() == 1 || m_ < kLeastBands * kLeastRows) return;
  if (a.transposed || b.transposed || a.packed || b.packed || n_ > kMostColumns) return;
  cube::Tiling bands = tiling_;
  bands.rows = std::min((m_ + kLeastBands * 16 - 1) / (kLeastBands * 16) * 16, kMostRows);
  bands.cols = n_, bands.col_tiles = 1;
  bands.row_tiles = (m_ + bands.rows - 1) / bands.rows;
  const bool direct =
      out_.dtype == load_ && out_.row == n_ && out_.col == 1 && !has_self_ && number<float>(alpha_) == 1;
  std::array<std::shared_ptr<const cube::OnednnMatmul>, 8> kernels;
  for (const int64_t tile : {int64_t{0}, bands.tiles() - 1}) {
    const cube::Tile t = cube::tile_at(bands, m_, n_, k_, tile, 0);
    auto& kernel = kernels[kernel_index(bands, t)];
    kernel = cube::OnednnMatmul::get(
        {load_, false, false, t.rows, n_, k_, a.ld, b.ld, direct ? load_ : DType::kFloat, /*ordered=*/true});
    if (kernel == nullptr || !kernel->same_right(*kernels[0])) return;
  }
  tiling_ = bands, native_ = kernels;
  bands_ = true, direct_ = direct;
}

template <class E>
void Product::multiply_native(const cube::GemmArgs<E>& whole, const E* panels, int64_t tile, int64_t slice,
                              float* c) const {
  const cube::Tile t = cube::tile_at(tiling_, m_, n_, k_, tile, slice);
  const auto part = cube::cut(whole, t);
  if constexpr (!std::is_same_v<E, Half>) {
    if (panels_) return cube::panel_product(part, tile_of(panels, t), k_, {c, t.cols});
  }
  native_[kernel_index(tiling_, t)]->run(part.a, part.b, c);
}

// Where a tile of the result begins in panels of all columns that hold all of k.
template <class E>
const E* Product::tile_of(const E* panels, const cube::Tile& tile) const {
  return panels == nullptr ? nullptr : panels + cube::panel_right_size(load_, k_, tile.col) + tile.begin * cube::kPanel;
}

// A tile of the result where it belongs, if `out` is of floats that lie by rows.
template <class E>
void Product::store_panels(const Memory& memory, int64_t item, const cube::Tile& tile, const cube::GemmArgs<E>& whole,
                           const E* panels) const {
  auto* out = reinterpret_cast<float*>(const_cast<std::byte*>(item_of(out_, memory.out, item)));
  cube::PanelResult to{out + tile.row * out_.row + tile.col, out_.ld, number<float>(alpha_)};
  if (has_self_ && self_.dtype == DType::kFloat && self_.col == 1 && number<float>(beta_) == 1) {
    to.addend = reinterpret_cast<const float*>(item_of(self_, memory.self, item)) + tile.row * self_.row + tile.col;
    to.ld_addend = self_.row, to.beta = 1;
  } else {
    to.beta = begin_tile(memory, item, tile, to.c, to.ldc);
  }
  cube::panel_product(cube::cut(whole, tile), tile_of(panels, tile), k_, to);
  run_after(memory, item, tile);
}

// out = alpha * c + beta * self for one tile.
// Native kernels write a plain product in float32; alpha and beta join it before the only rounding.
void Product::finish_native(const Memory& memory, int64_t item, const cube::Tile& tile, float* c) const {
  const auto alpha = number<float>(alpha_);
  const int64_t count = tile.rows * tile.cols;
  if (has_self_) {
    const Scratch<float> sum(count);
    fill(memory, item, tile, sum.data(), tile.cols);
    for (int64_t i = 0; i < count; ++i) c[i] = alpha * c[i] + sum[i];
  } else if (alpha != 1.0f) {
    for (int64_t i = 0; i < count; ++i) c[i] *= alpha;
  }
  store(memory, item, tile, c, tile.cols);
  run_after(memory, item, tile);
}

template <class E>
void Product::compute_bands(const Memory& memory) const {
  const auto whole = arguments<E>(memory, 0, nullptr, nullptr, false);
  const Scratch<std::byte> right(static_cast<int64_t>(native_[0]->right_bytes()));
  native_[0]->order_right(whole.b, right);
  parallel_parts(tiling_.tiles(), [&](int64_t tile) {
    const cube::Tile t = cube::tile_at(tiling_, m_, n_, k_, tile, 0);
    const auto& kernel = *native_[kernel_index(tiling_, t)];
    const E* rows = whole.a + t.row * whole.lda;
    if (direct_) {
      kernel.run(rows, right, memory.out + t.row * n_ * out_.element);
      return run_after(memory, 0, t);
    }
    const Scratch<float> c(t.rows * n_);
    kernel.run(rows, right, c.data());
    finish_native(memory, 0, t, c);
  });
}

// One matrix for all items, which is never the other operand.
bool Product::keeps_panels() const {
  return keeps_right_ && !swapped_ && std::ranges::all_of(b_.batch, [](int64_t stride) { return stride == 0; });
}

template <class E>
const E* Product::kept_panels(const Memory& memory) const {
  if constexpr (std::is_same_v<E, Half>) return nullptr;
  if (!panels_ || !keeps_panels()) return nullptr;
  const auto bytes = cube::panel_right_size(load_, k_, n_) * static_cast<int64_t>(sizeof(E));
  return reinterpret_cast<const E*>(right_.of(memory.b, bytes, [&](std::byte* to) {
    if constexpr (!std::is_same_v<E, Half>) {
      const Scratch<E> b(b_.packed ? k_ * n_ : 0);
      if (b_.packed) pack(b_, memory.b, k_, n_, b.data(), true);
      cube::GemmArgs<E> whole{.trans_b = b_.transposed, .n = n_, .k = k_};
      whole.b = b_.packed ? b.data() : reinterpret_cast<const E*>(memory.b), whole.ldb = b_.ld;
      cube::panel_order_right(whole, /*parallel=*/true, reinterpret_cast<E*>(to));
    }
  }));
}

template <class E>
void Product::compute_native(const Memory& memory) const {
  if (bands_) return compute_bands<E>(memory);
  const E* const kept = kept_panels<E>(memory);
  const int64_t tiles = tiling_.tiles(), slices = tiling_.slices, size = tiling_.rows * tiling_.cols;
  const bool packs = a_.packed || b_.packed, single = tiles * slices == 1;
  const auto whole_tile = [&](int64_t item, int64_t tile, const cube::GemmArgs<E>& whole, const E* panels) {
    const cube::Tile t = cube::tile_at(tiling_, m_, n_, k_, tile, 0);
    if constexpr (!std::is_same_v<E, Half>) {
      if (panels_ && !out_.packed) return store_panels(memory, item, t, whole, panels);
    }
    const Scratch<float> c(size);
    multiply_native(whole, panels, tile, 0, c.data());
    finish_native(memory, item, t, c);
  };
  // Tiles side by side order their own columns, which then lie in the second-level cache.
  const bool panels_shared = panels_ && tiling_.row_tiles > 1 && kept == nullptr;
  // No operand has to be packed for several tiles: items and tiles are parts alike.
  if (single || (slices == 1 && !packs && !panels_shared)) {
    const int64_t work = kept != nullptr && m_ <= cube::kMostFewRows ? kReadElements : kPartWork;
    const int64_t grain = std::max<int64_t>(1, work / std::max<int64_t>(1, size * k_));
    parallel_for(items() * tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const Scratch<E> a(a_.packed ? m_ * k_ : 0), b(b_.packed ? k_ * n_ : 0);
        whole_tile(part / tiles, part % tiles, arguments<E>(memory, part / tiles, a, b, false), kept);
      }
    });
    return;
  }
  for (int64_t item = 0; item < items(); ++item) {
    const Scratch<E> a(a_.packed ? m_ * k_ : 0), b(b_.packed ? k_ * n_ : 0);
    const auto whole = arguments<E>(memory, item, a, b, true);
    const Scratch<E> room(panels_shared ? cube::panel_right_size(load_, k_, n_) : 0);
    const E* panels = panels_shared ? room.data() : kept;
    if constexpr (!std::is_same_v<E, Half>) {
      if (panels_shared) cube::panel_order_right(whole, /*parallel=*/true, room.data());
    }
    const Scratch<float> partial(slices > 1 ? tiles * slices * size : 0);
    if (slices == 1) {
      parallel_parts(tiles, [&](int64_t tile) { whole_tile(item, tile, whole, panels); });
      continue;
    }
    parallel_parts(tiles * slices, [&](int64_t part) {
      multiply_native(whole, panels, part / slices, part % slices, partial + part * size);
    });
    // Slices are added in their order, whichever was ready first.
    parallel_parts(tiles, [&](int64_t tile) {
      float* c = partial + tile * slices * size;
      for (int64_t s = 1; s < slices; ++s) {
        for (int64_t i = 0; i < size; ++i) c[i] += c[s * size + i];
      }
      finish_native(memory, item, cube::tile_at(tiling_, m_, n_, k_, tile, 0), c);
    });
  }
}

template <class T>
void Product::run_tile(const Memory& memory, int64_t item, const cube::Tile& tile,
                       const cube::GemmArgs<T>& whole) const {
  cube::GemmArgs<T> part = cube::cut(whole, tile);
  const Scratch<T> buffer(out_.packed ? tile.rows * tile.cols : 0);
  if (out_.packed) {
    part.c = buffer, part.ldc = tile.cols;
  } else {
    std::byte* out = const_cast<std::byte*>(item_of(out_, memory.out, item));
    part.c = reinterpret_cast<T*>(out) + tile.row * out_.row + tile.col * out_.col;
    part.ldc = out_.ld;
  }
  part.beta = begin_tile(memory, item, tile, part.c, part.ldc);
  cube::gemm_serial(part);
  if (out_.packed) store(memory, item, tile, part.c, part.ldc);
  run_after(memory, item, tile);
}

}  // namespace npu::ops
