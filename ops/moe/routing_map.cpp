// SPDX-License-Identifier: Apache-2.0
// Tokens laid out expert by expert and back where a map [tokens, experts] says who goes where. Without padding, slot i
// is the i % k-th expert of token i / k and `sorted` its row; with padding, an expert has `capacity` rows, and `sorted`
// is the token of each.
#include <algorithm>

#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

struct Mapped : TokenRows {
  Tensor sorted, map, probs;
  bool padded = false;

 protected:
  struct Slot {
    int64_t row, token, expert;
  };

  void check_map(const Tensor& t, int64_t tokens, const char* name) const {
    require(t.rank() == 2 && t.shape[0] == tokens, "{} is {}; it is [{} tokens, experts]", name, t, tokens);
  }
  void check_map_type() const {
    require(map.dtype == DType::kInt8 || map.dtype == DType::kBool, "routingMap is {}; use int8 or bool", map);
  }
  /// The slots in the order of `sorted`.
  std::vector<Slot> slots(int64_t tokens, int64_t experts) const {
    const std::vector<int64_t> table = read_whole(sorted),
                               on = map.defined() ? read_whole(map) : std::vector<int64_t>();
    const auto count = static_cast<int64_t>(table.size());
    std::vector<Slot> made(table.size());
    const int64_t capacity = std::max<int64_t>(experts > 0 ? count / experts : 0, 1);
    const int64_t k = std::max<int64_t>(tokens > 0 ? count / tokens : 0, 1);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = table[static_cast<size_t>(i)], token = padded ? value : i / k;
      const int64_t row = padded ? i : value;
      made[static_cast<size_t>(i)] = {row, token, i / capacity};
      if (padded) continue;
      const int64_t last = i % k == 0 ? -1 : made[static_cast<size_t>(i - 1)].expert;
      made[static_cast<size_t>(i)].expert = next_expert(on, token, last + 1, experts);
    }
    return made;
  }
  /// The first expert of a token from `expert` on; `experts` where there is none.
  static int64_t next_expert(const std::vector<int64_t>& on, int64_t token, int64_t expert, int64_t experts) {
    while (expert < experts && on[static_cast<size_t>(token * experts + expert)] == 0) ++expert;
    return std::min(expert, experts);
  }
  static double number(const Tensor& t, int64_t row, int64_t col) {
    return load_element(t, row * t.strides[0] + col * t.strides[1]);
  }
  /// What a slot's token gives its expert, 1 without shares.
  float share(const Slot& slot) const {
    if (!probs.defined()) return 1;
    const bool there =
        slot.token >= 0 && slot.token < probs.shape[0] && slot.expert >= 0 && slot.expert < probs.shape[1];
    return there ? static_cast<float>(number(probs, slot.token, slot.expert)) : 0;
  }
  /// The slots of each of `count` tokens or rows.
  static std::vector<std::vector<const Slot*>> by(const std::vector<Slot>& slots, int64_t count, int64_t Slot::*key) {
    std::vector<std::vector<const Slot*>> lists(static_cast<size_t>(count));
    for (const Slot& slot : slots) {
      if (slot.*key >= 0 && slot.*key < count) lists[static_cast<size_t>(slot.*key)].push_back(&slot);
    }
    return lists;
  }
};

struct PermuteMap final : Mapped {
  Tensor tokens, out, out_probs;
  int64_t num_out_tokens = 0;
  Rows from, to;

