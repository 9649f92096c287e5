// SPDX-License-Identifier: Apache-2.0
// Channels are read the way they lie: one by one where a channel's elements are neighbours, side by side where channels
// are. Parts follow from sizes and strides alone; only few and long channels are cut into chunks, whose sums are joined
// in order before any element is written.
#include "ops/norm/channels.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int64_t kRun = 4096;       // elements of one channel handed to a kernel at a time
constexpr int64_t kPart = 1 << 15;   // elements worth a parallel part
constexpr int64_t kManyGroups = 16;  // from here on groups alone are enough parts
constexpr int64_t kMaxChunks = 64;

}  // namespace

void Channels::plan(const Tensor& x, const Tensor* g, const Tensor* out, size_t axis, DType slot) {
  kernel_ = &channel_kernel(slot);
  slot_size_ = static_cast<int64_t>(size_of(slot));
  channels_ = x.shape[axis];
  const Tensor* tensors[3] = {&x, g, out};
  Dims shape = x.shape, strides[3];
  shape.erase(axis);
  for (size_t k = 0; k < 3; ++k) {
    Side& s = sides_[k];
    s = Side{};
    // Absent sides take part in the loop with strides of 0, which decide no order and break no run.
    strides[k] = Dims(shape.size(), 0);
    if (tensors[k] == nullptr) continue;
    s.tensor = *tensors[k];
    require(s.tensor.shape == x.shape, "self is {}, the other tensor is {}: the shapes must be the same", x, s.tensor);
    s.convert = k == 2 ? converter(slot, s.tensor.dtype) : converter(s.tensor.dtype, slot);
    require(s.convert != nullptr, "{} cannot be normalised in {}; use a floating type", s.tensor, slot);
    s.size = static_cast<int64_t>(size_of(s.tensor.dtype));
    s.stride = s.tensor.strides[axis];
    s.same = s.tensor.dtype == slot;
    strides[k] = s.tensor.strides;
    strides[k].erase(axis);
  }
  rest_ = make_loop(shape, {strides, 3});
  // The first input decides for all three sides; one that lies otherwise is staged.
  by_columns_ = sides_[0].stride == 1 && channels_ > 1 && rest_.strides[0].back() != 1;
  plan_parts();
}

void Channels::plan_parts() {
  const int64_t samples = std::max<int64_t>(1, rest_.count());
  // Small planes of neighbouring channels lie side by side in memory: one part takes enough of them to read whole
  // pages.
  group_ = by_columns_ ? std::min(channels_, kChannelTile)
                       : std::max<int64_t>(1, 1024 / std::max<int64_t>(1, rest_.shape.back()));
  group_ = std::max<int64_t>(1, std::min(group_, channels_));
  groups_ = (channels_ + group_ - 1) / group_;
  const int64_t wanted = groups_ >= kManyGroups ? 1 : group_ * samples / kPart;
  chunks_ = std::clamp<int64_t>(wanted, 1, kMaxChunks);
  chunk_ = (samples + chunks_ - 1) / chunks_;
  // Column kernels take kRowTile rows; chunks that end between two tiles would only make slow remainders.
  if (by_columns_) chunk_ = (chunk_ + kRowTile - 1) / kRowTile * kRowTile;
  chunks_ = (samples + chunk_ - 1) / chunk_;
}

Channels::Range Channels::range(int64_t part) const {
  const int64_t group = part / chunks_ * group_;
  const int64_t begin = part % chunks_ * chunk_;
  return {group, std::min(group + group_, channels_), begin, std::min(begin + chunk_, rest_.count())};
}

// --- rows ---------------------------------------------------------------------------------------------------------

// body(cursor, channel, position, n) for runs of n <= kRun elements; all channels of the range at each position.
template <class F>
void Channels::each_row(const Range& r, F&& body) const {
  if (r.begin >= r.end) return;
  LoopCursor at(rest_, r.begin);
  for (int64_t position = r.begin;;) {
    const int64_t n = std::min({kRun, at.row_left(), r.end - position});
    // Channels inside, positions outside: neighbouring planes of one sample are read before the next sample's, far
    // away.
    for (int64_t c = r.channel; c < r.channel_end; ++c) body(at, c, position, n);
    position += n;
    if (position >= r.end) return;
    at.advance(n);
  }
}

