// SPDX-License-Identifier: Apache-2.0
// Caches of keys and values in blocks, as servers keep them: tokens are written to their slots, and sequences are read
// back by their tables of blocks. A slot is block * block_size + place. Bytes are moved, whatever they mean.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

bool absent(const Tensor& t) { return !t.defined() || t.count() == 0; }

int64_t number_at(const Tensor& t, int64_t index) {
  return t.dtype == DType::kInt64 ? t.as<int64_t>()[index] : t.as<int32_t>()[index];
}

bool is_list(const Tensor& t) { return t.dtype == DType::kInt32 || t.dtype == DType::kInt64; }

/// Tokens [T, heads, size] and their cache: [blocks, block_size, heads, size] ("Norm"), or with the places of a block
/// before the last few elements of a token, [blocks, heads * size / last, block_size, last] ("PA_NZ").
struct Paged {
  Tensor tokens, cache;
  bool blocked = false;
  int64_t blocks = 0, block_size = 0;

  Paged() = default;
  Paged(const Tensor& tokens_, const Tensor& cache_, const std::string& mode, const char* name);
  /// One head of a token to its slot or from it; the slot must be one.
  void write(int64_t token, int64_t head, int64_t slot) const { move(token, head, slot, true); }
  void read(int64_t token, int64_t head, int64_t slot) const { move(token, head, slot, false); }
  void clear(int64_t token, int64_t head) const;
  bool has(int64_t slot) const { return slot >= 0 && slot < blocks * block_size; }

 private:
  void move(int64_t token, int64_t head, int64_t slot, bool writes) const;
};

Paged::Paged(const Tensor& tokens_, const Tensor& cache_, const std::string& mode, const char* name)
    : tokens(tokens_), cache(cache_), blocked(mode == "PA_NZ") {
  require(blocked || mode.empty() || mode == "Norm", "cacheMode is {}; it is Norm or PA_NZ", mode);
  require(
      tokens.rank() == 3 && cache.rank() == 4,
      "{} is {} and its cache {}: [tokens, heads, size] and four dimensions are built; compressed caches, of tokens "
      "with four, are not",
      name, tokens, cache);
  require(tokens.dtype == cache.dtype, "{} is {}, its cache {}: use one dtype", name, tokens.dtype, cache.dtype);
  // A matrix [block size, last] in ACL_FORMAT_FRACTAL_NZ that is one block wide lies as a plain one does.
  constexpr int32_t kBlockedFormat = 29, kNumber = 0xFFFF;
  require(
      (cache.format & kNumber) != kBlockedFormat ||
          (blocked && cache.shape[3] * static_cast<int64_t>(size_of(cache.dtype)) == 32 && cache.shape[2] % 16 == 0),
      "the cache of {} is {} in FRACTAL_NZ: that needs cacheMode PA_NZ, 32 bytes last, and a block size that 16 "
      "divides",
      name, cache);
  const int64_t heads = tokens.shape[1], size = tokens.shape[2];
  blocks = cache.shape[0];
  block_size = cache.shape[blocked ? 2 : 1];
  if (blocked) {
    require(
        cache.shape[1] * cache.shape[3] == heads * size && cache.contiguous(),
        "{} is {}, its cache {}: with cacheMode PA_NZ the cache is [blocks, {} / last, block size, last], and dense",
        name, tokens, cache, heads * size);
  } else {
    require(cache.shape[2] == heads && cache.shape[3] == size,
            "{} is {}, its cache {}: with cacheMode Norm the cache is [blocks, block size, {}, {}]", name, tokens,
            cache, heads, size);
  }
}