  void prepare() override {
    from = rows_of(tokens, "tokens");
    to = rows_of(out, "permuteTokens");
    check_map(map, from.count(), "routingMap");
    check_map_type();
    const int64_t parts = padded ? map.shape[1] : map.shape[0];
    const int64_t rows = parts == 0 ? 0 : num_out_tokens / parts * parts;
    require(num_out_tokens >= 0 && out.shape == Dims{rows, tokens.shape[1]} && out.dtype == tokens.dtype,
            "permuteTokens is {}; numOutTokens is {}, so it is [{}, {}]", out, num_out_tokens, rows, tokens.shape[1]);
    require(!padded || rows <= map.count(), "numOutTokens is {}; {} tokens cannot fill that for each expert",
            num_out_tokens, map.shape[0]);
    check_shape(sorted, "sortedIndices", {rows});
    require(sorted.dtype == DType::kInt32, "sortedIndices is {}; use int32", sorted);
    if (!probs.defined()) return;
    check_shape(probs, "probs", map.shape);
    check_shape(out_probs, "permuteProbs", {rows});
  }
  void run() override {
    const std::vector<int64_t> on = read_whole(map);
    const int64_t count = map.shape[0], experts = map.shape[1], rows = to.count();
    // Expert by expert: who is on the map, and with padding those who are not, up to the capacity.
    std::vector<Slot> made;
    const int64_t capacity = experts == 0 ? 0 : rows / experts;
    for (int64_t e = 0; e < experts; ++e) {
      int64_t taken = 0;
      for (const int64_t wanted : {1, 0}) {
        if (wanted == 0 && !padded) break;
        for (int64_t t = 0; t < count && !(padded && taken == capacity); ++t) {
          if ((on[static_cast<size_t>(t * experts + e)] != 0 ? 1 : 0) != wanted) continue;
          made.push_back({static_cast<int64_t>(made.size()), t, e});
          ++taken;
        }
      }
    }
    std::vector<int64_t> table(static_cast<size_t>(rows), -1);
    if (padded) {
      for (size_t i = 0; i < table.size() && i < made.size(); ++i) table[i] = made[i].token;
    } else {
      // Stable by tokens: the choices of a token follow each other in the order of experts.
      const int64_t k = count == 0 ? 0 : rows / count;
      std::vector<int64_t> next(static_cast<size_t>(count), 0);
      for (const Slot& slot : made) {
        const int64_t place = next[static_cast<size_t>(slot.token)]++;
        if (place < k) table[static_cast<size_t>(slot.token * k + place)] = slot.row;
      }
    }
    write(table, sorted);
    fill_rows(to, [&](int64_t row, float* to_row) {
      if (row < static_cast<int64_t>(made.size())) copy_row(from, made[static_cast<size_t>(row)].token, to_row);
    });
    for (int64_t row = 0; probs.defined() && row < rows; ++row)
      store_element(out_probs, row * out_probs.strides[0],
                    row < static_cast<int64_t>(made.size()) ? share(made[static_cast<size_t>(row)]) : 0);
  }
  int64_t cost() const override { return 1000 + 4 * map.count() + 2 * out.count(); }
};

struct PermuteMapGrad final : Mapped {
  Tensor grad, grad_probs, out, out_probs;
  int64_t experts_num = 0, tokens_num = 0;
  Rows from, to, to_probs;

  void prepare() override {
    from = rows_of(grad, "permutedTokenOutputGrad");
    to = rows_of(out, "tokensGrad");
    check_map(map, tokens_num, "routingMap");
    check_map_type();
    require(map.shape[1] == experts_num, "routingMap is {}; expertsNum is {}", map, experts_num);
    check_slots(sorted, "sortedIndices");
    check_shape(sorted, "sortedIndices", {from.count()});
    check_shape(out, "tokensGrad", {tokens_num, from.length()});
    to_probs = Rows();
    if (!grad_probs.defined()) return;
    check_shape(grad_probs, "permutedProbsOutputGrad", {from.count()});
    check_shape(out_probs, "probsGrad", map.shape);
    to_probs = rows_of(out_probs, "probsGrad");
  }
  void run() override {
    const std::vector<Slot> made = slots(tokens_num, experts_num);
    const auto lists = by(made, tokens_num, &Slot::token);
    fill_rows(to, [&](int64_t token, float* sum) {
      for (const Slot* slot : lists[static_cast<size_t>(token)]) add_row(from, slot->row, 1, sum);
    });
    if (to_probs.length() == 0) return;
    fill_rows(to_probs, [&](int64_t token, float* row) {
      for (const Slot* slot : lists[static_cast<size_t>(token)]) {
        if (slot->expert >= 0 && slot->expert < experts_num && slot->row >= 0 && slot->row < from.count())
          row[slot->expert] += static_cast<float>(load_element(grad_probs, slot->row * grad_probs.strides[0]));
      }
    });
  }
  int64_t cost() const override { return 1000 + 4 * map.count() + 2 * grad.count(); }
};

