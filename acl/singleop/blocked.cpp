// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/blocked.h"

#include <algorithm>

#include "acl/include/acl/acl_base.h"
#include "base/error.h"

namespace npu::acl {
namespace {

/// Which axes of the memory hold an axis of the plain tensor. `split` is the one that blocks are cut from: its blocks
/// are numbered along `strides[split]`, their elements lie side by side.
struct Layout {
  size_t split = 1;
  std::vector<int64_t> strides;
  int64_t block = 1;  ///< elements of one
};

struct Format {
  int32_t number;
  size_t rank;   ///< of the plain tensor; 0: two or more
  size_t added;  ///< axes that the memory has more
  Layout (*layout)(const Dims& plain, const Dims& strides);
};

// Memory [N, C1, H, W, C0].
Layout by_channels(const Dims&, const Dims& s) { return {1, {s[0], s[1], s[2], s[3]}}; }
// Memory [N, D, C1, H, W, C0].
Layout by_channels_of_depth(const Dims&, const Dims& s) { return {1, {s[0], s[2], s[1], s[3], s[4]}}; }
// Memory [C1 H W, N1, N0, C0]: the filters of one place lie one after another, whatever block of N they are in.
Layout by_filters(const Dims& x, const Dims& s) { return {1, {s[2], x[2] * x[3] * s[0], x[3] * s[0], s[0]}}; }
// Memory [D C1 H W, N1, N0, C0].
Layout by_filters_of_depth(const Dims& x, const Dims& s) {
  const int64_t plane = x[3] * x[4] * s[0], blocks = (x[1] + s[2] - 1) / s[2];
  return {1, {s[2], plane, blocks * plane, x[4] * s[0], s[0]}};
}
// Memory [..., N1, M1, M0, N0]: rows lie one after another, whatever block of M they are in.
Layout by_columns(const Dims& x, const Dims& s) {
  Layout layout{x.size() - 1, {}};
  for (size_t i = 0; i + 2 < x.size(); ++i) layout.strides.push_back(s[i]);
  layout.strides.insert(layout.strides.end(), {s[s.size() - 2], s[x.size() - 2]});
  return layout;
}

constexpr Format kFormats[] = {
    {ACL_FORMAT_NC1HWC0, 4, 1, by_channels},   {ACL_FORMAT_NDC1HWC0, 5, 1, by_channels_of_depth},
    {ACL_FORMAT_FRACTAL_Z, 4, 0, by_filters},  {ACL_FRACTAL_Z_3D, 5, static_cast<size_t>(-1), by_filters_of_depth},
    {ACL_FORMAT_FRACTAL_NZ, 0, 2, by_columns},
};

const Format* find_format(int32_t number) {
  const auto* const found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                         [&](const Format& format) { return format.number == number; });
  return found == std::end(kFormats) ? nullptr : found;
}

Dims row_major(std::span<const int64_t> sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

/// Whether no two elements share a place, and all places are among the first `room`.
bool fits(const Dims& plain, const Layout& layout, int64_t room) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride and size
  for (size_t i = 0; i < plain.size(); ++i)
    axes.emplace_back(layout.strides[i], i == layout.split ? (plain[i] + layout.block - 1) / layout.block : plain[i]);
  std::sort(axes.begin(), axes.end());
  int64_t taken = layout.block;
  for (const auto& [stride, size] : axes) {
    if (size > 1 && stride < taken) return false;
    taken += (size - 1) * stride;
  }
  return taken <= room;
}

/// Whole blocks, or what is left of the last: elements [first, first + count * width) of the split axis.
BlockedView piece(const Tensor& plain, const Tensor& memory, const Layout& layout, int64_t first, int64_t count,
                  int64_t width) {
  Dims sizes = plain.shape, from = plain.strides, to(std::span<const int64_t>(layout.strides));
  sizes[layout.split] = count;
  sizes.insert(layout.split + 1, width);
  from[layout.split] *= layout.block;
  from.insert(layout.split + 1, plain.strides[layout.split]);
  to.insert(layout.split + 1, 1);
  BlockedView view{plain.view(sizes, from), memory.view(sizes, to)};
  view.plain.offset += first * plain.strides[layout.split];
  view.blocked.offset += first / layout.block * layout.strides[layout.split];
  return view;
}

// Fewer axes stand for an image: those of a vector are its channels. A vector's matrix has one column.
Tensor with_rank(Tensor plain, size_t rank) {
  if (rank == 4 && plain.rank() < 4) {
    plain.shape.insert(0, 1);
    plain.strides.insert(0, 1);
  }
  plain.shape.resize(std::max(plain.rank(), rank), 1);
  plain.strides.resize(plain.rank(), 1);
  return plain;
}

}  // namespace

bool is_blocked(int32_t format) { return find_format(format) != nullptr; }

std::vector<BlockedView> blocked_views(const Tensor& given, void* memory, int32_t number,
                                       std::span<const int64_t> storage, const std::string& argument) {
  const Format& format = *find_format(number);
  const Tensor plain = with_rank(given, format.rank == 5 ? 0 : std::max<size_t>(format.rank, 2));
  const size_t rank = plain.rank();
  if ((format.rank != 0 && rank != format.rank) || storage.size() != rank + format.added ||
      std::any_of(storage.begin(), storage.end(), [](int64_t size) { return size <= 0; }))
    fail(Code::kInvalidParam, "{} is {} and has format {} with storage sizes [{}]; they do not suit one another",
         argument, given, number, fmt::join(storage, ", "));
  Layout layout = format.layout(plain.shape, row_major(storage));
  layout.block = storage.back();
  if (plain.count() == 0) return {};
  if (!fits(plain.shape, layout, count_of(Dims(storage))))
    fail(Code::kInvalidParam, "{} is {}; it does not fit storage sizes [{}] of format {}", argument, given,
         fmt::join(storage, ", "), number);
  const Tensor whole = make_tensor(memory, plain.dtype, Dims{count_of(Dims(storage))});
  const int64_t length = plain.shape[layout.split], full = length / layout.block, rest = length % layout.block;
  std::vector<BlockedView> views;
  if (full > 0) views.push_back(piece(plain, whole, layout, 0, full, layout.block));
  if (rest > 0) views.push_back(piece(plain, whole, layout, full * layout.block, 1, rest));
  return views;
}

}  // namespace npu::acl
