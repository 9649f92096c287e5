// SPDX-License-Identifier: Apache-2.0
// Attention to chosen blocks of keys (native sparse attention, and that of latent attention after an indexer): each
// query and key head has a list of blocks that ends at its first negative number. The queries of a group share what is
// gathered, and the softmax runs along with tiles of gathered keys. Where the device rounds the weights before they
// meet the values (`rounded`), they are known only after all tiles: scores are kept, and values gathered in a second
// pass.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "ops/attention/layout.h"
#include "ops/attention/tile_kernel.h"
#include "ops/cube/gemm.h"
#include "ops/exact.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/conversion/rounding_converter.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

/// One number a sample, from an array or, known only when it is run, from a tensor.
std::vector<int64_t> numbers(const std::vector<int64_t>& array, const Tensor& tensor) {
  if (absent(tensor)) return array;
  std::vector<int64_t> read;
  for (int64_t i = 0; i < tensor.count(); ++i)
    read.push_back(static_cast<int64_t>(load_element(tensor, i * tensor.strides[0])));
  return read;
}

struct SelectedAttention final : Operator {
  Tensor query, key, value, indices, atten_mask, block_table, query_lengths, key_lengths, query_rope, key_rope, sinks;
  std::vector<int64_t> query_ends, key_ends;
  double scale = 1;
  int64_t head_num = 0, kv_head_num = 0, block = 1, count = 0, page_size = 0;
  std::string layout, kv_layout;
  int64_t sparse_mode = 0, pre_tokens = INT64_MAX, next_tokens = INT64_MAX, latent_mode = 2;
  int64_t one_query = 0;  ///< each sample has a single query
  bool rounded = false;   ///< weights are rounded to the type of query, unless ANYNPU_EXACT is set
  Tensor softmax_max, softmax_sum, out;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + q_.count() * indices.shape.back() * block / 16; }

 private:
  /// Where a query stands: its row of the views, its sample, and how many keys of that it may see.
  struct Place {
    int64_t batch = 0, row = 0, sample = 0, keys = 0, first_key = 0, length = 0;
  };
  /// Neighbouring keys: `rows` of view k_ from `row` of `batch` on.
  struct Run {
    int64_t batch, row, rows;
  };
  void check_options() const;
  void check_queries();
  void check_keys();
  void check_rope();
  void check_statistics();
  bool packed() const { return layout == "TND" && one_query == 0; }
  bool paged() const { return kv_layout == "PA_BSND"; }
  int64_t samples() const;
  std::vector<Place> places() const;
  int64_t index(const Place& p, int64_t head, int64_t i) const;
  void check_indices(const std::vector<Place>& places) const;
  std::vector<Run> chosen(const Place& p, int64_t head) const;
  void add_run(const Place& p, int64_t from, int64_t to, std::vector<Run>& runs) const;
  void attend(const Place& p, int64_t head) const;
  template <class F>
  static void each_tile(const std::vector<Run>& runs, F&& body);
  void gather(const Tensor& view, const std::vector<Run>& runs, int64_t head, float* to, int64_t ld) const;
  void store_statistic(const Tensor& view, const Place& p, int64_t head, const float* values) const;
  int64_t group() const { return q_.shape[1] / k_.shape[1]; }

  Tensor q_, q_rope_, out_;  ///< [B, N, S, D], or [1, N, T, D] where sequences are packed
  Tensor k_, v_, k_rope_;    ///< [B, Nkv, S, D], [1, Nkv, T, D] or [pages, Nkv, tokens, D]
  Tensor index_;             ///< [B, S, Nkv, blocks]
  Tensor max_, sum_;         ///< [B, Nkv, S, group, copies]
  int64_t depth_ = 0;
  Convert round_ = nullptr;  ///< of weights, in place; null where they stay float32
};

void SelectedAttention::check_options() const {
  require(absent(atten_mask), "atten_mask is given: the vendor does not take it yet; leave it out");
  require(block > 0, "the size of a block is {}; it must be positive", block);
  require(sparse_mode == 0 || sparse_mode == 3, "sparse_mode is {}; it is 0 (all keys) or 3 (no later keys)",
          sparse_mode);
  require(pre_tokens == INT64_MAX && next_tokens == INT64_MAX,
          "pre_tokens is {}, next_tokens {}; only 2^63 - 1, no limit, is taken", pre_tokens, next_tokens);
  require(latent_mode == 2, "attention_mode is {}; it must be 2, latent attention with query_rope and key_rope",
          latent_mode);
  require(query.dtype == DType::kFloat || query.dtype == DType::kHalf || query.dtype == DType::kBFloat16,
          "query is {}; attention takes float16, bfloat16 and float32", query.dtype);
  require(key.dtype == query.dtype && (absent(value) || value.dtype == query.dtype),
          "query is {}, key {}, value {}: use one dtype", query.dtype, key.dtype, value.dtype);
}

