// SPDX-License-Identifier: Apache-2.0
// Offsets are worked out first, all of them, so that a bad index is found before anything is written. Then one walk in
// row-major order of the plain side moves or combines, and where two writes meet their order is that of the walk, for
// any number of threads.
#include "ops/index/indexed.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/thread_pool.h"
#include "base/wrap.h"
#include "ops/vector/conversion/stored.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 512;      // elements converted at a time
constexpr int64_t kGrain = 1 << 14;  // positions of a parallel part
constexpr int64_t kParts = 64;       // at most so many parts of a scatter

/// An element of 16 bytes that is only moved.
struct Bytes16 {
  uint64_t a, b;
};

// Moves know elements by their size alone: one kernel serves every dtype of it.
template <class U>
void gather_run(const IndexedMove::Run& r) {
  auto* to = reinterpret_cast<U*>(r.plain);
  const auto* from = reinterpret_cast<const U*>(r.indexed);
  // One offset for the run: a whole slice is read, and a dense one is a plain copy.
  if (r.offset_stride == 0) {
    from += *r.offsets;
    if (r.plain_stride == 1 && r.indexed_stride == 1) {
      std::memmove(to, from, static_cast<size_t>(r.count) * sizeof(U));
      return;
    }
    for (int64_t i = 0; i < r.count; ++i) to[i * r.plain_stride] = from[i * r.indexed_stride];
    return;
  }
  for (int64_t i = 0; i < r.count; ++i) {
    to[i * r.plain_stride] = from[i * r.indexed_stride + r.offsets[i * r.offset_stride]];
  }
}

// In order, so that the last of several writes to one place wins, as in a loop over the source.
template <class U>
void put_run(const IndexedMove::Run& r) {
  const auto* from = reinterpret_cast<const U*>(r.plain);
  auto* to = reinterpret_cast<U*>(r.indexed);
  for (int64_t i = 0; i < r.count; ++i) {
    to[i * r.indexed_stride + r.offsets[i * r.offset_stride]] = from[i * r.plain_stride];
  }
}

// A place may be hit more than once: only runs with one offset, whose places differ, become vector code.
template <class T, class F>
void combine_run(const IndexedMove::Run& r) {
  const auto* from = reinterpret_cast<const Stored<T>*>(r.plain);
  auto* to = reinterpret_cast<Stored<T>*>(r.indexed);
  if (r.offset_stride == 0 && r.indexed_stride == 1 && r.plain_stride == 1) {
    to += *r.offsets;
#pragma GCC ivdep
    for (int64_t i = 0; i < r.count; ++i) to[i] = F::of(value_of<T>(to[i]), value_of<T>(from[i]));
    return;
  }
  for (int64_t i = 0; i < r.count; ++i) {
    Stored<T>& place = to[i * r.indexed_stride + r.offsets[i * r.offset_stride]];
    place = F::of(value_of<T>(place), value_of<T>(from[i * r.plain_stride]));
  }
}

template <class T>
constexpr bool is_ordered = !std::is_same_v<T, Complex64> && !std::is_same_v<T, Complex128>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrap_add(a, b);
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return wrap_multiply(a, b);
  }
};
struct Divide {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      // The quotient of the lowest number and -1 does not exist; the processor would trap.
      T negative = 0;  // the lowest number has no opposite; it stays
      (void)__builtin_sub_overflow(T(0), a, &negative);
      if (b == static_cast<T>(-1)) return std::is_signed_v<T> ? negative : static_cast<T>(a / b);
      return b == T(0) ? T(0) : static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};
// A NaN stays once it is there, and wins as a newcomer, since it compares false.
struct Maximum {
  template <class T>
  static T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

template <class T>
IndexedMove::Kernel combine_kernel(IndexedMode mode) {
  // Rounding to half after every addition would lose the sum: callers combine in float32 and convert once.
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return nullptr;
  } else {
    if (mode == IndexedMode::kAdd) return &combine_run<T, Add>;
    if (mode == IndexedMode::kMultiply) return &combine_run<T, Multiply>;
    if (mode == IndexedMode::kDivide) return &combine_run<T, Divide>;
    if constexpr (is_ordered<T>) {
      if (mode == IndexedMode::kMaximum) return &combine_run<T, Maximum>;
      return &combine_run<T, Minimum>;
    }
    return nullptr;
  }
}

template <class T>
void scale_block(void* block, int64_t count, const Scalar& alpha) {
  auto* x = static_cast<T*>(block);
  // Of truth values, a factor is and.
  if constexpr (std::is_same_v<T, bool>) {
    for (int64_t i = 0; i < count; ++i) x[i] = x[i] && alpha.to_bool();
  } else if constexpr (!is_ordered<T>) {
    const T factor(alpha.to_complex());
    for (int64_t i = 0; i < count; ++i) x[i] *= factor;
  } else {
    const T factor = std::is_floating_point_v<T> ? static_cast<T>(alpha.to_double()) : static_cast<T>(alpha.to_int());
    for (int64_t i = 0; i < count; ++i) x[i] = wrap_multiply(x[i], factor);
  }
}

