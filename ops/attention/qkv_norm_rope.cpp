// SPDX-License-Identifier: Apache-2.0
// What grouped-query attention makes of the projections of a token, in one pass: heads of queries and keys are
// normalised (RMS) and turned, those of keys and values kept at the slot that index gives.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// qkv is [tokens, heads of q, k and v * D]; caches are [blocks, heads * D / w, block size, w]. A cache of int8 keeps
/// round(x / scale + offset). Slots below zero are passed over.
struct QkvNormRope final : Operator {
  Tensor qkv, q_gamma, k_gamma, cos, sin, index, q_out, k_cache, v_cache, k_scale, v_scale, k_offset, v_offset, q_made,
      k_made, v_made;
  std::vector<int64_t> qkv_size, head_nums;
  double epsilon = 1e-6;
  std::string cache_mode = "PA_NZ";

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 8 * qkv.count(); }

 private:
  enum Part : int64_t { kQuery, kKey, kValue };
  void check_sizes() const;
  void check_cache(const Tensor& cache, const Tensor& scale, const Tensor& offset, int64_t heads,
                   const char* name) const;
  void check_row(const Tensor& t, DType dtype, int64_t heads, const char* name) const;
  void run_token(int64_t token, float* x, float* turned) const;
  void normalise(const Tensor& gamma, float* x) const;
  void turn(int64_t token, float* x, float* turned) const;
  void keep(Part part, int64_t token, int64_t head, float* x) const;
  int64_t depth() const { return qkv_size[3]; }
};

void QkvNormRope::check_sizes() const {
  require(cache_mode == "PA_NZ", "cache_mode is {}; only PA_NZ is built", cache_mode);
  require(qkv_size.size() == 4 && head_nums.size() == 3, "qkv_size has {} numbers, head_nums {}; they have 4 and 3",
          qkv_size.size(), head_nums.size());
  require(std::ranges::all_of(qkv_size, [](int64_t n) { return n >= 0; }) &&
              std::ranges::all_of(head_nums, [](int64_t n) { return n > 0; }),
          "qkv_size or head_nums has a number below zero, or no head");
  require(head_nums[0] + head_nums[1] + head_nums[2] == qkv_size[2],
          "head_nums is [{}, {}, {}], qkv_size says {} heads in all", head_nums[0], head_nums[1], head_nums[2],
          qkv_size[2]);
  require(qkv.dtype == DType::kHalf || qkv.dtype == DType::kBFloat16 || qkv.dtype == DType::kFloat,
          "qkv is {}; use float16, bfloat16 or float32", qkv);
  const Dims wanted{qkv_size[0] * qkv_size[1], qkv_size[2] * depth()};
  require(qkv.shape == wanted && depth() > 0 && depth() % 2 == 0, "qkv is {}; qkv_size says {}, of an even depth", qkv,
          wanted);
}

void QkvNormRope::check_row(const Tensor& t, DType dtype, int64_t heads, const char* name) const {
  require(t.dtype == dtype && t.shape == Dims({qkv.shape[0], heads * depth()}), "{} is {}; it is {} {}", name, t, dtype,
          Dims{qkv.shape[0], heads * depth()});
}

void QkvNormRope::check_cache(const Tensor& cache, const Tensor& scale, const Tensor& offset, int64_t heads,
                              const char* name) const {
  const bool whole = !absent(scale);
  require(cache.dtype == (whole ? DType::kInt8 : qkv.dtype), "{} is {}; with{} scales it is {}", name, cache,
          whole ? "" : "out", whole ? DType::kInt8 : qkv.dtype);
  require(cache.rank() == 4 && cache.shape[3] > 0 && depth() % cache.shape[3] == 0 &&
              cache.shape[1] * cache.shape[3] == heads * depth(),
          "{} is {}; it is [blocks, {} / w, block size, w], and w divides {}", name, cache, heads * depth(), depth());
  for (const Tensor* t : {&scale, &offset}) {
    require(absent(*t) || (is_floating(t->dtype) && t->shape == Dims({heads, depth()})),
            "a scale or offset of {} is {}; it is {}", name, *t, Dims{heads, depth()});
  }
  require(absent(offset) || whole, "an offset of {} is given without a scale; give both, or none", name);
}

void QkvNormRope::prepare() {
  check_sizes();
  for (const auto& [t, name] : {std::pair(&q_gamma, "q_gamma"), std::pair(&k_gamma, "k_gamma")})
    require(t->dtype == qkv.dtype && t->shape == Dims{depth()}, "{} is {}; it is {} {}", name, *t, qkv.dtype,
            Dims{depth()});
  check_row(cos, qkv.dtype, 1, "cos"), check_row(sin, qkv.dtype, 1, "sin");
  require(index.dtype == DType::kInt64 && index.shape == Dims{qkv.shape[0]}, "index is {}; it is int64 {}", index,
          Dims{qkv.shape[0]});
  check_row(q_out, qkv.dtype, head_nums[kQuery], "q_out");
  check_cache(k_cache, k_scale, k_offset, head_nums[kKey], "k_cache");
  check_cache(v_cache, v_scale, v_offset, head_nums[kValue], "v_cache");
  for (const auto& [t, part] : {std::pair(&q_made, kQuery), std::pair(&k_made, kKey), std::pair(&v_made, kValue)})
    if (!absent(*t)) check_row(*t, qkv.dtype, head_nums[static_cast<size_t>(part)], "a result before quantisation");
}

