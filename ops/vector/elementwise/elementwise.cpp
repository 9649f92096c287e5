// SPDX-License-Identifier: Apache-2.0
// Blocks of a few kilobytes go through gather, kernel and scatter while they are in the first-level cache, so a
// broadcast, strided or converted operand costs no pass over memory of its own. Plain dense operands skip all that: the
// kernel runs over a whole part at once. Inputs that are stored along another axis than the output are transposed tile
// by tile: read along the output's axis, each element would cost a cache line.
#include "ops/vector/elementwise/elementwise.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/rounding_converter.h"
#include "ops/vector/conversion/stored.h"
#include "ops/vector/elementwise/transpose.h"
#include "ops/vector/loop/far_rows.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlockBytes = 8192;     // a few operands' blocks fit the first-level cache together
constexpr int64_t kConstantBlock = 1024;  // elements, when constants are the only operands that need a block
constexpr int64_t kStagger = 256;         // bytes between the blocks, see Blocks
constexpr int64_t kPage = 4096;
constexpr int64_t kGrain = 1 << 15;  // elements per parallel part, at most
constexpr int64_t kLongRow = 16;     // elements; shorter rows are gathered into blocks
constexpr int64_t kTileRows = 64;    // of transposed inputs
constexpr int64_t kTileBytes = 1 << 14;
constexpr int64_t kLeastTurned = 1 << 15;  // bytes; smaller inputs stay in the first-level cache

Convert converter_or_fail(DType from, DType to, DType through = DType::kUndefined) {
  const bool rounds = through != DType::kUndefined && through != from;
  const Convert convert = rounds ? rounding_converter(from, through) : converter(from, to);
  require(convert != nullptr, "no kernel converts {} to {}; cast the tensor first", from, to);
  return convert;
}

// Eight lanes let the additions overlap; their order is fixed.
template <class T>
double block_sum(const T* x, int64_t count) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(x[i + k]);
  }
  for (int64_t k = 0; i < count; ++i, ++k) lanes[k] += static_cast<double>(x[i]);
  return std::accumulate(lanes, lanes + kLanes, 0.0);
}

// The result's shape is given, and in place it is an input's own: an operand that would widen it is refused, with the
// sentence that users of frameworks know.
Tensor expanded(const Tensor& t, const Tensor& out) {
  if (!t.expands(out.shape)) {
    const Dims wide = broadcast(out.shape, t.shape);
    fail(Code::kNnInvalidParam,
         "CheckShape failed: output with shape [{}] doesn't match the broadcast shape [{}]: {} does not expand to {}",
         fmt::join(out.shape, ", "), fmt::join(wide, ", "), t, out.shape);
  }
  return t.expanded(out.shape);
}

}  // namespace

// Block buffers of one thread. A load waits for an older store to an address that is equal modulo 4 KiB, so the blocks
// start a little behind the output's offset in its page, and apart from each other.
class Elementwise::Blocks {
 public:
  explicit Blocks(const void* out) {
    const auto wanted = reinterpret_cast<uintptr_t>(out) & ~uintptr_t{63};
    const auto have = reinterpret_cast<uintptr_t>(room_);
    base_ = room_ + ((wanted + 2 * 64 - have) & (kPage - 1));
  }
  std::byte* operator[](size_t k) { return base_ + k * (kBlockBytes + kStagger); }

 private:
  alignas(64) std::byte room_[kMaxOperands * (kBlockBytes + kStagger) + kPage];  // NOLINT: uninitialised on purpose
  std::byte* base_;
};

void Elementwise::set_output(const Tensor& out, DType slot) {
  inputs_ = 0;
  Slot& s = slots_[0];
  s.tensor = out;
  s.convert = converter_or_fail(slot, out.dtype);
  s.slot = slot;
  s.slot_size = static_cast<int64_t>(size_of(slot));
  s.is_scalar = false;
  s.dense_as_slot = out.dtype == slot;
}

void Elementwise::add_input(const Operand& operand, DType slot, DType through) {
  require(inputs_ + 2 <= kMaxOperands, "an element-wise operator takes at most {} inputs", kMaxOperands - 1);
  Slot& s = slots_[++inputs_];
  s.slot = slot;
  s.slot_size = static_cast<int64_t>(size_of(slot));
  s.is_scalar = operand.is_scalar();
  if (!s.is_scalar) {
    s.convert = converter_or_fail(operand.tensor.dtype, slot, through);
    s.dense_as_slot = reads_as(operand.tensor.dtype, slot) && through == DType::kUndefined;
    const Dims& shape = slots_[0].tensor.shape;
    const Tensor& t = operand.tensor;
    // A number handed over as a one-element tensor broadcasts whatever its rank.
    const bool number = t.rank() > shape.size() && t.count() == 1;
    s.tensor = t.shape == shape ? t : expanded(number ? t.view({}, {}) : t, slots_[0].tensor);
    return;
  }
  s.convert = converter(slot, slot);
  set_constant(s, operand.scalar, through);
}

