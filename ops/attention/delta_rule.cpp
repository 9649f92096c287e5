// SPDX-License-Identifier: Apache-2.0
// The gated delta rule of linear attention: each head of each sequence keeps a state S [value size, key size] and does,
// token by token,
//   S = a S + b (v - a S k) kᵀ,   out = S q · scale   with a = exp(g), b = beta.
// Several heads of values may share one of keys. One thread works on a head, in float32, so bits do not depend on how
// many there are; states are rounded where they are written.
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "ops/attention/delta_step.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct DeltaRule : Operator {
  Tensor query, key, value, beta, actual_seq_lengths, g, out;
  double scale = 1;

  int64_t cost() const override { return 2000 + value.count() * query.shape[2] / 2; }

 protected:
  void plan() {
    require(query.rank() == 3 && key.shape == query.shape && value.rank() == 3 && value.shape[0] == query.shape[0],
            "query is {}, key {}, value {}; they must be [tokens, heads, size], query and key alike", query, key,
            value);
    heads_ = value.shape[1], groups_ = query.shape[1], dv_ = value.shape[2], dk_ = query.shape[2];
    require(groups_ > 0 && heads_ % groups_ == 0, "value has {} heads, query {}: the first must be a multiple", heads_,
            groups_);
    check_shape(out, "out", value.shape);
    const Dims each{value.shape[0], heads_};
    require(!beta.defined() || beta.shape == each, "beta is {}; it must be [{}]", beta, each);
    require(!g.defined() || g.shape == each, "g is {}; it must be [{}]", g, each);
    require(actual_seq_lengths.defined() && actual_seq_lengths.rank() == 1 && is_integer(actual_seq_lengths.dtype),
            "actual_seq_lengths must be given: an integer for each sequence");
    q_ = Rows(query, 2, DType::kFloat), k_ = Rows(key, 2, DType::kFloat), v_ = Rows(value, 2, DType::kFloat);
    out_ = Rows(out, 2, DType::kFloat);
  }
  void check_state(const char* name, const Tensor& state) const {
    require(state.rank() == 4 && state.shape[1] == heads_ && state.shape[2] == dv_ && state.shape[3] == dk_,
            "{} is {}; it must be [states, {}, {}, {}]", name, state, heads_, dv_, dk_);
  }
  /// Where each sequence begins, and the end of the last.
  std::vector<int64_t> begins() const {
    std::vector<int64_t> found{0};
    for (int64_t i = 0; i < actual_seq_lengths.shape[0]; ++i) {
      const int64_t length = integer(actual_seq_lengths, i);
      require(length >= 0 && found.back() + length <= value.shape[0],
              "actual_seq_lengths[{}] is {}: the sequences have more than the {} tokens that there are", i, length,
              value.shape[0]);
      found.push_back(found.back() + length);
    }
    return found;
  }
  static int64_t integer(const Tensor& t, int64_t i) { return static_cast<int64_t>(load_element(t, i * t.strides[0])); }
  /// State `index` of a head in float32.
  void load_state(const Rows& states, int64_t index, int64_t head, float* to) const {
    for (int64_t r = 0; r < dv_; ++r) {
      float* row = to + r * dk_;
      const void* there = states.load((index * heads_ + head) * dv_ + r, row);
      if (there != row) std::copy_n(static_cast<const float*>(there), dk_, row);
    }
  }
  void store_state(const Rows& states, int64_t index, int64_t head, const float* from) const {
    for (int64_t r = 0; r < dv_; ++r) put(states, (index * heads_ + head) * dv_ + r, from + r * dk_);
  }
  /// One token: the state moves on, and the token's output is written.
  void advance(int64_t token, int64_t head, float* state) const {
    const Scratch<float> qs(dk_), ks(dk_), vs(dv_), made(dv_);
    const int64_t shared = token * groups_ + head / (heads_ / groups_), own = token * heads_ + head;
    const auto* q = static_cast<const float*>(q_.load(shared, qs));
    const auto* k = static_cast<const float*>(k_.load(shared, ks));
    const auto* v = static_cast<const float*>(v_.load(own, vs));
    const DeltaToken seen{q,
                          k,
                          v,
                          g.defined() ? std::exp(number(g, token, head)) : 1,
                          beta.defined() ? number(beta, token, head) : 1,
                          static_cast<float>(scale)};
    delta_step(state, dv_, dk_, seen, made);
    put(out_, own, made);
  }

  int64_t heads_ = 1, groups_ = 1, dv_ = 0, dk_ = 0;

 private:
  static float number(const Tensor& t, int64_t token, int64_t head) {
    return static_cast<float>(load_element(t, token * t.strides[0] + head * t.strides[1]));
  }
  static void put(const Rows& to, int64_t row, const float* values) {
    if (!to.direct()) return to.store(row, values);
    std::copy_n(values, to.length(), static_cast<float*>(to.target(row, nullptr)));
  }

  Rows q_, k_, v_, out_;
};

/// States by number: a sequence starts from that of its last accepted token, and each token writes its own.
struct RecurrentDeltaRule final : DeltaRule {
  Tensor state, ssm_state_indices, gk, num_accepted_tokens;

