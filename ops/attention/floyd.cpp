// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/floyd.h"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

constexpr float kMasked = -4000000000.0f;  // added to the scores that are left out

int64_t start_of(const Tensor& t, int64_t plane) {
  return plane / t.shape[1] * t.strides[0] + plane % t.shape[1] * t.strides[1];
}

/// Where line (n, m) of a plane lies, from its first one.
std::byte* line_of(const Tensor& t, int64_t plane, int64_t n, int64_t m) {
  const int64_t at = start_of(t, plane) + n * t.strides[2] + m * t.strides[3];
  return t.bytes() + at * static_cast<int64_t>(size_of(t.dtype));
}

struct Matrix {
  const float* data;
  int64_t ld;
  bool transposed = false;
};

/// c (+)= a @ b, m x n over a depth of k.
void multiply(Matrix a, Matrix b, float* c, int64_t ldc, int64_t m, int64_t n, int64_t k, bool add) {
  cube::GemmArgs<float> args;
  args.trans_a = a.transposed, args.trans_b = b.transposed;
  args.m = m, args.n = n, args.k = k;
  args.a = a.data, args.lda = a.ld, args.b = b.data, args.ldb = b.ld;
  args.beta = add ? 1.0f : 0.0f, args.c = c, args.ldc = ldc;
  cube::gemm_serial(args);
}

}  // namespace

void Floyd::check() const {
  require(query.dtype == DType::kHalf || query.dtype == DType::kBFloat16 || query.dtype == DType::kFloat,
          "query is {}; use float16, bfloat16 or float32", query);
  for (const auto& [t, name] : {std::pair(&query, "query"), std::pair(&key1, "key1"), std::pair(&value1, "value1"),
                                std::pair(&key2, "key2"), std::pair(&value2, "value2")})
    require(t->dtype == query.dtype && t->rank() == 5, "{} is {}; it is {} with 5 dimensions", name, *t, query.dtype);
  const Dims& q = query.shape;
  const Dims first{q[0], q[1], q[2], key1.shape[3], q[4]}, second{q[0], q[1], key1.shape[3], q[3], q[4]};
  require(key1.shape == first && value1.shape == first && key2.shape == second && value2.shape == second,
          "query is {}, key1 {}, value1 {}, key2 {}, value2 {}: the first two are {}, the others {}", q, key1.shape,
          value1.shape, key2.shape, value2.shape, first, second);
  const Dims masked{q[0], 1, q[2], 1, key1.shape[3]};
  require(!atten_mask.defined() ||
              (atten_mask.shape == masked && (atten_mask.dtype == DType::kBool || atten_mask.dtype == DType::kUInt8)),
          "atten_mask is {}; it is bool {}", atten_mask, masked);
}

void Floyd::check_like(const Tensor& t, const Tensor& other, const char* name) const {
  require(t.dtype == other.dtype && t.shape == other.shape, "{} is {}; it must be like {}", name, t, other);
}

void Floyd::check_statistic(const Tensor& t, const char* name) const {
  Dims wanted = query.shape;
  wanted.back() = kCopies;
  require(t.dtype == DType::kFloat && t.shape == wanted, "{} is {}; it is float32 {}", name, t, wanted);
}

void Floyd::load(const Tensor& t, int64_t plane, int64_t from, int64_t count, float* to) const {
  const int64_t lines = t.shape[3], n = t.shape[4];
  const Convert convert = converter(t.dtype, DType::kFloat);
  parallel_for(count * lines, 64, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      convert(line_of(t, plane, from + at / lines, at % lines), t.strides[4], to + at * n, 1, n);
  });
}

void Floyd::store(const float* from, const Tensor& t, int64_t plane, int64_t first, int64_t count) const {
  const int64_t lines = t.shape[3], n = t.shape[4];
  const Convert convert = converter(DType::kFloat, t.dtype);
  parallel_for(count * lines, 64, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      convert(from + at * n, 1, line_of(t, plane, first + at / lines, at % lines), t.strides[4], n);
  });
}

void Floyd::score(int64_t count, const float* left, const float* by_i, const float* by_k, float* to) const {
  const int64_t d = depth(), nk = k(), nj = j();
  parallel_parts(count, [&](int64_t n) {
    multiply({left + n * nk * d, d}, {by_i + n * nj * d, d, true}, to + n * nk * nj, nj, nk, nj, d, false);
  });
  parallel_parts(nk, [&](int64_t at) {
    multiply({left + at * d, nk * d}, {by_k + at * d, nk * d, true}, to + at * nj, nk * nj, count, nj, d, true);
  });
}

