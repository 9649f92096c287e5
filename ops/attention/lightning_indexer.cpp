// SPDX-License-Identifier: Apache-2.0
// Which keys a query should attend to: those of the highest scores, a score being the sum over the heads of what is
// left of a product when negative numbers are cut, times a weight of the head.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "ops/attention/layout.h"
#include "ops/cube/gemm.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

constexpr int64_t kTile = 512;  // keys whose scores are formed at once

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// indices = the sparse_count highest of sum over n of weights[n] * relu(query[n] @ key), the first of equals first; -1
/// behind the last key that the query may see.
struct LightningIndexer final : Operator {
  Tensor query, key, weights, query_lengths, key_lengths, block_table, indices, values;
  std::string layout = "BSND", key_layout = "BSND";
  int64_t sparse_count = 2048, sparse_mode = 3, pre_tokens = INT64_MAX, next_tokens = INT64_MAX;
  bool return_value = false;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + q_.count() * k_.shape[2] / 16; }

 private:
  /// A query: its row of the views, its sample, and how many keys from `first` on it may see.
  struct Place {
    int64_t batch, row, sample, first, keys;
  };
  void check_options() const;
  void check_results() const;
  bool packed() const { return layout == "TND"; }
  bool paged() const { return key_layout == "PA_BSND"; }
  int64_t samples() const { return packed() ? query_lengths.count() : q_.shape[0]; }
  std::vector<Place> places() const;
  void load_keys(const Place& p, int64_t from, int64_t count, float* to) const;
  void add_scores(const Place& p, float* scores) const;
  void select(const Place& p) const;

  Tensor q_, k_;       ///< [B, N, S, D], or [1, N, T, D] where samples are packed; keys also [pages, 1, tokens, D]
  Tensor w_;           ///< [B, S, N] or [1, T, N]
  Tensor out_, made_;  ///< [B, S, count] or [1, T, count]
};

Tensor with_row(const Tensor& t, bool packed) {
  Tensor out = t;
  if (packed) out.shape.insert(0, 1), out.strides.insert(0, 0);
  return out;
}

/// One number a sample; rising ends of packed samples, or their lengths.
std::vector<int64_t> read(const Tensor& t) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.count(); ++i) out.push_back(static_cast<int64_t>(load_element(t, i * t.strides[0])));
  return out;
}

void LightningIndexer::check_options() const {
  require(layout == "BSND" || layout == "TND", "layout_query is {}; it is BSND or TND", layout);
  require(key_layout == layout || paged(), "layout_key is {}, layout_query {}; they agree, or keys are PA_BSND",
          key_layout, layout);
  require(paged() == !absent(block_table), "layout_key is {}, block_table {}; PA_BSND and a table go together",
          key_layout, block_table);
  require(!packed() || !absent(query_lengths), "actual_seq_lengths_query is null; layout TND needs it");
  require((!packed() && !paged()) || !absent(key_lengths), "actual_seq_lengths_key is null; layout {} needs it",
          key_layout);
  require(sparse_mode == 0 || sparse_mode == 3, "sparse_mode is {}; it is 0 (all keys) or 3 (no later keys)",
          sparse_mode);
  require(pre_tokens == INT64_MAX && next_tokens == INT64_MAX,
          "pre_tokens is {}, next_tokens {}; only 2^63 - 1, no limit, is taken", pre_tokens, next_tokens);
  require(query.dtype == DType::kFloat || query.dtype == DType::kHalf || query.dtype == DType::kBFloat16,
          "query is {}; use float16, bfloat16 or float32", query);
  require(key.dtype == query.dtype && weights.dtype == query.dtype, "query is {}, key {}, weights {}: use one dtype",
          query, key, weights);
}

void LightningIndexer::check_results() const {
  Dims wanted = query.shape;
  wanted[wanted.size() - 2] = 1, wanted.back() = sparse_count;
  require(sparse_count > 0 && indices.dtype == DType::kInt32 && indices.shape == wanted,
          "the indices are {}; they are int32 {}", indices, wanted);
  require(!return_value || (values.dtype == query.dtype && values.shape == wanted),
          "the values are {}; with return_value they are {} {}", values, query.dtype, wanted);
}