/// A run of one channel as kernels want it: where it lies, or converted into staged[k].
const std::byte* Channels::row(size_t k, const LoopCursor& at, int64_t channel, int64_t n, Staged& staged) const {
  const Side& s = sides_[k];
  const std::byte* first = s.tensor.bytes() + (at.offset(k) + channel * s.stride) * s.size;
  const int64_t stride = rest_.strides[k].back();
  if (s.same && (stride == 1 || n == 1)) return first;
  std::byte* buffer = staged[k].at_least(kRun * slot_size_);
  s.convert(first, stride, buffer, 1, n);
  return buffer;
}

void Channels::sum_rows(const Range& r, Sums sums, const double* center, ChannelSums* into) const {
  Staged staged;
  each_row(r, [&](const LoopCursor& at, int64_t c, int64_t position, int64_t n) {
    const std::byte* x = row(0, at, c, n, staged);
    ChannelSums* mine = into + (c - r.channel);
    if (sums == Sums::kMoments)
      kernel_->moments_row(x, n, position - r.begin, mine);
    else
      kernel_->products_row(row(1, at, c, n, staged), x, n, center[c], mine);
  });
}

void Channels::map_rows(const Range& r, Map what, const ChannelMap& map) const {
  const Side& o = sides_[2];
  const int64_t stride = rest_.strides[2].back();
  Staged staged;
  each_row(r, [&](const LoopCursor& at, int64_t c, int64_t, int64_t n) {
    std::byte* first = o.tensor.bytes() + (at.offset(2) + c * o.stride) * o.size;
    const bool direct = o.same && (stride == 1 || n == 1);
    std::byte* out = direct ? first : staged[2].at_least(kRun * slot_size_);
    const std::byte* x = row(0, at, c, n, staged);
    if (what == Map::kAffine)
      kernel_->affine_row(x, out, n, map, c);
    else
      kernel_->gradient_row(row(1, at, c, n, staged), x, out, n, map, c);
    if (!direct) o.convert(out, 1, first, stride, n);
  });
}

// --- columns ------------------------------------------------------------------------------------------------------

// body(cursor, channel, position, rows, width) for blocks of at most kRowTile rows and kChannelTile channels.
template <class F>
void Channels::each_block(const Range& r, F&& body) const {
  if (r.begin >= r.end) return;
  LoopCursor at(rest_, r.begin);
  for (int64_t position = r.begin;;) {
    const int64_t rows = std::min({kRowTile, at.row_left(), r.end - position});
    for (int64_t c = r.channel; c < r.channel_end; c += kChannelTile) {
      body(at, c, position, rows, std::min(kChannelTile, r.channel_end - c));
    }
    position += rows;
    if (position >= r.end) return;
    at.advance(rows);
  }
}

/// The same for a block; `step` receives the distance of its rows.
const std::byte* Channels::block(size_t k, const LoopCursor& at, int64_t channel, int64_t rows, int64_t width,
                                 int64_t* step, Staged& staged) const {
  const Side& s = sides_[k];
  const std::byte* first = s.tensor.bytes() + (at.offset(k) + channel * s.stride) * s.size;
  *step = rest_.strides[k].back();
  if (s.same && s.stride == 1) return first;
  std::byte* buffer = staged[k].at_least(rows * width * slot_size_);
  for (int64_t i = 0; i < rows; ++i) {
    s.convert(first + i * *step * s.size, s.stride, buffer + i * width * slot_size_, 1, width);
  }
  *step = width;
  return buffer;
}

void Channels::sum_columns(const Range& r, Sums sums, const double* center, ChannelSums* into) const {
  Staged staged;
  each_block(r, [&](const LoopCursor& at, int64_t c, int64_t position, int64_t rows, int64_t width) {
    ChannelBlock b{};
    b.rows = rows;
    b.width = width;
    b.x = block(0, at, c, rows, width, &b.x_step, staged);
    ChannelSums* mine = into + (c - r.channel);
    if (sums == Sums::kMoments) {
      kernel_->moments_columns(b, position - r.begin, mine);
      return;
    }
    b.g = block(1, at, c, rows, width, &b.g_step, staged);
    kernel_->products_columns(b, center + c, mine);
  });
}