void Elementwise::set_constant(Slot& s, const Scalar& scalar, DType through) const {
  const DType slot = s.slot;
  if (is_complex(slot)) {
    const Complex128 value = scalar.to_complex();
    converter(DType::kComplex128, slot)(&value, 0, s.constant, 1, 1);
  } else if (slot == DType::kInt64) {
    const int64_t value = scalar.to_int();
    std::memcpy(s.constant, &value, sizeof(value));
  } else if (slot == DType::kBool) {
    s.constant[0] = static_cast<std::byte>(scalar.to_bool());
  } else {
    const double value = scalar.to_double();
    converter_or_fail(DType::kDouble, slot, through)(&value, 0, s.constant, 1, 1);
  }
}

void Elementwise::plan(BlockKernel kernel) {
  kernel_ = kernel;
  Dims strides[kMaxOperands];
  strides[0] = slots_[0].tensor.strides;
  for (size_t k = 1; k <= inputs_; ++k) {
    strides[k] = slots_[k].is_scalar ? Dims(slots_[0].tensor.rank(), 0) : slots_[k].tensor.strides;
  }
  loop_ = make_loop(slots_[0].tensor.shape, {strides, inputs_ + 1});
  count_ = loop_.count();
  int64_t widest = 1;
  for (size_t k = 0; k <= inputs_; ++k) {
    Slot& s = slots_[k];
    widest = std::max(widest, s.slot_size);
    const bool dense = !s.is_scalar && s.dense_as_slot && loop_.dense(k);
    s.mode = k > 0 && (s.is_scalar || loop_.constant(k)) ? Mode::kConstant
             : dense && s.tensor.data != nullptr         ? Mode::kDirect  // a sum's output has no memory
                                                         : Mode::kGathered;
  }
  meet();
  block_ = kBlockBytes / widest;
  by_rows_ = has(Mode::kGathered) && loop_.shape.size() > 1 && loop_.shape.back() >= kLongRow;
  find_turned();
  if (!has(Mode::kGathered)) block_ = has(Mode::kConstant) ? kConstantBlock : kGrain;
}

// The first axis along which a large input is stored, if that is not the innermost one.
void Elementwise::find_turned() {
  turned_ = 0, turned_axis_ = 0;
  if (!by_rows_) return;
  for (size_t axis = 0; axis + 1 < loop_.shape.size() && turned_ == 0; ++axis) {
    if (loop_.shape[axis] < kLongRow) continue;
    turned_axis_ = axis;
    for (size_t k = 1; k <= inputs_; ++k) {
      const Slot& s = slots_[k];
      if (s.mode != Mode::kGathered || loop_.strides[k][axis] != 1 || loop_.strides[k].back() == 0) continue;
      const auto size = static_cast<int64_t>(size_of(s.tensor.dtype));
      if (size <= 8 && s.tensor.span() * size >= kLeastTurned) turned_ |= 1u << k;
    }
  }
}

bool Elementwise::has(Mode mode) const {
  return std::any_of(slots_, slots_ + inputs_ + 1, [mode](const Slot& s) { return s.mode == mode; });
}

void Elementwise::meet() {
  for (size_t k = 1; k <= inputs_; ++k) copy_inputs_[k] = !slots_[k].is_scalar && overlaps_output(slots_[k].tensor);
}

// Elements of a part: even ones, so that two or four threads end together.
int64_t Elementwise::part() const {
  const int64_t parts = (count_ + kGrain - 1) / kGrain;
  const int64_t even = parts <= 2 ? parts : (parts + 3) / 4 * 4;
  // Multiples of 64, so that threads share no cache line of an aligned output.
  return (count_ / even + 64) / 64 * 64;
}

// An input that shares memory with the output but not position by position would be read after it was overwritten.
bool Elementwise::overlaps_output(const Tensor& tensor) const {
  const Tensor& out = slots_[0].tensor;
  const std::byte* a = tensor.bytes();
  const std::byte* b = out.bytes();
  // The same elements in place: each is read before it is written, in whatever order.
  if (a == b && tensor.dtype == out.dtype && tensor.strides == out.strides) return false;
  const int64_t a_bytes = tensor.span() * static_cast<int64_t>(size_of(tensor.dtype));
  const int64_t b_bytes = out.span() * static_cast<int64_t>(size_of(out.dtype));
  return a < b + b_bytes && b < a + a_bytes;
}