/// out[token] is the sum of its rows, each times its share. The two tables say for each term the row and the token.
struct UnpermuteMap final : Mapped {
  Tensor tokens, out, out_index, token_id, out_probs;
  Rows from, to;

  void prepare() override {
    from = rows_of(tokens, "permutedTokens");
    to = rows_of(out, "unpermutedTokens");
    check_slots(sorted, "sortedIndices");
    check_shape(sorted, "sortedIndices", {from.count()});
    require(from.length() == to.length(), "permutedTokens is {}, unpermutedTokens is {}", tokens, out);
    if (map.defined()) check_map(map, to.count(), "routingMap"), check_map_type();
    require(map.defined() || !probs.defined(), "routingMap is null; probs need it");
    check_shape(out_index, "outIndex", sorted.shape);
    if (token_id.defined()) check_shape(token_id, "permuteTokenId", sorted.shape);
    if (!probs.defined()) return;
    check_shape(probs, "probs", map.shape);
    if (out_probs.defined()) check_shape(out_probs, "permuteProbs", sorted.shape);
  }
  void run() override {
    std::vector<Slot> made = slots(to.count(), map.defined() ? map.shape[1] : 0);
    const auto lists = by(made, to.count(), &Slot::token);
    fill_rows(to, [&](int64_t token, float* sum) {
      for (const Slot* slot : lists[static_cast<size_t>(token)]) add_row(from, slot->row, share(*slot), sum);
    });
    if (probs.defined() && out_probs.defined()) {
      for (const Slot& slot : made) {
        if (slot.row >= 0 && slot.row < from.count())
          store_element(out_probs, slot.row * out_probs.strides[0], share(slot));
      }
    }
    if (padded) std::ranges::stable_sort(made, {}, &Slot::token);
    std::vector<int64_t> rows, ids;
    for (const Slot& slot : made) rows.push_back(slot.row), ids.push_back(slot.token);
    write(rows, out_index);
    write(ids, token_id);
  }
  int64_t cost() const override { return 1000 + 4 * sorted.count() + 2 * tokens.count(); }
};

struct UnpermuteMapGrad final : Mapped {
  Tensor grad, out_index, token_id, tokens, grad_tokens, grad_probs;
  Rows upper, from, to, to_probs;

  void prepare() override {
    upper = rows_of(grad, "unpermutedTokensGrad");
    to = rows_of(grad_tokens, "permutedTokensGrad");
    check_slots(out_index, "outIndex"), check_slots(token_id, "permuteTokenId");
    check_shape(out_index, "outIndex", {to.count()});
    check_shape(token_id, "permuteTokenId", {to.count()});
    require(upper.length() == to.length(), "unpermutedTokensGrad is {}, permutedTokensGrad is {}", grad, grad_tokens);
    from = to_probs = Rows();
    if (!probs.defined()) return;
    require(map.defined() && tokens.defined(),
            "routingMap or permutedTokens is null; the gradient of probs needs both");
    check_map(map, upper.count(), "routingMap");
    check_map_type();
    check_shape(probs, "probs", map.shape);
    check_shape(tokens, "permutedTokens", grad_tokens.shape);
    from = rows_of(tokens, "permutedTokens");
    if (!grad_probs.defined()) return;
    check_shape(grad_probs, "probsGrad", probs.shape);
    to_probs = rows_of(grad_probs, "probsGrad");
  }
  void run() override {
    const std::vector<Slot> made = terms();
    const auto of_row = by(made, to.count(), &Slot::row);
    fill_rows(to, [&](int64_t row, float* sum) {
      for (const Slot* slot : of_row[static_cast<size_t>(row)]) add_row(upper, slot->token, share(*slot), sum);
    });
    if (to_probs.length() == 0) return;
    const auto of_token = by(made, upper.count(), &Slot::token);
    fill_rows(to_probs, [&](int64_t token, float* line) {
      for (const Slot* slot : of_token[static_cast<size_t>(token)]) {
        if (slot->expert >= 0 && slot->expert < map.shape[1]) line[slot->expert] += dot(token, slot->row);
      }
    });
  }
  int64_t cost() const override { return 1000 + 4 * grad_tokens.count(); }