void LightningIndexer::prepare() {
  check_options();
  const size_t rank = packed() ? 3 : 4;
  require(query.rank() == rank && weights.rank() + 1 == rank, "query is {}, weights {}: they have {} and {} dimensions",
          query, weights, rank, rank - 1);
  q_ = packed() ? packed_view(query, "query") : head_view(query, "BSND", 0, "query");
  k_ = key_layout == "TND" ? packed_view(key, "key") : head_view(key, "BSND", 0, "key");
  require(k_.shape[1] == 1 && k_.shape[3] == q_.shape[3], "query is {}, key {}; keys have one head, and one depth",
          query, key);
  require(weights.shape == Dims(std::span(query.shape.data(), rank - 1)), "query is {}, weights {}: give one a head",
          query, weights);
  for (const auto& [t, name] :
       {std::pair(&query_lengths, "actual_seq_lengths_query"), std::pair(&key_lengths, "actual_seq_lengths_key")}) {
    require(absent(*t) || (is_integer(t->dtype) && t->shape == Dims{samples()}), "{} is {}; it has one for each of {}",
            name, *t, samples());
  }
  require(packed() || paged() || k_.shape[0] == q_.shape[0], "query is {}, key {}: batches differ", query, key);
  require(!paged() || (is_integer(block_table.dtype) && block_table.rank() == 2 && block_table.shape[0] == samples()),
          "block_table is {}; it has a row for each of {} samples", block_table, samples());
  check_results();
  w_ = with_row(weights, packed());
  const auto flat = [&](Tensor t) {
    t.shape.erase(t.rank() - 2), t.strides.erase(t.strides.size() - 2);
    return with_row(t, packed());
  };
  out_ = flat(indices);
  if (return_value) made_ = flat(values);
}

std::vector<LightningIndexer::Place> LightningIndexer::places() const {
  const std::vector<int64_t> queries = absent(query_lengths) ? std::vector<int64_t>() : read(query_lengths);
  const std::vector<int64_t> keys = absent(key_lengths) ? std::vector<int64_t>() : read(key_lengths);
  const bool packed_keys = key_layout == "TND";
  std::vector<Place> out;
  for (int64_t s = 0; s < samples(); ++s) {
    const auto at = static_cast<size_t>(s);
    const int64_t begin = packed() && s > 0 ? queries[at - 1] : 0, first = packed_keys && s > 0 ? keys[at - 1] : 0;
    const int64_t count = queries.empty() ? q_.shape[2] : queries[at] - begin;
    const int64_t length = keys.empty() ? k_.shape[2] : keys[at] - first;
    const int64_t room = paged() ? block_table.shape[1] * k_.shape[2] : k_.shape[2] - first;
    require(count >= 0 && begin + count <= q_.shape[2], "actual_seq_lengths_query[{}] is {}; there are {} queries", s,
            queries.empty() ? count : queries[at], q_.shape[2]);
    require(length >= 0 && length <= room, "actual_seq_lengths_key[{}] is {}; there is room for {}", s,
            keys.empty() ? length : keys[at], room);
    // Aligned at the end: the last query sees every key.
    for (int64_t i = 0; i < count; ++i) {
      const int64_t seen = sparse_mode == 3 ? std::clamp<int64_t>(length - count + i + 1, 0, length) : length;
      out.push_back({packed() ? 0 : s, begin + i, s, first, seen});
    }
  }
  return out;
}

void LightningIndexer::load_keys(const Place& p, int64_t from, int64_t count, float* to) const {
  const int64_t depth = k_.shape[3], page = k_.shape[2];
  if (!paged()) return copy_rows(k_, key_layout == "TND" ? 0 : p.sample, 0, p.first + from, count, to, depth);
  for (int64_t done = 0; done < count;) {
    const int64_t at = from + done, rows = std::min(count - done, page - at % page);
    const auto block = static_cast<int64_t>(
        load_element(block_table, p.sample * block_table.strides[0] + at / page * block_table.strides[1]));
    require(block >= 0 && block < k_.shape[0], "block_table names page {}; there are {}", block, k_.shape[0]);
    copy_rows(k_, block, 0, at % page, rows, to + done * depth, depth);
    done += rows;
  }
}