/// A row a sample, as [B, N, 1, D].
Tensor rows_as_samples(const Tensor& t, const char* name) {
  require(t.rank() == 3, "{} is {}: layout TND has 3 dimensions", name, t.shape);
  return t.view({t.shape[0], t.shape[1], 1, t.shape[2]}, {t.strides[0], t.strides[1], 0, t.strides[2]});
}

void SelectedAttention::check_queries() {
  require(layout == "TND" || layout == "BSND" || (one_query != 0 && layout == "BSH"), "layout is {}; it is {}", layout,
          one_query != 0 ? "BSH, BSND or TND" : "BSND or TND");
  const auto view = [&](const Tensor& t, const char* name) {
    if (layout != "TND") return head_view(t, layout, head_num, name);
    return one_query != 0 ? rows_as_samples(t, name) : packed_view(t, name);
  };
  q_ = view(query, "query"), out_ = view(out, "the result");
  q_rope_ = absent(query_rope) ? Tensor() : view(query_rope, "query_rope");
  require(head_num == 0 || q_.shape[1] == head_num, "query is {}; it must have {} heads", query.shape, head_num);
  require(one_query == 0 || q_.shape[2] == 1, "query is {}; each sample must have a single query", query.shape);
}

int64_t SelectedAttention::samples() const {
  if (!packed()) return q_.shape[0];
  return absent(query_lengths) ? static_cast<int64_t>(query_ends.size()) : query_lengths.count();
}

void SelectedAttention::check_keys() {
  require(kv_layout == "TND" || kv_layout == "BSND" || paged(), "the layout of keys is {}; it is TND, BSND or PA_BSND",
          kv_layout);
  require(paged() || kv_layout == layout, "keys lie as {}, queries as {}; without a block_table they must agree",
          kv_layout, layout);
  require(paged() == !absent(block_table), "the layout of keys is {}, block_table {}; PA_BSND and a table go together",
          kv_layout, block_table);
  const auto view = [&](const Tensor& t, const char* name) {
    if (kv_layout == "TND") return packed_view(t, name);
    return head_view(t, t.rank() == 3 ? "BSH" : "BSND", std::max<int64_t>(kv_head_num, 1), name);
  };
  k_ = view(key, "key"), v_ = view(absent(value) ? key : value, "value");
  k_rope_ = absent(key_rope) ? Tensor() : view(key_rope, "key_rope");
  const Dims& k = k_.shape;
  require(k[1] > 0 && q_.shape[1] % k[1] == 0 && (kv_head_num == 0 || k[1] == kv_head_num),
          "query has {} heads, key is {}: the heads of keys must divide those of queries", q_.shape[1], key.shape);
  require(k[3] == q_.shape[3], "query is {}, key {}: their depth must agree", query.shape, key.shape);
  require(v_.shape == Dims({k[0], k[1], k[2], v_.shape[3]}), "value is {}, key {}: all but the depth must agree",
          value.shape, key.shape);
  require(paged() || k[0] == q_.shape[0], "query is {}, key {}: the batch must agree", query.shape, key.shape);
  require(!paged() || (block_table.rank() == 2 && block_table.shape[0] == samples() && is_integer(block_table.dtype)),
          "block_table is {}; it has a row of integers for each of {} samples", block_table, samples());
  require(page_size == 0 || k[2] == page_size, "key is {}, page_block_size {}", key.shape, page_size);
  const auto given = absent(key_lengths) ? static_cast<int64_t>(key_ends.size()) : key_lengths.count();
  require(given == samples() || (given == 0 && kv_layout == "BSND"),
          "there are {} lengths of keys for {} samples; give one each", given, samples());
  require(out_.shape == Dims({q_.shape[0], q_.shape[1], q_.shape[2], v_.shape[3]}),
          "the result is {}; it must be as query {} with the depth {} of value", out.shape, query.shape, v_.shape[3]);
}

