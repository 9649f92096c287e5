// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/blocked.h"

#include <algorithm>
#include <cstring>

#include "base/division.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "device/memory/memory.h"

namespace npu::ops {
namespace {

// The same for every dtype: a row of a block holds 16 halves, 8 floats or 32 bytes.
constexpr int64_t kBlockRows = 16;
constexpr int64_t kRowBytes = 32;

/// One weight: `count` matrices of rows x row_bytes, of which `piece` bytes stand in a row of a block.
struct Layout {
  int64_t count, rows, row_bytes, piece;
  int64_t padded_rows() const { return round_up(rows, kBlockRows); }
  int64_t blocked_bytes() const { return padded_rows() * round_up(row_bytes, piece); }
};

Layout layout_of(const Dims& shape, DType dtype, int32_t format = kBlockedFormat) {
  const size_t rank = shape.size();
  const auto size = static_cast<int64_t>(size_of(dtype));
  const int64_t width = format >> 16;
  return {count_of(Dims(std::span(shape.data(), rank - 2))), shape[rank - 2], shape[rank - 1] * size,
          width == 0 ? kRowBytes : width * size};
}

/// Calls body(at, blocked, bytes) for each piece of a row that lies in one block: where it lies in either layout.
/// One walk for both directions, so that packing and reading cannot disagree about the layout.
template <class F>
void each_piece(const Layout& layout, F&& body) {
  parallel_for(layout.count * layout.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(layout.row_bytes, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t matrix = i / layout.rows, row = i % layout.rows;
                   for (int64_t at = 0; at < layout.row_bytes; at += layout.piece) {
                     body(i * layout.row_bytes + at,
                          matrix * layout.blocked_bytes() + at * layout.padded_rows() + row * layout.piece,
                          std::min(layout.piece, layout.row_bytes - at));
                   }
                 }
               });
}

}  // namespace

int64_t blocked_elements(const Dims& shape, DType dtype) {
  require(dtype == DType::kHalf || dtype == DType::kBFloat16 || dtype == DType::kFloat || dtype == DType::kInt8,
          "weights of {} have no blocked layout; use float16, bfloat16, float32 or int8", dtype);
  require(shape.size() >= 2, "the weight is {}; a matrix has 2 dimensions", shape);
  const Layout layout = layout_of(shape, dtype);
  return layout.count * layout.blocked_bytes() / static_cast<int64_t>(size_of(dtype));
}

BlockSteps block_steps(const Dims& shape, DType dtype, int32_t format) {
  const Layout layout = layout_of(shape, dtype, format);
  const int64_t width = layout.piece / static_cast<int64_t>(size_of(dtype));
  return {width, layout.padded_rows() * width};
}

int64_t blocked_bytes(const Tensor& blocked) {
  const Layout layout = layout_of(blocked.shape, blocked.dtype, blocked.format);
  return layout.count * layout.blocked_bytes();
}

void check_room(const void* data, int64_t bytes, const char* name) {
  if (!device::is_device_address(data)) return;  // what tests compute on, and kernels' own addresses
  // A weight too small for its layout is a wrong argument to the caller of phase 1, whatever the memory itself calls
  // it.
  try {
    device::check_live(data, static_cast<size_t>(bytes), device::kAnyDevice, name);
  } catch (const Error& error) {
    throw Error(Code::kNnInvalidParam, error.message(), error.place());
  }
}

void pack(const std::byte* plain, const Tensor& blocked) {
  const Layout layout = layout_of(blocked.shape, blocked.dtype, blocked.format);
  std::memset(blocked.bytes(), 0, static_cast<size_t>(layout.count * layout.blocked_bytes()));
  each_piece(layout, [&](int64_t at, int64_t to, int64_t size) {
    std::memcpy(blocked.bytes() + to, plain + at, static_cast<size_t>(size));
  });
}

void unpack(const Tensor& blocked, std::byte* plain) {
  each_piece(layout_of(blocked.shape, blocked.dtype, blocked.format), [&](int64_t at, int64_t from, int64_t size) {
    std::memcpy(plain + at, blocked.bytes() + from, static_cast<size_t>(size));
  });
}

void block(const Tensor& weight) {
  const int64_t bytes = bytes_of(weight);
  // Through a copy: in place, a block would overwrite rows that are still to be read.
  const Scratch<std::byte> plain(bytes);
  std::memcpy(plain, weight.bytes(), static_cast<size_t>(bytes));
  pack(plain, weight);
}

void PlainWeight::plan(const Tensor& weight, const char* name) {
  rows_first_ = {};
  if (!is_blocked(weight.format)) return;
  const size_t rank = weight.rank();
  require(rank >= 2, "{} is {} in ACL_FORMAT_FRACTAL_NZ; a weight in that layout is a matrix", name, weight);
  // Strides of a blocked weight are those of the plain one: they say whether it is seen transposed, and nothing else.
  const Tensor turned = weight.transposed(rank - 2, rank - 1);
  const Tensor& base = weight.contiguous() ? weight : turned;
  require(base.contiguous() && weight.offset == 0,
          "{} is {} in ACL_FORMAT_FRACTAL_NZ, strides {}, offset {}: only a whole weight and its transpose can be read "
          "in that layout",
          name, weight, weight.strides, weight.offset);
  blocked_elements(base.shape, weight.dtype);
  const Layout layout = layout_of(base.shape, weight.dtype, weight.format);
  check_room(weight.data, layout.count * layout.blocked_bytes(), name);
  rows_first_ = base.shape;
}

Tensor PlainWeight::of(const Tensor& weight, Scratch<std::byte>& room, bool reads_blocks) const {
  if (rows_first_.empty() || reads_blocks) return weight;
  Tensor base = weight, out = weight;
  base.shape = rows_first_;
  // Made plain with each run: the weight's elements may have changed since the last.
  std::byte* plain = room.at_least(bytes_of(base));
  unpack(base, plain);
  out.data = plain;
  return out;
}

}  // namespace npu::ops