void QkvNormRope::normalise(const Tensor& gamma, float* x) const {
  double squares = 0;
  for (int64_t i = 0; i < depth(); ++i) squares += static_cast<double>(x[i]) * x[i];
  const auto factor = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(depth()) + epsilon));
  for (int64_t i = 0; i < depth(); ++i) x[i] *= factor * static_cast<float>(load_element(gamma, i * gamma.strides[0]));
}

// Halves of a head are pairs.
void QkvNormRope::turn(int64_t token, float* x, float* turned) const {
  const int64_t half = depth() / 2;
  const auto angle = [&](const Tensor& t, int64_t i) {
    return static_cast<float>(load_element(t, token * t.strides[0] + i * t.strides[1]));
  };
  for (int64_t i = 0; i < half; ++i) {
    turned[i] = x[i] * angle(cos, i) - x[half + i] * angle(sin, i);
    turned[half + i] = x[half + i] * angle(cos, half + i) + x[i] * angle(sin, half + i);
  }
  std::copy_n(turned, depth(), x);
}

void QkvNormRope::keep(Part part, int64_t token, int64_t head, float* x) const {
  const Tensor& cache = part == kKey ? k_cache : v_cache;
  const Tensor& scale = part == kKey ? k_scale : v_scale;
  const Tensor& offset = part == kKey ? k_offset : v_offset;
  const int64_t slot = index.as<int64_t>()[token * index.strides[0]], size = cache.shape[2], width = cache.shape[3];
  if (slot < 0 || slot >= cache.shape[0] * size) return;
  const auto number = [&](const Tensor& t, int64_t i, float other) {
    return absent(t) ? other : static_cast<float>(load_element(t, head * t.strides[0] + i * t.strides[1]));
  };
  for (int64_t i = 0; !absent(scale) && i < depth(); ++i)
    x[i] = std::clamp(std::nearbyint(x[i] / number(scale, i, 1) + number(offset, i, 0)), -128.0f, 127.0f);
  const Convert convert = converter(DType::kFloat, cache.dtype);
  for (int64_t i = 0; i < depth(); i += width) {
    const int64_t at = slot / size * cache.strides[0] + (head * depth() + i) / width * cache.strides[1] +
                       slot % size * cache.strides[2];
    convert(x + i, 1, cache.bytes() + at * static_cast<int64_t>(size_of(cache.dtype)), cache.strides[3], width);
  }
}

void QkvNormRope::run_token(int64_t token, float* x, float* turned) const {
  const auto bytes = static_cast<int64_t>(size_of(qkv.dtype));
  const Convert load = converter(qkv.dtype, DType::kFloat), store = converter(DType::kFloat, qkv.dtype);
  int64_t from = 0;
  for (const Part part : {kQuery, kKey, kValue}) {
    const Tensor& made = part == kQuery ? q_made : part == kKey ? k_made : v_made;
    for (int64_t head = 0; head < head_nums[static_cast<size_t>(part)]; ++head, from += depth()) {
      load(qkv.bytes() + (token * qkv.strides[0] + from * qkv.strides[1]) * bytes, qkv.strides[1], x, 1, depth());
      if (part != kValue) normalise(part == kQuery ? q_gamma : k_gamma, x), turn(token, x, turned);
      const auto put = [&](const Tensor& t) {
        if (!absent(t))
          store(x, 1, t.bytes() + (token * t.strides[0] + head * depth() * t.strides[1]) * bytes, t.strides[1],
                depth());
      };
      put(made);
      if (part == kQuery) put(q_out);
      if (part != kQuery) keep(part, token, head, x);
    }
  }
}

void QkvNormRope::run() {
  parallel_for(qkv.shape[0], 4, [&](int64_t begin, int64_t end) {
    const Scratch<float> x(depth()), turned(depth());
    for (int64_t token = begin; token < end; ++token) run_token(token, x, turned);
  });
}

using Q = QkvNormRope;
NPU_OPERATOR(Q, "qkv_norm_rope_cache", "attention", in<&Q::qkv>("qkv"), in<&Q::q_gamma>("q_gamma"),
             in<&Q::k_gamma>("k_gamma"), in<&Q::cos>("cos"), in<&Q::sin>("sin"), in<&Q::index>("index"),
             inout<&Q::q_out>("q_out"), inout<&Q::k_cache>("k_cache"), inout<&Q::v_cache>("v_cache"),
             optional<&Q::k_scale>("k_scale"), optional<&Q::v_scale>("v_scale"), optional<&Q::k_offset>("k_offset"),
             optional<&Q::v_offset>("v_offset"), attr<&Q::qkv_size>("qkv_size"), attr<&Q::head_nums>("head_nums"),
             attr<&Q::epsilon>("epsilon"), attr<&Q::cache_mode>("cache_mode"), optional_out<&Q::q_made>("q_made"),
             optional_out<&Q::k_made>("k_made"), optional_out<&Q::v_made>("v_made"));

}  // namespace
}  // namespace npu::ops