void SelectedAttention::check_rope() {
  depth_ = q_.shape[3];
  require(q_rope_.defined() == k_rope_.defined(), "query_rope and key_rope belong together; give both or none");
  if (q_rope_.defined()) {
    const int64_t more = q_rope_.shape[3];
    require(q_rope_.shape == Dims({q_.shape[0], q_.shape[1], q_.shape[2], more}) &&
                k_rope_.shape == Dims({k_.shape[0], k_.shape[1], k_.shape[2], more}),
            "query_rope is {}, key_rope {}: all but their depth, which must agree, is as of query {} and key {}",
            query_rope.shape, key_rope.shape, query.shape, key.shape);
    depth_ += more;
  }
  require(absent(sinks) || (is_floating(sinks.dtype) && sinks.shape == Dims{q_.shape[1]}),
          "sinks is {}; it must be floating point [{}], a score for each head", sinks, q_.shape[1]);
}

void SelectedAttention::check_statistics() {
  max_ = sum_ = Tensor();
  const int64_t b = q_.shape[0], n = k_.shape[1], s = q_.shape[2], g = group();
  for (const auto& [tensor, view] : {std::pair(&softmax_max, &max_), std::pair(&softmax_sum, &sum_)}) {
    if (absent(*tensor)) continue;
    const Dims& at = tensor->strides;
    const bool copies = tensor->shape == Dims({s, n * g, 8});
    require(tensor->dtype == DType::kFloat && packed() == (tensor->rank() == 3) &&
                (copies || tensor->shape == (packed() ? Dims{n, s, g} : Dims{b, n, s, g})),
            "softmax_max and softmax_sum must be float32, as the layout {} wants them, got {}", layout, *tensor);
    if (copies)
      *view = tensor->view({1, n, s, g, 8}, {0, g * at[1], at[0], at[1], at[2]});
    else if (packed())
      *view = tensor->view({1, n, s, g, 1}, {0, at[0], at[1], at[2], 0});
    else
      *view = tensor->view({b, n, s, g, 1}, {at[0], at[1], at[2], at[3], 0});
  }
}

void SelectedAttention::prepare() {
  check_options();
  check_queries();
  const bool rounds = rounded && !is_exact() && query.dtype != DType::kFloat;
  round_ = rounds ? rounding_converter(DType::kFloat, query.dtype) : nullptr;
  check_keys();
  check_rope();
  check_statistics();
  index_ = indices;
  const size_t axis = packed() ? 0 : 1;
  if (index_.rank() == 3) index_.shape.insert(axis, 1), index_.strides.insert(axis, 0);
  require(index_.rank() == 4 && index_.dtype == DType::kInt32 &&
              index_.shape == Dims({q_.shape[0], q_.shape[2], k_.shape[1], index_.shape.back()}) &&
              (count == 0 || index_.shape.back() == count),
          "the chosen blocks are {}; they must be int32, a list for each query and key head", indices);
}

/// Where each query stands. Lengths may be the device's, so they are looked at here, before anything is written.
std::vector<SelectedAttention::Place> SelectedAttention::places() const {
  const auto queries = numbers(query_ends, query_lengths), keys = numbers(key_ends, key_lengths);
  const auto at = [](const std::vector<int64_t>& list, int64_t i) { return i < 0 ? 0 : list[static_cast<size_t>(i)]; };
  std::vector<Place> made;
  for (int64_t b = 0; b < samples(); ++b) {
    const int64_t first = packed() ? at(queries, b - 1) : 0;
    const int64_t last = one_query != 0 || queries.empty() ? q_.shape[2] : at(queries, b);
    const int64_t first_key = kv_layout == "TND" ? at(keys, b - 1) : 0;
    const int64_t end = keys.empty() ? k_.shape[2] : at(keys, b);
    const int64_t room = paged() ? block_table.shape[1] * k_.shape[2] : k_.shape[2];
    require(first >= 0 && first <= last && last <= q_.shape[2], "queries of sample {} are {} to {}; there are {}", b,
            first, last, q_.shape[2]);
    require(first_key >= 0 && first_key <= end && end <= room, "keys of sample {} are {} to {}; there are {}", b,
            first_key, end, room);
    for (int64_t row = first; row < last; ++row) {
      Place p{packed() ? 0 : b, row, b, end - first_key, first_key, end - first_key};
      // The last query sees the last key.
      if (sparse_mode == 3) p.keys = std::clamp<int64_t>(p.length - (last - first) + (row - first) + 1, 0, p.length);
      made.push_back(p);
    }
  }
  return made;
}

int64_t SelectedAttention::index(const Place& p, int64_t head, int64_t i) const {
  return index_.as<const int32_t>()[p.batch * index_.strides[0] + p.row * index_.strides[1] + head * index_.strides[2] +
                                    i * index_.strides[3]];
}