template <class U>
IndexedMove::Kernel move_kernel(IndexedMode mode) {
  return mode == IndexedMode::kGather ? &gather_run<U> : &put_run<U>;
}

IndexedMove::Kernel kernel_for(IndexedMode mode, DType dtype) {
  if (mode != IndexedMode::kGather && mode != IndexedMode::kPut) {
    IndexedMove::Kernel kernel = nullptr;
    visit_dtype(dtype, [&](auto t) { kernel = combine_kernel<decltype(t)>(mode); });
    return kernel;
  }
  switch (size_of(dtype)) {
    case 1: return move_kernel<uint8_t>(mode);
    case 2: return move_kernel<uint16_t>(mode);
    case 4: return move_kernel<uint32_t>(mode);
    case 8: return move_kernel<uint64_t>(mode);
    case 16: return move_kernel<Bytes16>(mode);
    default: return nullptr;
  }
}

}  // namespace

void IndexOffsets::plan(const Dims& shape, std::vector<IndexAxis> axes) {
  shape_ = shape;
  axes_ = std::move(axes);
  for (IndexAxis& axis : axes_) {
    require(is_integer(axis.index.dtype), "{} is {}; an index is an integer tensor", axis.name, axis.index);
    // Index tensors broadcast: a repeated axis has stride 0 and is read again.
    axis.index = axis.index.expanded(shape);
  }
}

// Adds one tensor's offsets to [begin, end); returns the first bad position, or `end`.
int64_t IndexOffsets::add(const IndexAxis& axis, int64_t begin, int64_t end, int64_t* offsets) const {
  const Loop loop = make_ordered_loop(shape_, {&axis.index.strides, 1});
  const Convert load = converter(axis.index.dtype, DType::kInt64);
  const auto size = static_cast<int64_t>(size_of(axis.index.dtype));
  // Indices of any integer dtype and stride become int64 a block at a time, on the stack.
  int64_t block[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    gather(loop, 0, axis.index.bytes(), size, at, n, load, reinterpret_cast<std::byte*>(block), 8);
    for (int64_t i = 0; i < n; ++i) {
      int64_t value = block[i];
      if (axis.negative && value < 0) value += axis.size;
      // Unsigned, so that one comparison catches both ends.
      if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(axis.size)) [[unlikely]]
        return at + i;
      offsets[at + i] += value * axis.stride;
    }
  }
  return end;
}

// Offsets are worked out before anything is written: a bad index leaves the output as it was. The first bad position
// is named whatever part finds its own first.
std::vector<int64_t> IndexOffsets::read() const {
  std::vector<int64_t> offsets(static_cast<size_t>(count_of(shape_)));
  for (const IndexAxis& axis : axes_) {
    std::atomic<int64_t> bad{std::numeric_limits<int64_t>::max()};
    parallel_for(count_of(shape_), kGrain, [&](int64_t begin, int64_t end) {
      const int64_t at = add(axis, begin, end, offsets.data());
      // The least bad position stays, whatever order the parts come in: the text is the same for any number of threads.
      int64_t known = bad.load();
      while (at < end && at < known && !bad.compare_exchange_weak(known, at)) {
      }
    });
    const int64_t at = bad.load();
    if (at == std::numeric_limits<int64_t>::max()) continue;
    const Loop loop = make_ordered_loop(shape_, {&axis.index.strides, 1});
    int64_t value = 0;
    gather(loop, 0, axis.index.bytes(), static_cast<int64_t>(size_of(axis.index.dtype)), at, 1,
           converter(axis.index.dtype, DType::kInt64), reinterpret_cast<std::byte*>(&value), 8);
    fail(Code::kNnInvalidParam, "{} holds {} at position {} (row-major); this dimension takes {} to {}", axis.name,
         value, at, axis.negative ? -axis.size : 0, axis.size - 1);
  }
  return offsets;
}

void IndexedMove::plan(IndexedMode mode, const Tensor& plain, const Tensor& indexed, const Dims& offset_shape,
                       size_t offset_axis) {
  mode_ = mode;
  plain_ = plain;
  indexed_ = indexed;
  const bool moves = mode == IndexedMode::kGather || mode == IndexedMode::kPut;
  require(!moves || plain.dtype == indexed.dtype, "{} and {} have different dtypes; cast one of them", plain, indexed);
  // Halves have no combining kernel: callers bring a float32 buffer.
  kernel_ = kernel_for(mode, indexed.dtype);
  require(kernel_ != nullptr, "{} cannot be combined by index; cast it first", indexed);
  load_ = moves || plain.dtype == indexed.dtype ? nullptr : converter(plain.dtype, indexed.dtype);
  require(moves || plain.dtype == indexed.dtype || load_ != nullptr, "no kernel converts {} to {}", plain.dtype,
          indexed.dtype);
  Dims strides[3] = {plain.strides, indexed.strides, Dims(plain.rank(), 0)};
  const Dims offset_strides = contiguous_strides(offset_shape);
  for (size_t i = 0; i < offset_shape.size(); ++i) strides[2][offset_axis + i] = offset_strides[i];
  // Ordered: the loop keeps the plain side's row-major order, which is what decides among writes to one place.
  loop_ = make_ordered_loop(plain.shape, strides);
}

