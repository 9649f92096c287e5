// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/pages.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

/// Every form of a cache as the one in blocks: rows that are whole are one block.
Tensor in_blocks(const Tensor& cache, int64_t heads, const char* name) {
  const Dims& s = cache.shape;
  const Dims& at = cache.strides;
  if (cache.rank() == 5) return cache;
  if (cache.rank() == 4) return cache.view({s[0], s[1], 1, s[2], s[3]}, {at[0], at[1], 0, at[2], at[3]});
  require(cache.rank() == 3 && s[2] % heads == 0,
          "{} is {}; pages are [pages, tokens, heads * depth], [pages, heads, tokens, depth] or [pages, heads, depth / "
          "block, tokens, block], of {} heads",
          name, s, heads);
  const int64_t depth = s[2] / heads;
  return cache.view({s[0], heads, 1, s[1], depth}, {at[0], depth * at[2], 0, at[1], at[2]});
}

}  // namespace

Pages::Pages(const Tensor& cache, const Tensor& table, int64_t heads, const char* name)
    : cache_(in_blocks(cache, heads, name)), table_(table), name_(name) {
  require(cache_.shape[1] == heads, "{} is {}; its pages must have {} heads", name, cache.shape, heads);
  require(table.rank() == 2 && is_integer(table.dtype),
          "blockTable is {}; it must be integers [samples, pages of the longest]", table);
}

void Pages::copy_page(int64_t page, int64_t head, int64_t tokens, std::byte* to) const {
  const auto size = static_cast<int64_t>(size_of(cache_.dtype));
  const int64_t block = cache_.shape[4];
  const int64_t first = page * cache_.strides[0] + head * cache_.strides[1];
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t b = 0; b < cache_.shape[2]; ++b) {
      const std::byte* from = cache_.bytes() + (first + t * cache_.strides[3] + b * cache_.strides[2]) * size;
      if (cache_.strides[4] == 1 || block == 1) {
        std::memcpy(to, from, static_cast<size_t>(block * size));
      } else {
        for (int64_t i = 0; i < block; ++i)
          std::memcpy(to + i * size, from + i * cache_.strides[4] * size, static_cast<size_t>(size));
      }
      to += block * size;
    }
  }
}

void Pages::gather(int64_t sequence, int64_t length, std::byte* to) const {
  const int64_t tokens = cache_.shape[3];
  const int64_t used = tokens == 0 ? 0 : (length + tokens - 1) / tokens;
  // The table is the device's, so its numbers are known only now; all are looked at before one is followed.
  std::vector<int64_t> pages;
  for (int64_t i = 0; i < used; ++i) {
    pages.push_back(static_cast<int64_t>(load_element(table_, sequence * table_.strides[0] + i * table_.strides[1])));
    require(pages.back() >= 0 && pages.back() < cache_.shape[0],
            "blockTable names page {} for sample {}; {} has {} pages", pages.back(), sequence, name_, cache_.shape[0]);
  }
  const int64_t row = depth() * static_cast<int64_t>(size_of(cache_.dtype));
  parallel_parts(used * heads(), [&](int64_t part) {
    const int64_t head = part % heads(), i = part / heads(), begin = i * tokens;
    copy_page(pages[static_cast<size_t>(i)], head, std::min(tokens, length - begin),
              to + (head * length + begin) * row);
  });
}

}  // namespace npu::ops