void Channels::map_columns(const Range& r, Map what, const ChannelMap& map) const {
  const Side& o = sides_[2];
  const bool direct = o.same && o.stride == 1;
  const int64_t stride = rest_.strides[2].back();
  Staged staged;
  each_block(r, [&](const LoopCursor& at, int64_t c, int64_t, int64_t rows, int64_t width) {
    std::byte* first = o.tensor.bytes() + (at.offset(2) + c * o.stride) * o.size;
    ChannelBlock b{};
    b.rows = rows;
    b.width = width;
    b.x = block(0, at, c, rows, width, &b.x_step, staged);
    b.out = direct ? first : staged[2].at_least(rows * width * slot_size_);
    b.out_step = direct ? stride : width;
    const ChannelMap here{map.center + c, map.scale + c, map.shift + c, map.slope == nullptr ? nullptr : map.slope + c};
    if (what == Map::kAffine) {
      kernel_->affine_columns(b, here);
    } else {
      b.g = block(1, at, c, rows, width, &b.g_step, staged);
      kernel_->gradient_columns(b, here);
    }
    for (int64_t i = 0; !direct && i < rows; ++i) {
      o.convert(static_cast<std::byte*>(b.out) + i * width * slot_size_, 1, first + i * stride * o.size, o.stride,
                width);
    }
  });
}

// --- parts --------------------------------------------------------------------------------------------------------

void Channels::sum(const Range& r, Sums sums, const double* center, ChannelSums* into) const {
  if (by_columns_)
    sum_columns(r, sums, center, into);
  else
    sum_rows(r, sums, center, into);
}

void Channels::map(const Range& r, Map what, const ChannelMap& map) const {
  if (what == Map::kNone) return;
  if (by_columns_)
    map_columns(r, what, map);
  else
    map_rows(r, what, map);
}

// Joins the chunks of a group into its first one, in order.
void Channels::join(int64_t group, Sums sums, ChannelSums* partial) const {
  ChannelSums* total = partial + group * chunks_ * group_;
  for (int64_t k = 1; k < chunks_; ++k) {
    const Range r = range(group * chunks_ + k);
    const ChannelSums* next = total + k * group_;
    for (int64_t c = 0; c < group_; ++c) {
      if (sums == Sums::kMoments) {
        total[c] = join_moments(total[c], r.begin, next[c], r.end - r.begin);
      } else {
        total[c].first += next[c].first;
        total[c].second += next[c].second;
      }
    }
  }
}

void Channels::run(Sums sums, const Finish& finish, Map what, const ChannelMap& coefficients) const {
  const int64_t parts = groups_ * chunks_;
  if (sums == Sums::kNone) {
    if (rest_.count() > 0) parallel_parts(parts, [&](int64_t part) { map(range(part), what, coefficients); });
    return;
  }
  std::vector<ChannelSums> partial(static_cast<size_t>(parts * group_));
  const auto complete = [&](int64_t group) {
    const Range r = range(group * chunks_);
    finish(r.channel, r.channel_end, partial.data() + group * chunks_ * group_);
  };
  // Sums, coefficients and map of a group in one part: small groups are still in cache when the map reads them again.
  if (chunks_ == 1) {
    parallel_parts(groups_, [&](int64_t group) {
      sum(range(group), sums, coefficients.center, partial.data() + group * group_);
      complete(group);
      map(range(group), what, coefficients);
    });
    return;
  }
  parallel_parts(parts,
                 [&](int64_t part) { sum(range(part), sums, coefficients.center, partial.data() + part * group_); });
  // In one thread: these are a few numbers a channel.
  for (int64_t group = 0; group < groups_; ++group) {
    join(group, sums, partial.data());
    complete(group);
  }
  parallel_parts(parts, [&](int64_t part) { map(range(part), what, coefficients); });
}

}  // namespace npu::ops