void IndexedMove::scale(const Scalar& alpha) {
  scale_ = nullptr;
  if (!alpha.defined() || alpha.to_complex() == Complex128(1)) return;
  alpha_ = alpha;
  load_ = converter(plain_.dtype, indexed_.dtype);
  visit_dtype(indexed_.dtype, [this](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>) scale_ = &scale_block<T>;
  });
}

// Writes at different positions of this axis never meet, so it can be shared out; kMaxRank when there is none.
size_t IndexedMove::split_axis() const {
  size_t best = kMaxRank;
  for (size_t axis = 0; axis < loop_.shape.size(); ++axis) {
    // Stride 0 marks what an index decides: there two positions may be one place.
    if (loop_.strides[1][axis] == 0 || loop_.shape[axis] < 2) continue;
    if (best == kMaxRank || loop_.shape[axis] > loop_.shape[best]) best = axis;
  }
  return best;
}

// A gather is cut anywhere. Writes are cut along an axis where parts own disjoint places, so that each place sees its
// writes in the order of the source.
void IndexedMove::run(const std::vector<int64_t>& offsets, std::byte* indexed_base) const {
  std::byte* indexed = indexed_base != nullptr ? indexed_base : indexed_.bytes();
  const int64_t count = loop_.count();
  if (count == 0) return;
  if (mode_ == IndexedMode::kGather) {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      run_part(loop_, plain_.bytes(), indexed, offsets.data(), begin, end);
    });
    return;
  }
  const size_t axis = split_axis();
  // No such axis, or little work: one thread keeps the order by itself.
  if (axis == kMaxRank || count < 2 * kGrain) return run_part(loop_, plain_.bytes(), indexed, offsets.data(), 0, count);
  const int64_t size = loop_.shape[axis];
  // Rows are not cut into slivers.
  const int64_t pieces = loop_.strides[1][axis] == 1 ? std::clamp<int64_t>(size / 64, 1, 8) : std::min(kParts, size);
  const int64_t parts = std::min(pieces, count / kGrain);
  const auto plain_size = static_cast<int64_t>(size_of(plain_.dtype));
  const auto indexed_size = static_cast<int64_t>(size_of(indexed_.dtype));
  parallel_parts(parts, [&](int64_t part) {
    // Each part walks its stretch of the axis and everything of the other axes, so the order at each place stays.
    const int64_t begin = size * part / parts;
    Loop loop = loop_;
    loop.shape[axis] = size * (part + 1) / parts - begin;
    run_part(loop, plain_.bytes() + begin * loop_.strides[0][axis] * plain_size,
             indexed + begin * loop_.strides[1][axis] * indexed_size, offsets.data() + begin * loop_.strides[2][axis],
             0, loop.count());
  });
}

void IndexedMove::run_part(const Loop& loop, std::byte* plain, std::byte* indexed, const int64_t* offsets,
                           int64_t begin, int64_t end) const {
  alignas(64) std::byte block[kBlock * 16];  // NOLINT: filled by the conversion
  const auto plain_size = static_cast<int64_t>(size_of(plain_.dtype));
  const auto indexed_size = static_cast<int64_t>(size_of(indexed_.dtype));
  LoopCursor at(loop, begin);
  for (int64_t done = begin; done < end;) {
    int64_t n = std::min(end - done, at.row_left());
    std::byte* from = plain + at.offset(0) * plain_size;
    Run run{indexed + at.offset(1) * indexed_size,
            loop.strides[1].back(),
            offsets + at.offset(2),
            loop.strides[2].back(),
            from,
            loop.strides[0].back(),
            n};
    // Converted on the way, a block at a time; the kernel then reads the block.
    if (load_ != nullptr) {
      n = run.count = std::min(n, kBlock);
      load_(from, loop.strides[0].back(), block, 1, n);
      if (scale_ != nullptr) scale_(block, n, alpha_);
      run.plain = block;
      run.plain_stride = 1;
    }
    kernel_(run);
    done += n;
    if (done < end) at.advance(n);
  }
}

Tensor replace_axis(const Tensor& self, size_t axis, const Dims& index_shape) {
  Tensor out = self;
  if (self.rank() > 0) {
    out.shape.erase(axis);
    out.strides.erase(axis);
  }
  for (size_t i = 0; i < index_shape.size(); ++i) {
    out.shape.insert(axis + i, index_shape[i]);
    out.strides.insert(axis + i, 0);
  }
  return out;
}

}  // namespace npu::ops
