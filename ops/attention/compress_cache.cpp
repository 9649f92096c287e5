// SPDX-License-Identifier: Apache-2.0
// Compressed keys while decoding: a sequence whose last token fills up a block (the first `block` tokens, and then each
// `stride` more) gets one more row in the cache, the sum of its last `block` tokens by their weights. The others get
// nothing. Tokens lie one behind the other, or in pages that a table names.
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct CompressCache final : Operator {
  Tensor input, weight, slot_mapping, block_table, cache;
  std::vector<int64_t> actual_seq_len;
  std::string layout = "TND";
  int64_t block = 1, stride = 1, actual_seq_len_type = 1, page_block_size = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override {
    return 1000 + static_cast<int64_t>(actual_seq_len.size()) * block * cache.count() / 8;
  }

 private:
  bool paged() const { return block_table.defined(); }
  /// A sequence that gets a row, and where its tokens begin when they are not in pages.
  struct Due {
    int64_t sequence = 0, length = 0, begin = 0, slot = 0;
  };
  int64_t token_of(const Due& due, int64_t at) const;
  void read_slots();
  void compress(const Due& due, int64_t head, const std::vector<float>& weights) const;

  std::vector<Due> due_;
  int64_t heads_ = 1, size_ = 0, tokens_ = 0;
  Rows input_, cache_;
};

void CompressCache::prepare() {
  require(layout == "TND", "layout is '{}'; it must be 'TND'", layout);
  require(actual_seq_len_type == 1, "actual_seq_len_type is {}; it must be 1: the lengths of the sequences",
          actual_seq_len_type);
  require(block > 0 && stride > 0 && stride <= block,
          "compress_block_size is {}, compress_stride {}; use 0 < stride <= block size", block, stride);
  const size_t rank = paged() ? 4 : 3;
  require(input.rank() == rank && (!paged() || input.shape[1] == page_block_size),
          "input is {}, page_block_size {}; with a block_table it must be [pages, page_block_size, heads, size], else "
          "[tokens, heads, size]",
          input, page_block_size);
  heads_ = input.shape[rank - 2], size_ = input.shape[rank - 1],
  tokens_ = input.shape[0] * (paged() ? input.shape[1] : 1);
  require(weight.shape == Dims({block, heads_}), "weight is {}; it must be [{}, {}]", weight, block, heads_);
  require(cache.rank() == 3 && cache.shape[1] == heads_ && cache.shape[2] == size_,
          "cache is {}; it must be [rows, {}, {}]", cache, heads_, size_);
  const auto sequences = static_cast<int64_t>(actual_seq_len.size());
  require(slot_mapping.shape == Dims{sequences} && is_integer(slot_mapping.dtype),
          "slot_mapping is {}; it has an integer for each of {} sequences", slot_mapping, sequences);
  require(!paged() || (block_table.rank() == 2 && block_table.shape[0] == sequences && is_integer(block_table.dtype)),
          "block_table is {}; it has a row of integers for each of {} sequences", block_table, sequences);
  due_.clear();
  int64_t begin = 0;
  for (int64_t i = 0; i < sequences; ++i) {
    const int64_t length = actual_seq_len[static_cast<size_t>(i)];
    const int64_t room = paged() ? block_table.shape[1] * page_block_size : tokens_ - begin;
    require(length >= 0 && length <= room, "actual_seq_len[{}] is {}; there is room for {} tokens", i, length, room);
    if (length >= block && (length - block) % stride == 0) due_.push_back({i, length, begin});
    begin += length;
  }
  input_ = Rows(input, rank - 1, DType::kFloat), cache_ = Rows(cache, 2, DType::kFloat);
}

int64_t CompressCache::token_of(const Due& due, int64_t at) const {
  if (!paged()) return due.begin + at;
  const auto page = static_cast<int64_t>(
      load_element(block_table, due.sequence * block_table.strides[0] + at / page_block_size * block_table.strides[1]));
  return page * page_block_size + at % page_block_size;
}

// All that is read from the device is looked at before anything is written.
void CompressCache::read_slots() {
  for (Due& due : due_) {
    due.slot = static_cast<int64_t>(load_element(slot_mapping, due.sequence * slot_mapping.strides[0]));
    require(due.slot >= 0 && due.slot < cache.shape[0], "slot_mapping[{}] is {}; the cache has {} rows", due.sequence,
            due.slot, cache.shape[0]);
    for (int64_t at = due.length - block; at < due.length; ++at) {
      const int64_t token = token_of(due, at);
      require(token >= 0 && token < tokens_, "block_table names page {} for sequence {}; there are {} pages",
              token / page_block_size, due.sequence, input.shape[0]);
    }
  }
}

void CompressCache::compress(const Due& due, int64_t head, const std::vector<float>& weights) const {
  const Scratch<float> given(size_), made(size_);
  std::fill_n(made.data(), size_, 0.0f);
  for (int64_t i = 0; i < block; ++i) {
    const int64_t token = token_of(due, due.length - block + i);
    const auto* x = static_cast<const float*>(input_.load(token * heads_ + head, given));
    const float factor = weights[static_cast<size_t>(i * heads_ + head)];
    for (int64_t d = 0; d < size_; ++d) made[d] += factor * x[d];
  }
  const int64_t row = due.slot * heads_ + head;
  auto* to = static_cast<float*>(cache_.target(row, given));
  std::copy_n(made.data(), size_, to);
  cache_.store(row, to);
}

void CompressCache::run() {
  read_slots();
  std::vector<float> weights(static_cast<size_t>(weight.count()));
  OrderedTensor(weight, DType::kFloat).load(0, weight.count(), weights.data());
  // A head is one part: should two sequences name one slot, the later one stays.
  parallel_parts(heads_, [&](int64_t head) {
    for (const Due& due : due_) compress(due, head, weights);
  });
}

NPU_OPERATOR(CompressCache, "compress_cache", "attention", in<&CompressCache::input>("input"),
             in<&CompressCache::weight>("weight"), in<&CompressCache::slot_mapping>("slot_mapping"),
             optional<&CompressCache::block_table>("block_table"), inout<&CompressCache::cache>("cache"),
             attr<&CompressCache::actual_seq_len>("actual_seq_len"), attr<&CompressCache::layout>("layout"),
             attr<&CompressCache::block>("block"), attr<&CompressCache::stride>("stride"),
             attr<&CompressCache::actual_seq_len_type>("actual_seq_len_type"),
             attr<&CompressCache::page_block_size>("page_block_size"));

}  // namespace
}  // namespace npu::ops