  void prepare() override {
    plan();
    check_state("state", state);
    require(!gk.defined() || gk.count() == 0, "gk is {}; gates of single keys are not supported: leave it out", gk);
    require(ssm_state_indices.defined() && ssm_state_indices.shape == Dims{value.shape[0]} &&
                is_integer(ssm_state_indices.dtype),
            "ssm_state_indices must be given: an integer for each of {} tokens", value.shape[0]);
    require(!num_accepted_tokens.defined() ||
                (num_accepted_tokens.shape == actual_seq_lengths.shape && is_integer(num_accepted_tokens.dtype)),
            "num_accepted_tokens is {}; it has an integer for each sequence", num_accepted_tokens);
    states_ = Rows(state, 3, DType::kFloat);
  }
  void run() override {
    const std::vector<int64_t> starts = begins(), slots = read_slots(starts), first = first_states(starts, slots);
    // Sequences one after the other: one may start from a state that another writes.
    parallel_parts(heads_, [&](int64_t head) {
      const Scratch<float> s(dv_ * dk_);
      for (size_t i = 0; i + 1 < starts.size(); ++i) {
        if (starts[i] == starts[i + 1]) continue;
        load_state(states_, first[i], head, s);
        for (int64_t token = starts[i]; token < starts[i + 1]; ++token) {
          advance(token, head, s);
          store_state(states_, slots[static_cast<size_t>(token)], head, s);
        }
      }
    });
  }

 private:
  std::vector<int64_t> read_slots(const std::vector<int64_t>& starts) const {
    std::vector<int64_t> slots(static_cast<size_t>(starts.back()));
    for (size_t i = 0; i < slots.size(); ++i) {
      slots[i] = integer(ssm_state_indices, static_cast<int64_t>(i));
      require(slots[i] >= 0 && slots[i] < state.shape[0], "ssm_state_indices[{}] is {}; there are {} states", i,
              slots[i], state.shape[0]);
    }
    return slots;
  }
  std::vector<int64_t> first_states(const std::vector<int64_t>& starts, const std::vector<int64_t>& slots) const {
    std::vector<int64_t> found;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const int64_t accepted =
          num_accepted_tokens.defined() ? integer(num_accepted_tokens, static_cast<int64_t>(i)) : 1;
      const int64_t length = starts[i + 1] - starts[i];
      require(length == 0 || (accepted >= 1 && accepted <= length),
              "num_accepted_tokens[{}] is {}; the sequence has {} tokens", i, accepted, length);
      found.push_back(length == 0 ? 0 : slots[static_cast<size_t>(starts[i] + accepted - 1)]);
    }
    return found;
  }
  Rows states_;
};

/// A state for each sequence, before its first token and behind its last.
struct ChunkDeltaRule final : DeltaRule {
  Tensor initial_state, final_state;

  void prepare() override {
    plan();
    check_state("final_state", final_state);
    require(final_state.shape[0] == actual_seq_lengths.shape[0],
            "final_state is {}; it has one for each of {} sequences", final_state, actual_seq_lengths.shape[0]);
    require(!initial_state.defined() || initial_state.shape == final_state.shape,
            "initial_state is {}, final_state {}; the shapes must be equal", initial_state, final_state);
    if (initial_state.defined()) before_ = Rows(initial_state, 3, DType::kFloat);
    after_ = Rows(final_state, 3, DType::kFloat);
  }
  void run() override {
    const std::vector<int64_t> starts = begins();
    parallel_parts((static_cast<int64_t>(starts.size()) - 1) * heads_, [&](int64_t part) {
      const int64_t sequence = part / heads_, head = part % heads_;
      const Scratch<float> s(dv_ * dk_);
      std::fill_n(s.data(), dv_ * dk_, 0.0f);
      if (initial_state.defined()) load_state(before_, sequence, head, s);
      const auto at = static_cast<size_t>(sequence);
      for (int64_t token = starts[at]; token < starts[at + 1]; ++token) advance(token, head, s);
      store_state(after_, sequence, head, s);
    });
  }

 private:
  Rows before_, after_;
};

#define NPU_DELTA_RULE(type)                                                                                           \
  in<&type::query>("query"), in<&type::key>("key"), in<&type::value>("value"), optional<&type::beta>("beta"),          \
      optional<&type::actual_seq_lengths>("actual_seq_lengths"), optional<&type::g>("g"), attr<&type::scale>("scale"), \
      out<&type::out>("out")
NPU_OPERATOR(RecurrentDeltaRule, "recurrent_delta_rule", "attention", NPU_DELTA_RULE(RecurrentDeltaRule),
             inout<&RecurrentDeltaRule::state>("state"),
             optional<&RecurrentDeltaRule::ssm_state_indices>("ssm_state_indices"),
             optional<&RecurrentDeltaRule::gk>("gk"),
             optional<&RecurrentDeltaRule::num_accepted_tokens>("num_accepted_tokens"));
NPU_OPERATOR(ChunkDeltaRule, "chunk_delta_rule", "attention", NPU_DELTA_RULE(ChunkDeltaRule),
             optional<&ChunkDeltaRule::initial_state>("initial_state"),
             out<&ChunkDeltaRule::final_state>("final_state"));

}  // namespace
}  // namespace npu::ops