void SelectedAttention::check_indices(const std::vector<Place>& places) const {
  for (const Place& p : places) {
    const int64_t blocks = (p.length + block - 1) / block;
    for (int64_t head = 0; head < k_.shape[1]; ++head) {
      for (int64_t i = 0; i < index_.shape[3] && index(p, head, i) >= 0; ++i)
        require(index(p, head, i) < blocks, "block {} is chosen for query {} of sample {}; it has {} blocks",
                index(p, head, i), p.row, p.sample, blocks);
    }
  }
  for (int64_t b = 0; paged() && b < samples(); ++b) {
    const auto found = std::ranges::find(places, b, &Place::sample);
    const int64_t used = found == places.end() ? 0 : (found->length + k_.shape[2] - 1) / k_.shape[2];
    for (int64_t i = 0; i < used; ++i) {
      const auto page =
          static_cast<int64_t>(load_element(block_table, b * block_table.strides[0] + i * block_table.strides[1]));
      require(page >= 0 && page < k_.shape[0], "block_table names page {} for sample {}; there are {} pages", page, b,
              k_.shape[0]);
    }
  }
}

void SelectedAttention::add_run(const Place& p, int64_t from, int64_t to, std::vector<Run>& runs) const {
  if (!paged()) {
    if (from < to) runs.push_back({kv_layout == "TND" ? 0 : p.sample, p.first_key + from, to - from});
    return;
  }
  for (const int64_t tokens = k_.shape[2]; from < to;) {
    const int64_t end = std::min(to, (from / tokens + 1) * tokens);
    const int64_t at = p.sample * block_table.strides[0] + from / tokens * block_table.strides[1];
    runs.push_back({static_cast<int64_t>(load_element(block_table, at)), from % tokens, end - from});
    from = end;
  }
}

std::vector<SelectedAttention::Run> SelectedAttention::chosen(const Place& p, int64_t head) const {
  std::vector<Run> runs;
  for (int64_t i = 0; i < index_.shape[3]; ++i) {
    const int64_t b = index(p, head, i);
    if (b < 0) break;
    // In pieces of a tile at most.
    const int64_t end = std::min((b + 1) * block, p.keys);
    for (int64_t from = b * block; from < end; from += kKeyTile) add_run(p, from, std::min(from + kKeyTile, end), runs);
  }
  return runs;
}

void SelectedAttention::gather(const Tensor& view, const std::vector<Run>& runs, int64_t head, float* to,
                               int64_t ld) const {
  for (const Run& run : runs) {
    copy_rows(view, run.batch, head, run.row, run.rows, to, ld);
    to += run.rows * ld;
  }
}

/// Calls body(runs, keys) for tiles of at most kKeyTile keys.
template <class F>
void SelectedAttention::each_tile(const std::vector<Run>& runs, F&& body) {
  for (auto run = runs.begin(); run != runs.end();) {
    int64_t cols = 0;
    std::vector<Run> tile;
    for (; run != runs.end() && cols + run->rows <= kKeyTile; cols += run->rows, ++run) tile.push_back(*run);
    body(tile, cols);
  }
}

void multiply(bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, const float* b, float beta,
              float* c) {
  cube::GemmArgs<float> args;
  args.trans_b = trans_b;
  args.m = m, args.n = n, args.k = k;
  args.alpha = alpha, args.beta = beta;
  args.a = a, args.lda = k;
  args.b = b, args.ldb = trans_b ? k : n;
  args.c = c, args.ldc = n;
  cube::gemm_serial(args);
}