void Floyd::mix(int64_t count, const float* weights, const float* by_i, const float* by_k, float* to) const {
  const int64_t d = depth(), nk = k(), nj = j();
  parallel_parts(count, [&](int64_t n) {
    multiply({weights + n * nk * nj, nj}, {by_i + n * nj * d, d}, to + n * nk * d, d, nk, d, nj, false);
  });
  parallel_parts(nk, [&](int64_t at) {
    multiply({weights + at * nj, nk * nj}, {by_k + at * d, nk * d}, to + at * d, nk * d, count, d, nj, true);
  });
}

void Floyd::spread(int64_t count, const float* weights, const float* right, float* to_i, float* to_k) const {
  const int64_t d = depth(), nk = k(), nj = j();
  parallel_parts(count, [&](int64_t n) {
    multiply({weights + n * nk * nj, nj, true}, {right + n * nk * d, d}, to_i + n * nj * d, d, nj, d, nk, false);
  });
  parallel_parts(nk, [&](int64_t at) {
    multiply({weights + at * nj, nk * nj, true}, {right + at * d, nk * d}, to_k + at * d, nk * d, nj, d, count, true);
  });
}

void Floyd::prepare_scores(int64_t plane, int64_t from, int64_t count, float* scores) const {
  const int64_t nj = j(), batch = plane / query.shape[1];
  parallel_parts(count, [&](int64_t n) {
    for (int64_t at = 0; at < k() * nj; ++at) {
      float& s = scores[n * k() * nj + at];
      const int64_t place = batch * (atten_mask.defined() ? atten_mask.strides[0] : 0);
      if (atten_mask.defined() &&
          load_element(atten_mask, place + (from + n) * atten_mask.strides[2] + at % nj * atten_mask.strides[4]) != 0)
        s += kMasked;
      s *= static_cast<float>(scale);
    }
  });
}

float Floyd::statistic(const Tensor& t, int64_t plane, int64_t n, int64_t at) const {
  return *reinterpret_cast<const float*>(line_of(t, plane, n, at));
}

namespace {

struct FloydAttention final : Floyd {
  Tensor out;

  void prepare() override {
    check();
    check_like(out, query, "out");
    check_statistic(softmax_max, "softmax_max"), check_statistic(softmax_sum, "softmax_sum");
  }
  void run() override {
    if (query.count() == 0) return;
    const Scratch<float> k2(j() * k() * depth()), v2(j() * k() * depth());
    for (int64_t plane = 0; plane < planes(); ++plane) {
      load(key2, plane, 0, j(), k2), load(value2, plane, 0, j(), v2);
      for (int64_t from = 0; from < i(); from += kTile) attend(plane, from, std::min(kTile, i() - from), k2, v2);
    }
  }

 private:
  void attend(int64_t plane, int64_t from, int64_t count, const float* k2, const float* v2) const {
    const int64_t d = depth();
    const Scratch<float> q(count * k() * d), near(count * j() * d), scores(count * k() * j());
    load(query, plane, from, count, q), load(key1, plane, from, count, near);
    score(count, q, near, k2, scores);
    prepare_scores(plane, from, count, scores);
    parallel_for(count * k(), 16, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) normalise(plane, from + at / k(), at % k(), scores + at * j());
    });
    load(value1, plane, from, count, near);
    mix(count, scores, near, v2, q);
    store(q, out, plane, from, count);
  }
  void normalise(int64_t plane, int64_t n, int64_t at, float* row) const {
    float top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < j(); ++c) top = std::max(top, row[c]);
    for (int64_t c = 0; c < j(); ++c) row[c] = std::exp(row[c] - top), sum += row[c];
    for (int64_t c = 0; c < j(); ++c) row[c] /= sum;
    for (const auto& [t, value] : {std::pair(&softmax_max, top), std::pair(&softmax_sum, sum)}) {
      auto* to = reinterpret_cast<float*>(line_of(*t, plane, n, at));
      for (int64_t c = 0; c < kCopies; ++c) to[c * t->strides[4]] = value;
    }
  }
};

NPU_OPERATOR(FloydAttention, "floyd_attention", "attention", in<&FloydAttention::query>("query"),
             in<&FloydAttention::key1>("key1"), in<&FloydAttention::value1>("value1"),
             in<&FloydAttention::key2>("key2"), in<&FloydAttention::value2>("value2"),
             optional<&FloydAttention::atten_mask>("atten_mask"), attr<&FloydAttention::scale>("scale"),
             out<&FloydAttention::softmax_max>("softmax_max"), out<&FloydAttention::softmax_sum>("softmax_sum"),
             out<&FloydAttention::out>("out"));

}  // namespace
}  // namespace npu::ops
