// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/thread_pool.h"
#include "ops/attention/floyd.h"

namespace npu::ops {
namespace {

/// From p, the weights of forward, and dp, what the gradient makes of the values:
/// ds = p * (dp - sum of grad * out) * scale; queries and keys take ds, values p.
struct FloydGrad final : Floyd {
  Tensor grad, attention_out, dquery, dkey1, dvalue1, dkey2, dvalue2;

  void prepare() override;
  void run() override;

 private:
  /// What a plane's tiles share; the last two are added to.
  struct Shared {
    const float *k2, *v2;
    float *dk2, *dv2;
  };
  void add_tile(int64_t plane, int64_t from, int64_t count, const Shared& shared) const;
  void weigh(int64_t plane, int64_t from, int64_t row, float dot, float* p, float* dp) const;
};

void FloydGrad::prepare() {
  check();
  check_statistic(softmax_max, "softmax_max"), check_statistic(softmax_sum, "softmax_sum");
  check_like(grad, query, "grad_output"), check_like(attention_out, query, "attention_out");
  check_like(dquery, query, "the gradient of query"), check_like(dkey1, key1, "the gradient of key1");
  check_like(dvalue1, value1, "the gradient of value1"), check_like(dkey2, key2, "the gradient of key2");
  check_like(dvalue2, value2, "the gradient of value2");
}

// p holds scores and dp products, both of one row, and become p and ds.
void FloydGrad::weigh(int64_t plane, int64_t from, int64_t row, float dot, float* p, float* dp) const {
  const int64_t n = from + row / k(), at = row % k();
  const float top = statistic(softmax_max, plane, n, at), sum = statistic(softmax_sum, plane, n, at);
  for (int64_t c = 0; c < j(); ++c) {
    p[c] = std::exp(p[c] - top) / sum;
    dp[c] = p[c] * (dp[c] - dot) * static_cast<float>(scale);
  }
}

void FloydGrad::add_tile(int64_t plane, int64_t from, int64_t count, const Shared& shared) const {
  const int64_t d = depth(), lines = count * k(), nj = j();
  const Scratch<float> q(lines * d), g(lines * d), made(lines * d), near(count * nj * d), far(count * nj * d);
  const Scratch<float> p(lines * nj), ds(lines * nj);
  load(query, plane, from, count, q), load(grad, plane, from, count, g);
  load(value1, plane, from, count, near);
  score(count, g, near, shared.v2, ds);
  load(key1, plane, from, count, near);
  score(count, q, near, shared.k2, p);
  prepare_scores(plane, from, count, p);
  load(attention_out, plane, from, count, made);
  parallel_for(lines, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += g[row * d + c] * made[row * d + c];
      weigh(plane, from, row, dot, p + row * nj, ds + row * nj);
    }
  });
  mix(count, ds, near, shared.k2, made);
  store(made, dquery, plane, from, count);
  spread(count, ds, q, far, shared.dk2);
  store(far, dkey1, plane, from, count);
  spread(count, p, g, far, shared.dv2);
  store(far, dvalue1, plane, from, count);
}

void FloydGrad::run() {
  if (query.count() == 0) return;
  const int64_t size = j() * k() * depth();
  const Scratch<float> k2(size), v2(size), dk2(size), dv2(size);
  for (int64_t plane = 0; plane < planes(); ++plane) {
    load(key2, plane, 0, j(), k2), load(value2, plane, 0, j(), v2);
    std::fill_n(dk2.data(), size, 0.0f), std::fill_n(dv2.data(), size, 0.0f);
    for (int64_t from = 0; from < i(); from += kTile)
      add_tile(plane, from, std::min(kTile, i() - from), {k2, v2, dk2, dv2});
    store(dk2, dkey2, plane, 0, j()), store(dv2, dvalue2, plane, 0, j());
  }
}

using G = FloydGrad;
NPU_OPERATOR(G, "floyd_attention_grad", "attention", in<&G::query>("query"), in<&G::key1>("key1"),
             in<&G::value1>("value1"), in<&G::key2>("key2"), in<&G::value2>("value2"), in<&G::grad>("grad"),
             optional<&G::atten_mask>("atten_mask"), in<&G::softmax_max>("softmax_max"),
             in<&G::softmax_sum>("softmax_sum"), in<&G::attention_out>("attention_out"), attr<&G::scale>("scale"),
             out<&G::dquery>("dquery"), out<&G::dkey1>("dkey1"), out<&G::dvalue1>("dvalue1"), out<&G::dkey2>("dkey2"),
             out<&G::dvalue2>("dvalue2"));

}  // namespace
}  // namespace npu::ops
