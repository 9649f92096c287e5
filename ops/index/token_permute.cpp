// SPDX-License-Identifier: Apache-2.0
// Tokens of a mixture of experts: laid out expert by expert and back, with the gradients of both. `sorted` says where
// slot k (the k % top_k-th expert of token k / top_k) lies; slots that lie behind the last row were dropped.
#include <numeric>

#include "base/thread_pool.h"
#include "ops/index/token_rows.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct Tokens : TokenRows {
  bool padded_mode = false;

 protected:
  void check_mode() const { require(!padded_mode, "padded_mode is true; only false is supported"); }
};

struct TokenPermute final : Tokens {
  Tensor tokens, indices, out, sorted;
  Rows from, to;

  void prepare() override {
    check_mode();
    from = rows_of(tokens, "tokens");
    to = rows_of(out, "permuted_tokens");
    check_slots(indices, "indices");
    check_slots(sorted, "sorted_indices");
    require(from.count() > 0 ? indices.count() % from.count() == 0 : indices.count() == 0,
            "tokens is {}, indices is {}; each token needs the same number of experts", tokens, indices);
    require(sorted.rank() == 1 && sorted.count() == indices.count(), "sorted_indices is {}; indices has {} elements",
            sorted, indices.count());
    require(to.count() <= indices.count() && to.length() == from.length(),
            "permuted_tokens is {}; there are {} rows of {}", out, indices.count(), from.length());
  }
  void run() override {
    const std::vector<int64_t> experts = read_whole(indices);
    std::vector<int64_t> order(experts.size());
    std::iota(order.begin(), order.end(), 0);
    // Stable: tokens of one expert stay in their order.
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return experts[static_cast<size_t>(a)] < experts[static_cast<size_t>(b)];
    });
    for (size_t row = 0; row < order.size(); ++row)
      store_element(sorted, order[row] * sorted.strides[0], static_cast<double>(row));
    const int64_t top_k = from.count() == 0 ? 1 : indices.count() / from.count();
    // The result may have fewer rows than there are slots: the last ones are dropped.
    fill_rows(to, [&](int64_t row, float* made) { copy_row(from, order[static_cast<size_t>(row)] / top_k, made); });
  }
  int64_t cost() const override { return 1000 + 2 * out.count(); }
};

struct TokenPermuteGrad final : Tokens {
  Tensor grad, sorted, out;
  int64_t top_k = 1;
  Rows from, to;

  void prepare() override {
    check_mode();
    from = rows_of(grad, "grad_permuted_tokens");
    to = rows_of(out, "grad_tokens");
    check_slots(sorted, "sorted_indices");
    require(top_k > 0 && to.count() * top_k == sorted.count() && to.length() == from.length(),
            "grad_tokens is {}, sorted_indices is {}, topK is {}: they do not belong together", out, sorted, top_k);
  }
  void run() override {
    const std::vector<int64_t> rows = read_whole(sorted);
    fill_rows(to, [&](int64_t token, float* made) {
      for (int64_t j = 0; j < top_k; ++j) add_row(from, rows[static_cast<size_t>(token * top_k + j)], 1, made);
    });
  }
  int64_t cost() const override { return 1000 + 2 * grad.count(); }
};

struct Unpermute : Tokens {
  Tensor sorted, probs;
  Rows shares;
  int64_t top_k = 1;

 protected:
  /// `out`: the tensor with one row a token.
  void check_slots_of(const Tensor& out) {
    check_mode();
    check_slots(sorted, "sorted_indices");
    if (probs.defined()) shares = rows_of(probs, "probs");
    top_k = probs.defined() ? probs.shape[1] : 1;
    require(out.shape[0] * top_k == sorted.count() && (!probs.defined() || probs.shape[0] == out.shape[0]),
            "the tokens are {}, sorted_indices is {}, top k is {}: they do not belong together", out, sorted, top_k);
  }
  float share(int64_t slot) const {
    if (!probs.defined()) return 1;
    // Shares are read one by one: there are few beside the rows they weigh.
    return static_cast<float>(load_element(probs, slot / top_k * probs.strides[0] + slot % top_k * probs.strides[1]));
  }
};

struct TokenUnpermute final : Unpermute {
  Tensor tokens, out;
  Rows from, to;

