// SPDX-License-Identifier: Apache-2.0
// One step of decoding for vLLM: each running sequence gets the token that was sampled, its next position, a length of
// one more, and the slot of its cache that this position has. Sequences behind num_queries are padding.
#include <vector>

#include "ops/operator.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct AdvanceStep final : Operator {
  Tensor input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping, block_tables;
  int64_t num_seqs = 0, num_queries = 0, block_size = 0;

  void prepare() override {
    require(num_queries > 0 && num_seqs >= num_queries,
            "num_seqs is {}, num_queries {}; use 0 < num_queries <= num_seqs", num_seqs, num_queries);
    require(block_size > 0, "block_size is {}; it must be positive", block_size);
    tokens_ = plan("input_tokens", input_tokens, num_seqs);
    positions_ = plan("input_positions", input_positions, num_seqs);
    lengths_ = plan("seq_lens", seq_lens, num_seqs);
    slots_ = plan("slot_mapping", slot_mapping, num_seqs);
    sampled_ = plan("sampled_token_ids", sampled_token_ids, num_queries);
    require(block_tables.dtype == DType::kInt64 && block_tables.rank() == 2 && block_tables.shape[0] == num_seqs,
            "block_tables is {}; it must be int64 [{}, blocks]", block_tables, num_seqs);
    tables_ = OrderedTensor(block_tables, DType::kInt64);
  }
  void run() override {
    std::vector<int64_t> tokens = read(sampled_), lengths = read(lengths_), tables = read(tables_);
    const int64_t blocks = block_tables.shape[1];
    // What padding gets; -1 is no slot.
    std::vector<int64_t> positions(static_cast<size_t>(num_seqs), 0), slots(positions.size(), -1);
    tokens.resize(positions.size(), 0);
    for (size_t i = 0; i < static_cast<size_t>(num_queries); ++i) {
      const int64_t position = lengths[i], block = position / block_size;
      require(position >= 0 && block < blocks, "seq_lens[{}] is {}; block_tables has {} blocks of {} for each sequence",
              i, position, blocks, block_size);
      positions[i] = position;
      lengths[i] = position + 1;
      slots[i] =
          tables[i * static_cast<size_t>(blocks) + static_cast<size_t>(block)] * block_size + position % block_size;
    }
    write(tokens_, tokens), write(positions_, positions), write(lengths_, lengths), write(slots_, slots);
  }
  int64_t cost() const override { return 500 + 10 * block_tables.count(); }

 private:
  static OrderedTensor plan(const char* name, const Tensor& t, int64_t count) {
    require(t.dtype == DType::kInt64 && t.count() == count && t.rank() >= 1 && t.shape[0] == count,
            "{} is {}; it must be int64 with one number for each of {} sequences", name, t, count);
    return OrderedTensor(t, DType::kInt64);
  }
  static std::vector<int64_t> read(const OrderedTensor& t) {
    std::vector<int64_t> values(static_cast<size_t>(t.count()));
    t.load(0, t.count(), values.data());
    return values;
  }
  static void write(const OrderedTensor& t, const std::vector<int64_t>& values) {
    t.store(0, t.count(), values.data());
  }

  OrderedTensor tokens_, sampled_, positions_, lengths_, slots_, tables_;
};

NPU_OPERATOR(AdvanceStep, "advance_step", "index", inout<&AdvanceStep::input_tokens>("input_tokens"),
             in<&AdvanceStep::sampled_token_ids>("sampled_token_ids"),
             inout<&AdvanceStep::input_positions>("input_positions"), inout<&AdvanceStep::seq_lens>("seq_lens"),
             inout<&AdvanceStep::slot_mapping>("slot_mapping"), in<&AdvanceStep::block_tables>("block_tables"),
             attr<&AdvanceStep::num_seqs>("num_seqs"), attr<&AdvanceStep::num_queries>("num_queries"),
             attr<&AdvanceStep::block_size>("block_size"));

}  // namespace
}  // namespace npu::ops