void Paged::move(int64_t token, int64_t head, int64_t slot, bool writes) const {
  const Convert copy = converter(tokens.dtype, tokens.dtype);
  const auto bytes = static_cast<int64_t>(size_of(tokens.dtype));
  const int64_t size = tokens.shape[2], block = slot / block_size, place = slot % block_size;
  std::byte* own = tokens.bytes() + (token * tokens.strides[0] + head * tokens.strides[1]) * bytes;
  const int64_t last = blocked ? cache.shape[3] : size;
  for (int64_t d = 0; d < size;) {
    const int64_t at = blocked ? head * size + d : d;  // in the row that is cut into pieces of `last`
    const int64_t count = std::min(last - at % last, size - d);
    const int64_t offset =
        blocked ? ((block * cache.shape[1] + at / last) * block_size + place) * last + at % last
                : block * cache.strides[0] + place * cache.strides[1] + head * cache.strides[2] + at * cache.strides[3];
    std::byte* other = cache.bytes() + offset * bytes;
    const int64_t step = blocked ? 1 : cache.strides[3];
    std::byte* mine = own + d * tokens.strides[2] * bytes;
    if (writes)
      copy(mine, tokens.strides[2], other, step, count);
    else
      copy(other, step, mine, tokens.strides[2], count);
    d += count;
  }
}

void Paged::clear(int64_t token, int64_t head) const {
  const std::byte zero[16] = {};
  const auto bytes = static_cast<int64_t>(size_of(tokens.dtype));
  converter(tokens.dtype, tokens.dtype)(zero, 0,
                                        tokens.bytes() + (token * tokens.strides[0] + head * tokens.strides[1]) * bytes,
                                        tokens.strides[2], tokens.shape[2]);
}

/// Slots that are none (servers give -1 to tokens that fill up a batch) are passed over.
struct ScatterPaged final : Operator {
  Tensor key, key_cache, value, value_cache, slot_mapping, compress_lens, compress_seq_offsets, seq_lens;
  std::string cache_mode, scatter_mode;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + key.count() + value.count(); }

 private:
  std::vector<Paged> pairs_;
};

void ScatterPaged::prepare() {
  require(scatter_mode.empty() || scatter_mode == "None", "scatterMode {} is not built; None is", scatter_mode);
  for (const auto& [name, given] :
       {std::pair("compressLens", &compress_lens), std::pair("compressSeqOffsets", &compress_seq_offsets),
        std::pair("seqLens", &seq_lens)}) {
    require(absent(*given),
            "{} is given: compressed caches are not built; leave it out and give tokens [T, heads, size]", name);
  }
  pairs_ = {Paged(key, key_cache, cache_mode, "key")};
  if (value.defined()) pairs_.emplace_back(value, value_cache, cache_mode, "value");
  require(is_list(slot_mapping) && slot_mapping.shape == Dims{key.shape[0]},
          "slotMapping is {}; it must be int32 or int64 [{}], a slot for each token", slot_mapping, key.shape[0]);
  require(pairs_.size() < 2 || value.shape[0] == key.shape[0], "key is {}, value {}: give as many tokens", key, value);
}

// Parts are heads, each of which takes all tokens in order: where two have one slot, the later stays.
void ScatterPaged::run() {
  const int64_t heads = key.shape[1], others = pairs_.size() > 1 ? value.shape[1] : 0;
  parallel_parts(heads + others, [&](int64_t part) {
    const Paged& pair = pairs_[part < heads ? 0 : 1];
    for (int64_t token = 0; token < slot_mapping.count(); ++token) {
      const int64_t slot = number_at(slot_mapping, token * slot_mapping.strides[0]);
      if (pair.has(slot)) pair.write(token, part < heads ? part : part - heads, slot);
    }
  });
}

/// Tokens of all sequences, one behind the other, from the blocks that each sequence's row of block_tables names;
/// seq_offset skips whole blocks. Tokens whose block is none become 0.
struct GatherPaged final : Operator {
  Tensor key_cache, value_cache, block_tables, seq_lens, key, value, seq_offset;
  std::string cache_mode;
  bool is_seq_lens_cumsum = false;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + key.count() + value.count(); }

 private:
  /// Tokens [from, to) are sequence i.
  void read_sequence(const Paged& pair, int64_t i, int64_t from, int64_t to) const;
  Paged keys_, values_;
  std::vector<int64_t> ends_;
};