  void prepare() override {
    from = rows_of(tokens, "permuted_tokens");
    to = rows_of(out, "unpermuted_tokens");
    check_slots_of(out);
    require(from.length() == to.length(), "permuted_tokens is {}, unpermuted_tokens is {}", tokens, out);
  }
  void run() override {
    const std::vector<int64_t> rows = read_whole(sorted);
    fill_rows(to, [&](int64_t token, float* made) {
      for (int64_t k = token * top_k; k < (token + 1) * top_k; ++k)
        add_row(from, rows[static_cast<size_t>(k)], share(k), made);
    });
  }
  int64_t cost() const override { return 1000 + 2 * tokens.count(); }
};

struct TokenUnpermuteGrad final : Unpermute {
  Tensor tokens, grad, grad_tokens, grad_probs;
  Rows from, upper, to, to_probs;

  void prepare() override {
    upper = rows_of(grad, "grad_unpermuted_tokens");
    to = rows_of(grad_tokens, "grad_permuted_tokens");
    check_slots_of(grad);
    require(upper.length() == to.length(), "grad_unpermuted_tokens is {}, grad_permuted_tokens is {}", grad,
            grad_tokens);
    // tokens are read for this gradient only, so a client may leave them out.
    if (!wants_probs()) return;
    require(tokens.defined(), "permuted_tokens is null; the gradient of probs needs it");
    check_shape(grad_probs, "grad_probs", probs.shape);
    check_shape(tokens, "permuted_tokens", grad_tokens.shape);
    from = rows_of(tokens, "permuted_tokens");
    to_probs = rows_of(grad_probs, "grad_probs");
  }
  void run() override {
    const std::vector<int64_t> rows = read_whole(sorted), slots = slots_by_row(rows, to.count());
    fill_rows(to, [&](int64_t row, float* made) {
      const int64_t slot = slots[static_cast<size_t>(row)];
      if (slot >= 0) add_row(upper, slot / top_k, share(slot), made);
    });
    if (!wants_probs()) return;
    fill_rows(to_probs, [&](int64_t token, float* made) {
      for (int64_t j = 0; j < top_k; ++j) made[j] = dot(token, rows[static_cast<size_t>(token * top_k + j)]);
    });
  }
  int64_t cost() const override { return 1000 + 4 * grad_tokens.count(); }

 private:
  bool wants_probs() const { return probs.defined() && grad_probs.defined() && grad_probs.count() > 0; }
  float dot(int64_t token, int64_t row) const { return dot_rows(from, row, upper, token); }
};

NPU_OPERATOR(TokenPermute, "token_permute", "index", in<&TokenPermute::tokens>("tokens"),
             in<&TokenPermute::indices>("indices"), attr<&TokenPermute::padded_mode>("padded_mode"),
             out<&TokenPermute::out>("out"), out<&TokenPermute::sorted>("sorted"))
    .is(kMovesBits);
NPU_OPERATOR(TokenPermuteGrad, "token_permute_grad", "index", in<&TokenPermuteGrad::grad>("grad"),
             in<&TokenPermuteGrad::sorted>("sorted"), attr<&TokenPermuteGrad::top_k>("top_k"),
             attr<&TokenPermuteGrad::padded_mode>("padded_mode"), out<&TokenPermuteGrad::out>("out"));
NPU_OPERATOR(TokenUnpermute, "token_unpermute", "index", in<&TokenUnpermute::tokens>("tokens"),
             in<&TokenUnpermute::sorted>("sorted"), optional<&TokenUnpermute::probs>("probs"),
             attr<&TokenUnpermute::padded_mode>("padded_mode"), out<&TokenUnpermute::out>("out"));
NPU_OPERATOR(TokenUnpermuteGrad, "token_unpermute_grad", "index", optional<&TokenUnpermuteGrad::tokens>("tokens"),
             in<&TokenUnpermuteGrad::grad>("grad"), in<&TokenUnpermuteGrad::sorted>("sorted"),
             optional<&TokenUnpermuteGrad::probs>("probs"), attr<&TokenUnpermuteGrad::padded_mode>("padded_mode"),
             out<&TokenUnpermuteGrad::grad_tokens>("grad_tokens"),
             optional_out<&TokenUnpermuteGrad::grad_probs>("grad_probs"));

}  // namespace
}  // namespace npu::ops
