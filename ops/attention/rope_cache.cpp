// SPDX-License-Identifier: Apache-2.0
// Queries and keys turned by angles that stand in a table, a row for each position: [cos | sin] of each pair. With
// several rows of positions (of time, height and width, say) each pair takes the position that mrope_section gives it.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

struct RopeCache final : Operator {
  Tensor positions, query, key, cos_sin_cache, query_out, key_out;
  std::vector<int64_t> mrope_section;
  int64_t head_size = 0;
  bool is_neox_style = true;  ///< pairs are i and i + half; else neighbours
  int64_t cache_mode = 0;     ///< 0: sections stand one behind the other; 1: pairs take turns

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + query.count() + key.count(); }

 private:
  void check(const Tensor& x, const Tensor& out, const char* name) const;
  void plan_sections();
  void load_angles(int64_t token, float* angles) const;
  void turn(const Tensor& x, const Tensor& out, int64_t token, const float* angles, float* row) const;
  int64_t pairs() const { return cos_sin_cache.shape[1] / 2; }
  std::vector<int64_t> row_of_;  ///< of positions, for each pair
};

void RopeCache::check(const Tensor& x, const Tensor& out, const char* name) const {
  require(x.dtype == DType::kFloat || x.dtype == DType::kHalf || x.dtype == DType::kBFloat16,
          "{} is {}; it must be float32, float16 or bfloat16", name, x.dtype);
  require(x.rank() == 2 && x.shape[0] == positions.shape.back() && x.shape[1] % head_size == 0,
          "{} is {}; it must be [{}, heads * {}]", name, x, positions.shape.back(), head_size);
  require(out.dtype == x.dtype && out.shape == x.shape, "{} is {}, its result {}: they must be alike", name, x, out);
}

void RopeCache::plan_sections() {
  row_of_.assign(static_cast<size_t>(pairs()), 0);
  if (positions.rank() == 1) return;
  const int64_t rows = positions.shape[0];
  int64_t sum = 0;
  for (const int64_t section : mrope_section) sum += section;
  require(
      (rows == 3 || rows == 4) && static_cast<int64_t>(mrope_section.size()) == rows && sum == pairs(),
      "positions is {}, mropeSection has {} numbers with the sum {}: it must be [3 or 4, tokens], with a section for "
      "each row and the sum {}",
      positions, mrope_section.size(), sum, pairs());
  if (cache_mode == 1) {
    // All numbers but the first say how far two rows reach that take turns with it; clients give both the same.
    require(rows == 3 && mrope_section[1] == mrope_section[2],
            "cacheMode 1 with other sections than [a, b, b] is not built; this is for {} rows", rows);
    for (int64_t i = 0; i < 3 * mrope_section[1] && i < pairs(); ++i) row_of_[static_cast<size_t>(i)] = i % 3;
    return;
  }
  size_t at = 0;
  for (size_t row = 0; row < mrope_section.size(); ++row) {
    for (int64_t i = 0; i < mrope_section[row]; ++i) row_of_[at++] = static_cast<int64_t>(row);
  }
}

void RopeCache::prepare() {
  require((positions.dtype == DType::kInt32 || positions.dtype == DType::kInt64) &&
              (positions.rank() == 1 || positions.rank() == 2),
          "positions is {}; it must be int32 or int64 [tokens] or [3 or 4, tokens]", positions);
  require(cos_sin_cache.rank() == 2 && cos_sin_cache.shape[1] % 2 == 0 && cos_sin_cache.dtype == query.dtype,
          "cosSinCache is {}; it must be {} [positions, an even number]", cos_sin_cache, query.dtype);
  require(head_size >= cos_sin_cache.shape[1] && head_size > 0,
          "headSize is {}; cosSinCache is {}: it turns {} of a head", head_size, cos_sin_cache, cos_sin_cache.shape[1]);
  require(cache_mode == 0 || cache_mode == 1, "cacheMode is {}; it is 0 or 1", cache_mode);
  check(query, query_out, "queryIn");
  check(key, key_out, "keyIn");
  require(key.dtype == query.dtype, "queryIn is {}, keyIn {}: use one dtype", query, key);
  plan_sections();
}

// Positions are known only now. One that the table does not hold makes its token NaN, which nobody overlooks.
void RopeCache::load_angles(int64_t token, float* angles) const {
  const Convert convert = converter(cos_sin_cache.dtype, DType::kFloat);
  const int64_t last = positions.strides.back(), between = positions.rank() == 2 ? positions.strides[0] : 0;
  for (int64_t i = 0; i < pairs(); ++i) {
    const int64_t at = row_of_[static_cast<size_t>(i)] * between + token * last;
    const int64_t position =
        positions.dtype == DType::kInt64 ? positions.as<int64_t>()[at] : positions.as<int32_t>()[at];
    angles[i] = angles[pairs() + i] = std::numeric_limits<float>::quiet_NaN();
    if (position < 0 || position >= cos_sin_cache.shape[0]) continue;
    const int64_t from = position * cos_sin_cache.strides[0] + i * cos_sin_cache.strides[1];
    convert(cos_sin_cache.bytes() + from * static_cast<int64_t>(size_of(cos_sin_cache.dtype)),
            pairs() * cos_sin_cache.strides[1], angles + i, pairs(), 2);
  }
}

void RopeCache::turn(const Tensor& x, const Tensor& out, int64_t token, const float* angles, float* row) const {
  const int64_t count = x.shape[1], step = is_neox_style ? 1 : 2, distance = is_neox_style ? pairs() : 1;
  const auto bytes = static_cast<int64_t>(size_of(x.dtype));
  converter(x.dtype, DType::kFloat)(x.bytes() + token * x.strides[0] * bytes, x.strides[1], row, 1, count);
  for (float* head = row; head < row + count; head += head_size) {
    for (int64_t i = 0; i < pairs(); ++i) {
      const float cos = angles[i], sin = angles[pairs() + i];
      const float a = head[i * step], b = head[i * step + distance];
      head[i * step] = a * cos - b * sin;
      head[i * step + distance] = b * cos + a * sin;
    }
  }
  converter(DType::kFloat, out.dtype)(row, 1, out.bytes() + token * out.strides[0] * bytes, out.strides[1], count);
}

void RopeCache::run() {
  parallel_for(positions.shape.back(), 8, [&](int64_t begin, int64_t end) {
    const Scratch<float> angles(2 * pairs()), row(std::max(query.shape[1], key.shape[1]));
    for (int64_t token = begin; token < end; ++token) {
      load_angles(token, angles);
      turn(query, query_out, token, angles, row);
      turn(key, key_out, token, angles, row);
    }
  });
}

using C = RopeCache;
NPU_OPERATOR(C, "rope_cache", "attention", in<&C::positions>("positions"), in<&C::query>("query"), in<&C::key>("key"),
             in<&C::cos_sin_cache>("cos_sin_cache"), attr<&C::mrope_section>("mrope_section"),
             attr<&C::head_size>("head_size"), attr<&C::is_neox_style>("is_neox_style"),
             attr<&C::cache_mode>("cache_mode"), out<&C::query_out>("query_out"), out<&C::key_out>("key_out"));

}  // namespace
}  // namespace npu::ops