void Elementwise::run() const {
  if (count_ == 0) return;
  if (std::none_of(copy_inputs_, copy_inputs_ + inputs_ + 1, [](bool c) { return c; })) {
    if (turned_ != 0) {
      run_tiles();
    } else if (by_rows_) {
      const Loop rows = rows_of(loop_);
      parallel_for(rows.count(), std::max<int64_t>(1, part() / loop_.shape.back()),
                   [&](int64_t begin, int64_t end) { run_rows(rows, begin, end); });
    } else {
      parallel_for(count_, part(), [this](int64_t begin, int64_t end) { run_range(begin, end); });
    }
    return;
  }
  // Overlap is rare: work on copies of the inputs it concerns.
  Elementwise copy = *this;
  std::vector<std::vector<std::byte>> kept;
  for (size_t k = 1; k <= inputs_; ++k) {
    copy.copy_inputs_[k] = false;
    if (!copy_inputs_[k]) continue;
    Tensor& t = copy.slots_[k].tensor;
    const std::byte* first = t.bytes();
    kept.emplace_back(first, first + t.span() * static_cast<int64_t>(size_of(t.dtype)));
    t.data = kept.back().data();
    t.offset = 0;
  }
  copy.run();
}

// body(in, block, at, count) for every block of [begin, end), inputs gathered and converted; `block` has room for
// results that do not go to memory directly.
template <class F>
void Elementwise::each_block(int64_t begin, int64_t end, F&& body) const {
  Blocks blocks(slots_[0].tensor.bytes());
  const void* in[kMaxOperands];
  const int64_t step = std::min(block_, end - begin);
  fill_constants(step, blocks);
  for (size_t k = 1; k <= inputs_; ++k) in[k - 1] = blocks[k];
  for (int64_t at = begin; at < end; at += step) {
    const int64_t count = std::min(step, end - at);
    for (size_t k = 1; k <= inputs_; ++k) {
      const Slot& s = slots_[k];
      if (s.mode == Mode::kDirect) in[k - 1] = s.tensor.bytes() + at * s.slot_size;
      if (s.mode == Mode::kGathered) {
        gather(loop_, k, s.tensor.bytes(), static_cast<int64_t>(size_of(s.tensor.dtype)), at, count, s.convert,
               blocks[k], s.slot_size);
      }
    }
    body(in, blocks[0], at, count);
  }
}

void Elementwise::run_range(int64_t begin, int64_t end) const {
  const Slot& o = slots_[0];
  const bool direct = o.mode == Mode::kDirect;
  each_block(begin, end, [&](const void* const* in, std::byte* block, int64_t at, int64_t count) {
    kernel_(in, direct ? o.tensor.bytes() + at * o.slot_size : block, count);
    if (direct) return;
    scatter(loop_, 0, o.tensor.bytes(), static_cast<int64_t>(size_of(o.tensor.dtype)), at, count, o.convert, block,
            o.slot_size);
  });
}

// A stretch of a row: operand k begins at at[k], its elements are step[k] apart. What the kernel can read or write
// where it is stored is not copied.
void Elementwise::run_piece(std::byte* const* at, const int64_t* step, int64_t count, Blocks& blocks) const {
  const void* in[kMaxOperands];
  for (size_t k = 1; k <= inputs_; ++k) {
    const Slot& s = slots_[k];
    in[k - 1] = blocks[k];
    if (s.mode == Mode::kConstant) continue;
    if (s.dense_as_slot && step[k] == 1)
      in[k - 1] = at[k];
    else
      s.convert(at[k], step[k], blocks[k], 1, count);
  }
  const bool direct = slots_[0].dense_as_slot && step[0] == 1;
  kernel_(in, direct ? at[0] : blocks[0], count);
  if (!direct) slots_[0].convert(blocks[0], 1, at[0], step[0], count);
}

void Elementwise::fill_constants(int64_t count, Blocks& blocks) const {
  for (size_t k = 1; k <= inputs_; ++k) {
    const Slot& s = slots_[k];
    if (s.mode == Mode::kConstant) s.convert(s.is_scalar ? s.constant : s.tensor.bytes(), 0, blocks[k], 1, count);
  }
}

