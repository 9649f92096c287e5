// SPDX-License-Identifier: Apache-2.0
// Attention backward: probabilities are computed again from the saved row statistics, tile by tile. One part works on
// one key head, so every gradient is summed by one thread in a fixed order.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/attention/attention.h"
#include "ops/attention/layout.h"
#include "ops/attention/tile_kernel.h"
#include "ops/cube/gemm.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

struct FlashAttentionGrad final : AttentionOp {
  // `softmax` is not read; nothing wrote it.
  Tensor dy, softmax, attention, dq, dk, dv, dpse;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + batch_ * heads_ * queries_ * keys_ * (depth_ + value_depth_) / 12; }

 private:
  struct Tile;
  void run_head(int64_t b, int64_t kv_head) const;
  void run_tile(const Tile& tile) const;
  void load_queries(Tile& tile, int64_t row) const;
  Tensor dy_, attention_, dq_, dk_, dv_;
};

// c += op(a) op(b), all matrices dense or with their own row distance.
void add_product(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  cube::gemm_serial(cube::GemmArgs<float>{trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

struct FlashAttentionGrad::Tile {
  int64_t b, n, row, rows, col, cols;
  const float *q, *dy, *k, *v;  // rows of the inputs as floats
  int64_t ldq, lddy, ldk, ldv;
  float *q_buffer, *dy_buffer, *out_buffer;
  float *probability, *gradient, *dropped;  // kQueryTile x kKeyTile
  float *dq, *dk, *dv;                      // dense sums: of the query tile, of the whole key head
  float maximum[kQueryTile], sum[kQueryTile], delta[kQueryTile];
};

void FlashAttentionGrad::prepare() {
  check();
  dy_ = head_view(dy, input_layout, heads_, "dy");
  require(dy_.shape == Dims({batch_, heads_, queries_, value_depth_}),
          "dy is {}, the attention's output has {} as BNSD", dy.shape, Dims({batch_, heads_, queries_, value_depth_}));
  require(attention.defined() && attention.count() == dy.count(),
          "attention (the forward result) is missing; pass it as attention_in");
  attention_ = head_view(attention, input_layout, heads_, "attention");
  for (const Tensor* t : {&softmax_max, &softmax_sum}) {
    require(t->dtype == DType::kFloat && t->shape == Dims({batch_, heads_, queries_, 8}),
            "softmax_max and softmax_sum must be the forward's float32 {}, got {}", Dims({batch_, heads_, queries_, 8}),
            *t);
  }
  dq_ = head_view(dq, input_layout, heads_, "dq");
  dk_ = head_view(dk, input_layout, kv_heads_, "dk");
  dv_ = head_view(dv, input_layout, kv_heads_, "dv");
  require(dq_.shape == q_.shape && dk_.shape == k_.shape && dv_.shape == v_.shape,
          "gradients are {}, {}, {}; query, key, value are {}, {}, {}", dq.shape, dk.shape, dv.shape, query.shape,
          key.shape, value.shape);
  if (pse_.defined() && dpse.defined() && dpse.count() > 0) {
    require(dpse.dtype == DType::kFloat || dpse.dtype == query.dtype, "dpse is {}; use {}", dpse.dtype, query.dtype);
    require(dpse.shape == Dims({batch_, heads_, queries_, keys_}),
            "the gradient of a broadcast pse is not supported; expand pse to {}",
            Dims({batch_, heads_, queries_, keys_}));
  }
}

void FlashAttentionGrad::run() {
  parallel_parts(batch_ * kv_heads_, [&](int64_t part) { run_head(part / kv_heads_, part % kv_heads_); });
}

void FlashAttentionGrad::run_head(int64_t b, int64_t kv_head) const {
  const Scratch<float> k_buffer(keys_ * depth_), v_buffer(keys_ * value_depth_), dk_sum(keys_ * depth_);
  const Scratch<float> dv_sum(keys_ * value_depth_), dq_sum(kQueryTile * depth_), q_buffer(kQueryTile * depth_);
  const Scratch<float> dy_buffer(kQueryTile * value_depth_), out_buffer(kQueryTile * value_depth_);
  const Scratch<float> probability(kQueryTile * kKeyTile), gradient(kQueryTile * kKeyTile),
      dropped(kQueryTile * kKeyTile);
  // Kept in float32 over all queries and rounded once at the end.
  std::fill_n(dk_sum.data(), keys_ * depth_, 0.0f);
  std::fill_n(dv_sum.data(), keys_ * value_depth_, 0.0f);
  Tile tile{};
  tile.b = b;
  tile.q_buffer = q_buffer;
  tile.dy_buffer = dy_buffer;
  tile.out_buffer = out_buffer;
  tile.probability = probability;
  tile.gradient = gradient;
  tile.dropped = dropped;
  tile.dq = dq_sum;
  // Keys and values are converted once for all tiles of queries, which read them over and over.
  const float* k = load_rows(k_, b, kv_head, 0, keys_, k_buffer, &tile.ldk);
  const float* v = load_rows(v_, b, kv_head, 0, keys_, v_buffer, &tile.ldv);
  // All query heads of the group add to the gradients of this one key head.
  for (tile.n = kv_head * group(); tile.n < (kv_head + 1) * group(); ++tile.n) {
    for (int64_t row = 0; row < queries_; row += kQueryTile) {
      load_queries(tile, row);
      for (tile.col = 0; tile.col < keys_; tile.col += kKeyTile) {
        tile.cols = std::min(kKeyTile, keys_ - tile.col);
        tile.k = k + tile.col * tile.ldk;
        tile.v = v + tile.col * tile.ldv;
        tile.dk = dk_sum.data() + tile.col * depth_;
        tile.dv = dv_sum.data() + tile.col * value_depth_;
        run_tile(tile);
      }
      store_rows(dq_, b, tile.n, row, tile.rows, tile.dq);
    }
  }
  store_rows(dk_, b, kv_head, 0, keys_, dk_sum);
  store_rows(dv_, b, kv_head, 0, keys_, dv_sum);
}

void FlashAttentionGrad::load_queries(Tile& tile, int64_t row) const {
  tile.row = row;
  tile.rows = std::min(kQueryTile, queries_ - row);
  tile.q = load_rows(q_, tile.b, tile.n, row, tile.rows, tile.q_buffer, &tile.ldq);
  tile.dy = load_rows(dy_, tile.b, tile.n, row, tile.rows, tile.dy_buffer, &tile.lddy);
  int64_t ldo;
  const float* o = load_rows(attention_, tile.b, tile.n, row, tile.rows, tile.out_buffer, &ldo);
  std::fill_n(tile.dq, tile.rows * depth_, 0.0f);
  for (int64_t r = 0; r < tile.rows; ++r) {
    const auto at = [&](const Tensor& t) {
      return t.as<float>()[tile.b * t.strides[0] + tile.n * t.strides[1] + (row + r) * t.strides[2]];
    };
    tile.maximum[r] = at(softmax_max);
    tile.sum[r] = at(softmax_sum);
    double delta = 0;
    for (int64_t d = 0; d < value_depth_; ++d)
      delta += static_cast<double>(o[r * ldo + d]) * tile.dy[r * tile.lddy + d];
    // delta = sum over keys of p * dp, which equals dy · o: one product of two rows instead of another pass over all
    // tiles. In double: the gradient is a difference from it.
    tile.delta[r] = static_cast<float>(delta);
  }
}

// With P the probabilities and D what dropout makes of them, O = D V, so
//   dV = D^T dY, dP = dropout(dY V^T), dS = P * (dP - delta), dQ = scale dS K, dK = scale dS^T Q:
// five products a tile with the one that makes the scores.
void FlashAttentionGrad::run_tile(const Tile& t) const {
  score_tile(t.q, t.ldq, t.k, t.ldk, t.b, t.n, t.row, t.rows, t.col, t.cols, t.probability);
  // With the saved maximum and sum every tile has its final probabilities at once: no running softmax here.
  softmax_again(t.probability, t.rows, t.cols, t.maximum, t.sum);
  const float* used = t.probability;
  if (drops()) {
    std::copy_n(t.probability, t.rows * t.cols, t.dropped);
    apply_dropout(t.dropped, t.b, t.n, t.row, t.rows, t.col, t.cols);
    used = t.dropped;
  }
  // dv takes the probabilities that were used, behind dropout; the softmax's own gradient needs them before it.
  add_product(true, false, t.cols, value_depth_, t.rows, 1, used, t.cols, t.dy, t.lddy, 1, t.dv, value_depth_);
  add_product(false, true, t.rows, t.cols, value_depth_, 1, t.dy, t.lddy, t.v, t.ldv, 0, t.gradient, t.cols);
  apply_dropout(t.gradient, t.b, t.n, t.row, t.rows, t.col, t.cols);
  softmax_gradient(t.gradient, t.probability, t.rows, t.cols, t.delta);
  auto factor = static_cast<float>(scale);
  if (scales_bias()) {  // the bias was scaled as the product was: its gradient takes the factor, too
    for (int64_t i = 0; i < t.rows * t.cols; ++i) t.gradient[i] *= factor;
    factor = 1;
  }
  if (pse_.defined() && dpse.defined() && dpse.count() > 0) {
    Tensor rows = dpse;
    rows.offset += t.col * dpse.strides[3];
    rows.shape[3] = t.cols;
    store_rows(rows, t.b, t.n, t.row, t.rows, t.gradient);
  }
  add_product(false, false, t.rows, depth_, t.cols, factor, t.gradient, t.cols, t.k, t.ldk, 1, t.dq, depth_);
  add_product(true, false, t.cols, depth_, t.rows, factor, t.gradient, t.cols, t.q, t.ldq, 1, t.dk, depth_);
}

std::vector<Field> backward_fields() {
  auto fields = attention_fields<FlashAttentionGrad>();
  for (const Field& f :
       {in<&FlashAttentionGrad::dy>("dy"), in<&FlashAttentionGrad::softmax_max>("softmax_max"),
        in<&FlashAttentionGrad::softmax_sum>("softmax_sum"), optional<&FlashAttentionGrad::softmax>("softmax"),
        in<&FlashAttentionGrad::attention>("attention"), out<&FlashAttentionGrad::dq>("dq"),
        out<&FlashAttentionGrad::dk>("dk"), out<&FlashAttentionGrad::dv>("dv"),
        optional_out<&FlashAttentionGrad::dpse>("dpse")}) {
    fields.push_back(f);
  }
  return fields;
}
const Registration register_flash_grad("flash_attention_grad", "attention", backward_fields(),
                                       &make<FlashAttentionGrad>);

}  // namespace
}  // namespace npu::ops
