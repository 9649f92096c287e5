// SPDX-License-Identifier: Apache-2.0
// The softmax runs along with the tiles: each row keeps the largest score so far and the sum of exponentials relative
// to it, and when a larger score comes, what was added up is scaled down to it. Keys are taken in order by one thread
// and tiles have a fixed size, so bits depend on nothing else.
// Attention forward, tile by tile: scores of one tile live in the cache and are never written to memory.
#include <algorithm>
#include <limits>

#include "base/thread_pool.h"
#include "ops/attention/attention.h"
#include "ops/attention/layout.h"
#include "ops/attention/tile_kernel.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

struct FlashAttention final : AttentionOp {
  // softmax_out is never written: probabilities exist a tile at a time, and backward makes them again.
  Tensor softmax_out, attention_out;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + batch_ * heads_ * queries_ * keys_ * (depth_ + value_depth_) / 30; }

 private:
  void run_tile(int64_t b, int64_t n, int64_t row) const;
  void accumulate(const float* scores, const float* v, int64_t ldv, int64_t rows, int64_t cols, float* out) const;
  void store_statistics(int64_t b, int64_t n, int64_t row, int64_t rows, const float* maximum, const float* sum) const;
  Tensor out_;
};

void FlashAttention::prepare() {
  check();
  out_ = head_view(attention_out, input_layout, heads_, "attention_out");
  const Dims expected{batch_, heads_, queries_, value_depth_};
  require(out_.shape == expected, "attention_out is {} ({}), the result is {} as BNSD", attention_out.shape,
          input_layout, expected);
  for (const Tensor* t : {&softmax_max, &softmax_sum}) {
    if (!t->defined() || t->count() == 0) continue;
    require(t->dtype == DType::kFloat && t->shape == Dims({batch_, heads_, queries_, 8}),
            "softmax_max and softmax_sum must be float32 {}, got {}", Dims({batch_, heads_, queries_, 8}), *t);
  }
}

void FlashAttention::run() {
  const int64_t tiles = (queries_ + kQueryTile - 1) / kQueryTile;
  parallel_parts(batch_ * heads_ * tiles, [&](int64_t part) {
    run_tile(part / tiles / heads_, part / tiles % heads_, part % tiles * kQueryTile);
  });
}

void FlashAttention::run_tile(int64_t b, int64_t n, int64_t row) const {
  const int64_t rows = std::min(kQueryTile, queries_ - row);
  const Scratch<float> q_buffer(kQueryTile * depth_), k_buffer(kKeyTile * depth_), v_buffer(kKeyTile * value_depth_);
  const Scratch<float> scores(kQueryTile * kKeyTile), out(kQueryTile * value_depth_);
  float maximum[kQueryTile], sum[kQueryTile], rescale[kQueryTile];
  std::fill_n(maximum, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(sum, rows, 0.0f);
  std::fill_n(out.data(), rows * value_depth_, 0.0f);
  int64_t ldq, ldk, ldv;
  const float* q = load_rows(q_, b, n, row, rows, q_buffer, &ldq);
  for (int64_t col = 0; col < keys_; col += kKeyTile) {
    const int64_t cols = std::min(kKeyTile, keys_ - col);
    const float* k = load_rows(k_, b, n / group(), col, cols, k_buffer, &ldk);
    const float* v = load_rows(v_, b, n / group(), col, cols, v_buffer, &ldv);
    score_tile(q, ldq, k, ldk, b, n, row, rows, col, cols, scores);
    softmax_step(scores, rows, cols, maximum, sum, rescale);
    // Before the tile is added: what came before refers to the old maximum.
    if (col > 0) scale_rows(out, rows, value_depth_, rescale);
    // After the sums: dropped scores still count in the softmax, as dropout follows it.
    apply_dropout(scores, b, n, row, rows, col, cols);
    accumulate(scores, v, ldv, rows, cols, out);
  }
  // One division a row at the end, instead of one a score: the result is linear in the probabilities.
  for (int64_t r = 0; r < rows; ++r) {
    // No key is left to this query.
    if (sum[r] == 0 && hidden_rows_are_nan) sum[r] = std::numeric_limits<float>::quiet_NaN();
    rescale[r] = sum[r] == 0 ? 0.0f : 1.0f / sum[r];
  }
  scale_rows(out, rows, value_depth_, rescale);
  store_rows(out_, b, n, row, rows, out);
  store_statistics(b, n, row, rows, maximum, sum);
}

void FlashAttention::accumulate(const float* scores, const float* v, int64_t ldv, int64_t rows, int64_t cols,
                                float* out) const {
  cube::GemmArgs<float> args;
  args.m = rows;
  args.n = value_depth_;
  args.k = cols;
  args.a = scores;
  args.lda = cols;
  args.b = v;
  args.ldb = ldv;
  args.beta = 1;
  args.c = out;
  args.ldc = value_depth_;
  cube::gemm_serial(args);
}

void FlashAttention::store_statistics(int64_t b, int64_t n, int64_t row, int64_t rows, const float* maximum,
                                      const float* sum) const {
  for (const auto& [tensor, values] : {std::pair(&softmax_max, maximum), std::pair(&softmax_sum, sum)}) {
    if (!tensor->defined() || tensor->count() == 0) continue;
    for (int64_t r = 0; r < rows; ++r) {
      float* to =
          tensor->as<float>() + b * tensor->strides[0] + n * tensor->strides[1] + (row + r) * tensor->strides[2];
      for (int64_t i = 0; i < 8; ++i) to[i * tensor->strides[3]] = values[r];
    }
  }
}

std::vector<Field> forward_fields() {
  auto fields = attention_fields<FlashAttention>();
  fields.push_back(optional_out<&FlashAttention::softmax_max>("softmax_max"));
  fields.push_back(optional_out<&FlashAttention::softmax_sum>("softmax_sum"));
  fields.push_back(optional_out<&FlashAttention::softmax_out>("softmax_out"));
  fields.push_back(out<&FlashAttention::attention_out>("attention_out"));
  return fields;
}
const Registration register_flash("flash_attention", "attention", forward_fields(), &make<FlashAttention>);

}  // namespace
}  // namespace npu::ops