// Row by row: what lies side by side within a row is read where it is, as the bias of a layer under each of its rows.
// Rows that follow each other along one axis cost little more than their kernel: a processor then has several of them
// under way, which hides how far apart they lie in memory.
void Elementwise::run_rows(const Loop& rows, int64_t begin, int64_t end) const {
  Blocks blocks(slots_[0].tensor.bytes());
  const int64_t row = loop_.shape.back(), longest = std::min(block_, row);
  fill_constants(longest, blocks);
  std::byte *at[kMaxOperands], *from[kMaxOperands];
  int64_t size[kMaxOperands], step[kMaxOperands];
  bool apart[kMaxOperands];
  for (size_t k = 0; k <= inputs_; ++k) {
    const Slot& s = slots_[k];
    size[k] = s.is_scalar ? 0 : static_cast<int64_t>(size_of(s.tensor.dtype));
    step[k] = loop_.strides[k].back();
    apart[k] = !s.is_scalar && step[k] == 1 && std::llabs(rows.strides[k].back()) > row &&
               s.tensor.span() * size[k] >= kFarBytes;
  }
  LoopCursor cursor(rows, begin);
  for (int64_t left = end - begin; left > 0;) {
    const int64_t run = std::min(left, cursor.row_left());
    for (size_t k = 0; k <= inputs_; ++k)
      at[k] = slots_[k].is_scalar ? nullptr : slots_[k].tensor.bytes() + cursor.offset(k) * size[k];
    for (int64_t r = 0; r < run; ++r) {
      for (size_t k = 1; k <= inputs_; ++k) {
        if (apart[k]) fetch_row(at[k] + kRowsAhead * rows.strides[k].back() * size[k], row * size[k]);
      }
      for (int64_t first = 0; first < row; first += longest) {
        for (size_t k = 0; k <= inputs_; ++k) from[k] = at[k] + first * step[k] * size[k];
        run_piece(from, step, std::min(longest, row - first), blocks);
      }
      for (size_t k = 0; k <= inputs_; ++k) at[k] += rows.strides[k].back() * size[k];
    }
    left -= run;
    if (left > 0) cursor.advance(run);
  }
}

// Planes of the innermost axis and the one along which inputs are stored, cut into tiles. Each tile of such an input is
// transposed into a buffer in the first-level cache, whose rows then run as others do.
void Elementwise::run_tiles() const {
  Loop planes = loop_;
  const int64_t down = std::exchange(planes.shape[turned_axis_], 1), across = std::exchange(planes.shape.back(), 1);
  int64_t widest = 1;
  for (size_t k = 1; k <= inputs_; ++k) {
    if (is_turned(k)) widest = std::max(widest, static_cast<int64_t>(size_of(slots_[k].tensor.dtype)));
  }
  const int64_t height = std::min(kTileRows, down), width = std::min(kTileBytes / kTileRows / widest, across);
  const int64_t columns = divide_up(across, width), tiles = divide_up(down, height) * columns;
  parallel_for(planes.count() * tiles, std::max<int64_t>(1, part() / (height * width)),
               [&](int64_t begin, int64_t end) {
                 Blocks blocks(slots_[0].tensor.bytes());
                 fill_constants(width, blocks);
                 const Scratch<std::byte> room(static_cast<int64_t>(std::popcount(turned_)) * kTileBytes);
                 LoopCursor plane(planes, begin / tiles);
                 for (int64_t i = begin; i < end; ++i) {
                   if (i > begin && i % tiles == 0) plane.advance(1);
                   const int64_t row = i % tiles / columns * height, column = i % columns * width;
                   run_tile(plane, {row, std::min(height, down - row), column, std::min(width, across - column)},
                            room.data(), blocks);
                 }
               });
}

void Elementwise::run_tile(const LoopCursor& plane, const Tile& tile, std::byte* room, Blocks& blocks) const {
  std::byte* at[kMaxOperands];
  int64_t step[kMaxOperands], row_bytes[kMaxOperands];
  for (size_t k = 0; k <= inputs_; ++k) {
    const Slot& s = slots_[k];
    if (s.is_scalar) {
      at[k] = nullptr, step[k] = row_bytes[k] = 0;
      continue;
    }
    const auto size = static_cast<int64_t>(size_of(s.tensor.dtype));
    const int64_t down = loop_.strides[k][turned_axis_], across = loop_.strides[k].back();
    at[k] = s.tensor.bytes() + (plane.offset(k) + tile.row * down + tile.column * across) * size;
    step[k] = across, row_bytes[k] = down * size;
    if (!is_turned(k)) continue;
    transpose(at[k], across, tile.columns, tile.rows, size, room, tile.columns);
    at[k] = room, step[k] = 1, row_bytes[k] = tile.columns * size;
    room += kTileBytes;
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    run_piece(at, step, tile.columns, blocks);
    for (size_t k = 0; k <= inputs_; ++k) at[k] += row_bytes[k];
  }
}

double Elementwise::sum_range(int64_t begin, int64_t end) const {
  double total = 0;
  each_block(begin, end, [&](const void* const* in, std::byte* block, int64_t, int64_t count) {
    kernel_(in, block, count);
    if (slots_[0].slot == DType::kDouble)
      total += block_sum(reinterpret_cast<const double*>(block), count);
    else
      total += block_sum(reinterpret_cast<const float*>(block), count);
  });
  return total;
}

double Elementwise::sum() const {
  std::vector<double> partial(static_cast<size_t>((count_ + kGrain - 1) / kGrain));
  parallel_for(count_, kGrain, [&](int64_t begin, int64_t end) {
    partial[static_cast<size_t>(begin / kGrain)] = sum_range(begin, end);
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace npu::ops