void SelectedAttention::attend(const Place& p, int64_t head) const {
  const int64_t g = group(), nope = q_.shape[3], width = v_.shape[3];
  const Scratch<float> q(g * depth_), k(kKeyTile * depth_), v(kKeyTile * width), scores(g * kKeyTile), made(g * width);
  const Scratch<float> maximum(g), sum(g), rescale(g);
  for (int64_t n = 0; n < g; ++n) {
    copy_rows(q_, p.batch, head * g + n, p.row, 1, q.data() + n * depth_, depth_);
    if (q_rope_.defined()) copy_rows(q_rope_, p.batch, head * g + n, p.row, 1, q.data() + n * depth_ + nope, depth_);
    // A sink is a key that was there before all others and has no value.
    maximum.data()[n] = absent(sinks) ? -std::numeric_limits<float>::infinity()
                                      : static_cast<float>(load_element(sinks, (head * g + n) * sinks.strides[0]));
    sum.data()[n] = absent(sinks) ? 0.0f : 1.0f;
  }
  std::fill_n(made.data(), g * width, 0.0f);
  const std::vector<Run> runs = chosen(p, head);
  std::vector<float> kept;  // scores of all tiles, one behind the other
  each_tile(runs, [&](const std::vector<Run>& tile, int64_t cols) {
    gather(k_, tile, head, k.data(), depth_);
    if (k_rope_.defined()) gather(k_rope_, tile, head, k.data() + nope, depth_);
    multiply(true, g, cols, depth_, static_cast<float>(scale), q.data(), k.data(), 0, scores.data());
    if (round_ != nullptr) kept.insert(kept.end(), scores.data(), scores.data() + g * cols);
    softmax_step(scores.data(), g, cols, maximum.data(), sum.data(), rescale.data());
    if (round_ != nullptr) return;
    gather(v_, tile, head, v.data(), width);
    scale_rows(made.data(), g, width, rescale.data());
    multiply(false, g, width, cols, 1, scores.data(), v.data(), 1, made.data());
  });
  if (round_ != nullptr) {
    each_tile(runs, [&, weights = kept.data()](const std::vector<Run>& tile, int64_t cols) mutable {
      gather(v_, tile, head, v.data(), width);
      softmax_again(weights, g, cols, maximum.data(), sum.data());
      round_(weights, 1, weights, 1, g * cols);
      multiply(false, g, width, cols, 1, weights, v.data(), 1, made.data());
      weights += g * cols;
    });
  } else {
    for (int64_t n = 0; n < g; ++n) rescale.data()[n] = sum.data()[n] == 0 ? 0.0f : 1 / sum.data()[n];
    scale_rows(made.data(), g, width, rescale.data());
  }
  for (int64_t n = 0; n < g; ++n) store_rows(out_, p.batch, head * g + n, p.row, 1, made.data() + n * width, width);
  store_statistic(max_, p, head, maximum.data());
  store_statistic(sum_, p, head, sum.data());
}

void SelectedAttention::store_statistic(const Tensor& view, const Place& p, int64_t head, const float* values) const {
  if (!view.defined()) return;
  float* to = view.as<float>() + p.batch * view.strides[0] + head * view.strides[1] + p.row * view.strides[2];
  for (int64_t n = 0; n < view.shape[3]; ++n) {
    for (int64_t i = 0; i < view.shape[4]; ++i) to[n * view.strides[3] + i * view.strides[4]] = values[n];
  }
}

void SelectedAttention::run() {
  const std::vector<Place> found = places();
  check_indices(found);
  // Queries that belong to no sequence.
  if (static_cast<int64_t>(found.size()) != q_.shape[0] * q_.shape[2]) {
    clear_rows(out_, 0);
    for (const Tensor* t : {&max_, &sum_}) {
      for (int64_t i = 0; t->defined() && i < t->shape[0] * t->shape[1] * t->shape[2]; ++i) {
        const std::vector<float> nothing(static_cast<size_t>(t->shape[3]));
        const int64_t row = i % t->shape[2], head = i / t->shape[2] % t->shape[1];
        store_statistic(*t, {.batch = i / t->shape[2] / t->shape[1], .row = row}, head, nothing.data());
      }
    }
  }
  const int64_t heads = k_.shape[1];
  parallel_parts(static_cast<int64_t>(found.size()) * heads,
                 [&](int64_t part) { attend(found[static_cast<size_t>(part / heads)], part % heads); });
}

using S = SelectedAttention;
NPU_OPERATOR(SelectedAttention, "selected_attention", "attention", in<&S::query>("query"), in<&S::key>("key"),
             optional<&S::value>("value"), in<&S::indices>("indices"), optional<&S::atten_mask>("atten_mask"),
             optional<&S::block_table>("block_table"), optional<&S::query_lengths>("query_lengths"),
             optional<&S::key_lengths>("key_lengths"), optional<&S::query_rope>("query_rope"),
             optional<&S::key_rope>("key_rope"), optional<&S::sinks>("sinks"), attr<&S::query_ends>("query_ends"),
             attr<&S::key_ends>("key_ends"), attr<&S::scale>("scale"), attr<&S::head_num>("head_num"),
             attr<&S::kv_head_num>("kv_head_num"), attr<&S::block>("block"), attr<&S::count>("count"),
             attr<&S::page_size>("page_size"), attr<&S::layout>("layout"), attr<&S::kv_layout>("kv_layout"),
             attr<&S::sparse_mode>("sparse_mode"), attr<&S::pre_tokens>("pre_tokens"),
             attr<&S::next_tokens>("next_tokens"), attr<&S::latent_mode>("latent_mode"),
             attr<&S::one_query>("one_query"), attr<&S::rounded>("rounded"), out<&S::out>("out"),
             optional_out<&S::softmax_max>("softmax_max"), optional_out<&S::softmax_sum>("softmax_sum"));

}  // namespace
}  // namespace npu::ops