 private:
  std::vector<Slot> terms() const {
    const std::vector<int64_t> rows = read_whole(out_index), ids = read_whole(token_id);
    const std::vector<int64_t> on = map.defined() ? read_whole(map) : std::vector<int64_t>();
    const int64_t experts = map.defined() ? map.shape[1] : 0;
    const int64_t capacity = std::max<int64_t>(experts > 0 ? to.count() / experts : 0, 1);
    std::vector<Slot> made;
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t expert = rows[i] / capacity;
      if (!padded) {
        const int64_t first = !made.empty() && made.back().token == ids[i] ? made.back().expert + 1 : 0;
        expert = ids[i] < 0 || ids[i] >= upper.count() ? experts : next_expert(on, ids[i], first, experts);
      }
      made.push_back({rows[i], ids[i], expert});
    }
    return made;
  }
  float dot(int64_t token, int64_t row) const { return dot_rows(from, row, upper, token); }
};

NPU_OPERATOR(PermuteMap, "moe_permute_map", "moe", in<&PermuteMap::tokens>("tokens"), in<&PermuteMap::map>("map"),
             optional<&PermuteMap::probs>("probs"), attr<&PermuteMap::num_out_tokens>("num_out_tokens"),
             attr<&PermuteMap::padded>("padded"), out<&PermuteMap::out>("out"),
             optional_out<&PermuteMap::out_probs>("out_probs"), out<&PermuteMap::sorted>("sorted"))
    .is(kMovesBits);
NPU_OPERATOR(PermuteMapGrad, "moe_permute_map_grad", "moe", in<&PermuteMapGrad::grad>("grad"),
             optional<&PermuteMapGrad::grad_probs>("grad_probs"), in<&PermuteMapGrad::sorted>("sorted"),
             in<&PermuteMapGrad::map>("map"), attr<&PermuteMapGrad::experts_num>("experts_num"),
             attr<&PermuteMapGrad::tokens_num>("tokens_num"), attr<&PermuteMapGrad::padded>("padded"),
             out<&PermuteMapGrad::out>("out"), optional_out<&PermuteMapGrad::out_probs>("out_probs"));
NPU_OPERATOR(UnpermuteMap, "moe_unpermute_map", "moe", in<&UnpermuteMap::tokens>("tokens"),
             in<&UnpermuteMap::sorted>("sorted"), optional<&UnpermuteMap::map>("map"),
             optional<&UnpermuteMap::probs>("probs"), attr<&UnpermuteMap::padded>("padded"),
             out<&UnpermuteMap::out>("out"), out<&UnpermuteMap::out_index>("out_index"),
             optional_out<&UnpermuteMap::token_id>("token_id"), optional_out<&UnpermuteMap::out_probs>("out_probs"));
NPU_OPERATOR(UnpermuteMapGrad, "moe_unpermute_map_grad", "moe", in<&UnpermuteMapGrad::grad>("grad"),
             in<&UnpermuteMapGrad::out_index>("out_index"), in<&UnpermuteMapGrad::token_id>("token_id"),
             optional<&UnpermuteMapGrad::map>("map"), optional<&UnpermuteMapGrad::tokens>("tokens"),
             optional<&UnpermuteMapGrad::probs>("probs"), attr<&UnpermuteMapGrad::padded>("padded"),
             out<&UnpermuteMapGrad::grad_tokens>("grad_tokens"),
             optional_out<&UnpermuteMapGrad::grad_probs>("grad_probs"));

}  // namespace
}  // namespace npu::ops