void GatherPaged::prepare() {
  keys_ = Paged(key, key_cache, cache_mode, "key");
  values_ = Paged(value, value_cache, cache_mode, "value");
  require(keys_.block_size == values_.block_size && key.shape[0] == value.shape[0],
          "key is {}, value {}, caches {} and {}: tokens and block sizes must agree", key, value, key_cache,
          value_cache);
  require(is_list(block_tables) && block_tables.rank() == 2,
          "blockTables is {}; it must be int32 or int64 [sequences, blocks]", block_tables);
  const int64_t count = block_tables.shape[0];
  require(is_list(seq_lens) && seq_lens.shape == Dims{count + (is_seq_lens_cumsum ? 1 : 0)},
          "seqLens is {}; it must be int32 or int64 [{}]: {}", seq_lens, count + (is_seq_lens_cumsum ? 1 : 0),
          is_seq_lens_cumsum ? "where each sequence ends, from 0 on" : "the length of each sequence");
  require(absent(seq_offset) || (is_list(seq_offset) && seq_offset.shape == Dims{count}),
          "seqOffset is {}; it must be int32 or int64 [{}]", seq_offset, count);
}

// Lengths lie in device memory and are known only now: what they ask for beyond `key` is not read.
void GatherPaged::run() {
  ends_.assign(1, 0);
  for (int64_t i = 0; i < block_tables.shape[0]; ++i) {
    const int64_t told = number_at(seq_lens, (i + (is_seq_lens_cumsum ? 1 : 0)) * seq_lens.strides[0]);
    const int64_t first = is_seq_lens_cumsum ? number_at(seq_lens, i * seq_lens.strides[0]) : 0;
    ends_.push_back(std::min(ends_.back() + std::max<int64_t>(told - first, 0), key.shape[0]));
  }
  parallel_parts(2 * block_tables.shape[0], [&](int64_t part) {
    const int64_t i = part / 2;
    read_sequence(part % 2 == 0 ? keys_ : values_, i, ends_[static_cast<size_t>(i)], ends_[static_cast<size_t>(i) + 1]);
  });
}

void GatherPaged::read_sequence(const Paged& pair, int64_t i, int64_t from, int64_t to) const {
  const int64_t skipped = absent(seq_offset) ? 0 : number_at(seq_offset, i * seq_offset.strides[0]) / pair.block_size;
  for (int64_t token = from; token < to; ++token) {
    const int64_t column = skipped + (token - from) / pair.block_size;
    const bool known = column >= 0 && column < block_tables.shape[1];
    const int64_t block =
        known ? number_at(block_tables, i * block_tables.strides[0] + column * block_tables.strides[1]) : -1;
    for (int64_t head = 0; head < pair.tokens.shape[1]; ++head) {
      if (block >= 0 && block < pair.blocks)
        pair.read(token, head, block * pair.block_size + (token - from) % pair.block_size);
      else
        pair.clear(token, head);
    }
  }
}

using S = ScatterPaged;
NPU_OPERATOR(S, "scatter_paged_cache", "attention", in<&S::key>("key"), inout<&S::key_cache>("key_cache"),
             optional<&S::value>("value"), optional_out<&S::value_cache>("value_cache"),
             in<&S::slot_mapping>("slot_mapping"), optional<&S::compress_lens>("compress_lens"),
             optional<&S::compress_seq_offsets>("compress_seq_offsets"), optional<&S::seq_lens>("seq_lens"),
             attr<&S::cache_mode>("cache_mode"), attr<&S::scatter_mode>("scatter_mode"))
    .is(kMovesBits);
using G = GatherPaged;
NPU_OPERATOR(G, "gather_paged_cache", "attention", in<&G::key_cache>("key_cache"), in<&G::value_cache>("value_cache"),
             in<&G::block_tables>("block_tables"), in<&G::seq_lens>("seq_lens"), inout<&G::key>("key"),
             inout<&G::value>("value"), optional<&G::seq_offset>("seq_offset"), attr<&G::cache_mode>("cache_mode"),
             attr<&G::is_seq_lens_cumsum>("is_seq_lens_cumsum"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