void LightningIndexer::add_scores(const Place& p, float* scores) const {
  const int64_t heads = q_.shape[1], depth = q_.shape[3];
  const Scratch<float> q(heads * depth), keys(kTile * depth), product(heads * kTile);
  for (int64_t h = 0; h < heads; ++h) copy_rows(q_, p.batch, h, p.row, 1, q + h * depth, depth);
  for (int64_t from = 0; from < p.keys; from += kTile) {
    const int64_t count = std::min(kTile, p.keys - from);
    load_keys(p, from, count, keys);
    cube::GemmArgs<float> args;
    args.trans_b = true, args.m = heads, args.n = count, args.k = depth;
    args.a = q, args.lda = depth, args.b = keys, args.ldb = depth, args.c = product, args.ldc = count;
    cube::gemm_serial(args);
    std::fill_n(scores + from, count, 0.0f);
    for (int64_t h = 0; h < heads; ++h) {
      const auto weight =
          static_cast<float>(load_element(w_, p.batch * w_.strides[0] + p.row * w_.strides[1] + h * w_.strides[2]));
      for (int64_t i = 0; i < count; ++i) scores[from + i] += weight * std::max(product[h * count + i], 0.0f);
    }
  }
}

void LightningIndexer::select(const Place& p) const {
  const Scratch<float> scores(std::max<int64_t>(p.keys, 1));
  add_scores(p, scores);
  std::vector<int32_t> at(static_cast<size_t>(p.keys));
  std::iota(at.begin(), at.end(), 0);
  const int64_t kept = std::min(sparse_count, p.keys);
  std::partial_sort(at.begin(), at.begin() + kept, at.end(),
                    [&](int32_t a, int32_t b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
  for (int64_t i = 0; i < sparse_count; ++i) {
    const int32_t index = i < kept ? at[static_cast<size_t>(i)] : -1;
    const auto place = [&](const Tensor& t) {
      return p.batch * t.strides[0] + p.row * t.strides[1] + i * t.strides[2];
    };
    out_.as<int32_t>()[place(out_)] = index;
    if (return_value) store_element(made_, place(made_), index < 0 ? 0 : scores[index]);
  }
}

void LightningIndexer::run() {
  const std::vector<Place> all = places();
  // Rows behind the queries of a sample are queries of none.
  if (static_cast<int64_t>(all.size()) < q_.shape[0] * q_.shape[2]) {
    for (int64_t i = 0; i < q_.shape[0] * q_.shape[2] * sparse_count; ++i) {
      const int64_t row = i / sparse_count, column = i % sparse_count;
      const auto place = [&](const Tensor& t) {
        return row / q_.shape[2] * t.strides[0] + row % q_.shape[2] * t.strides[1] + column * t.strides[2];
      };
      out_.as<int32_t>()[place(out_)] = -1;
      if (return_value) store_element(made_, place(made_), 0);
    }
  }
  parallel_parts(static_cast<int64_t>(all.size()), [&](int64_t i) { select(all[static_cast<size_t>(i)]); });
}

using L = LightningIndexer;
NPU_OPERATOR(L, "lightning_indexer", "attention", in<&L::query>("query"), in<&L::key>("key"),
             in<&L::weights>("weights"), optional<&L::query_lengths>("query_lengths"),
             optional<&L::key_lengths>("key_lengths"), optional<&L::block_table>("block_table"),
             attr<&L::layout>("layout"), attr<&L::key_layout>("key_layout"), attr<&L::sparse_count>("sparse_count"),
             attr<&L::sparse_mode>("sparse_mode"), attr<&L::pre_tokens>("pre_tokens"),
             attr<&L::next_tokens>("next_tokens"), attr<&L::return_value>("return_value"), out<&L::indices>("indices"),
             optional_out<&L::values>("values"));

}  // namespace
}  // namespace npu::ops
