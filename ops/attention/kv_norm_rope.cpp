// SPDX-License-Identifier: Apache-2.0
// What latent attention keeps of a token, in one pass: the first columns of kv are normalised (RMS) into ckv_cache, the
// others, whose neighbours are pairs, turned into k_cache, both at the slot that index gives.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {
namespace {

/// Caches are [B, 1, length, D] with index [B, S] (Norm), or blocks [blocks, block size, 1, D] with a slot for each
/// token (PA, PA_BNSD, PA_NZ) or for the first of each block_size tokens of a sequence (PA_BLK_BNSD, PA_BLK_NZ). In NZ
/// modes the memory of a block is [D / 16, block size, 16]. Slots that are none are passed over.
struct KvNormRope final : Operator {
  Tensor kv, gamma, cos, sin, index, k_cache, ckv_cache, k_rope_scale, c_kv_scale, k_rope_offset, c_kv_offset;
  double epsilon = 1e-5;
  std::string cache_mode = "Norm";
  bool is_output_kv = false;
  Tensor k_rope, c_kv;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 4 * kv.count(); }

 private:
  void check_caches() const;
  void check_results() const;
  int64_t slot_of(int64_t b, int64_t s) const;
  void run_token(int64_t b, int64_t s, float* row, float* turned) const;
  void keep(const Tensor& cache, int64_t b, int64_t slot, const float* from) const;
  bool paged() const { return cache_mode != "Norm"; }
  bool by_block() const { return cache_mode == "PA_BLK_BNSD" || cache_mode == "PA_BLK_NZ"; }
  bool blocked() const { return cache_mode == "PA_NZ" || cache_mode == "PA_BLK_NZ"; }
  int64_t normed() const { return gamma.shape[0]; }
  int64_t turns() const { return kv.shape[3] - gamma.shape[0]; }
  Tensor cos_, sin_;  ///< expanded to [B, 1, S, D]
};

constexpr int64_t kPiece = 16;  ///< elements that lie together in NZ modes

void KvNormRope::prepare() {
  for (const auto& [name, given] : {std::pair("kRopeScale", &k_rope_scale), std::pair("cKvScale", &c_kv_scale),
                                    std::pair("kRopeOffset", &k_rope_offset), std::pair("cKvOffset", &c_kv_offset)}) {
    require(!given->defined() || given->count() == 0, "{} is given: quantised caches are not built; leave it out",
            name);
  }
  require(kv.dtype == DType::kFloat || kv.dtype == DType::kHalf || kv.dtype == DType::kBFloat16,
          "kv is {}; it must be float16, bfloat16 or float32", kv.dtype);
  require(kv.rank() == 4 && kv.shape[1] == 1 && gamma.rank() == 1 && gamma.dtype == kv.dtype,
          "kv is {}, gamma {}: they must be [B, 1, S, D] and [columns that are normalised], of one dtype", kv, gamma);
  require(turns() > 0 && turns() % 2 == 0, "kv is {}, gamma {}: an even number of columns must be left to turn", kv,
          gamma);
  require(cos.dtype == kv.dtype && sin.dtype == kv.dtype, "kv is {}, cos {}, sin {}: use one dtype", kv, cos, sin);
  const Dims angles{kv.shape[0], 1, kv.shape[2], turns()};
  cos_ = cos.expanded(angles);
  sin_ = sin.expanded(angles);
  check_caches();
  check_results();
}

void KvNormRope::check_caches() const {
  require(!paged() || cache_mode == "PA" || cache_mode == "PA_BNSD" || by_block() || blocked(),
          "cacheMode is {}; it is Norm, PA, PA_BNSD, PA_NZ, PA_BLK_BNSD or PA_BLK_NZ", cache_mode);
  for (const auto& [name, cache, size] :
       {std::tuple("kCache", &k_cache, turns()), std::tuple("ckvCache", &ckv_cache, normed())}) {
    require(cache->dtype == kv.dtype && cache->rank() == 4 && cache->shape[3] == size &&
                cache->shape[paged() ? 2 : 1] == 1 && (paged() || cache->shape[0] == kv.shape[0]),
            "{} is {}; with cacheMode {} it must be {} [{}, {}]", name, *cache, cache_mode, kv.dtype,
            paged() ? "blocks, block size, 1" : "batch, 1, length", size);
    require(!blocked() || (size % kPiece == 0 && cache->contiguous()),
            "{} is {}; with cacheMode {} it must be dense, and {} must divide its depth", name, *cache, cache_mode,
            kPiece);
  }
  const int64_t block = k_cache.shape[1];
  require(!paged() || (block > 0 && block == ckv_cache.shape[1]), "kCache is {}, ckvCache {}: block sizes must agree",
          k_cache, ckv_cache);
  const Dims wanted = !paged()     ? Dims{kv.shape[0], kv.shape[2]}
                      : by_block() ? Dims{kv.shape[0] * ((kv.shape[2] + block - 1) / block)}
                                   : Dims{kv.shape[0] * kv.shape[2]};
  require(index.dtype == DType::kInt64 && index.shape == wanted, "index is {}; with cacheMode {} it must be int64 {}",
          index, cache_mode, wanted);
}

void KvNormRope::check_results() const {
  if (!is_output_kv) return;
  const Dims turned{kv.shape[0], 1, kv.shape[2], turns()}, rest{kv.shape[0], 1, kv.shape[2], normed()};
  require(k_rope.defined() && c_kv.defined() && k_rope.dtype == kv.dtype && c_kv.dtype == kv.dtype &&
              k_rope.shape == turned && c_kv.shape == rest,
          "isOutputKv is on; kRope and cKv must be {} {} and {}", kv.dtype, turned, rest);
}

int64_t KvNormRope::slot_of(int64_t b, int64_t s) const {
  const auto* slots = index.as<int64_t>();
  if (!paged()) return slots[b * index.strides[0] + s * index.strides[1]];
  if (!by_block()) return slots[(b * kv.shape[2] + s) * index.strides[0]];
  const int64_t block = k_cache.shape[1], blocks = (kv.shape[2] + block - 1) / block;
  return slots[(b * blocks + s / block) * index.strides[0]] + s % block;
}

void KvNormRope::keep(const Tensor& cache, int64_t b, int64_t slot, const float* from) const {
  const Convert convert = converter(DType::kFloat, cache.dtype);
  const auto bytes = static_cast<int64_t>(size_of(cache.dtype));
  const int64_t size = cache.shape[3], length = paged() ? cache.shape[0] * cache.shape[1] : cache.shape[2];
  if (slot < 0 || slot >= length) return;
  const int64_t block = slot / std::max<int64_t>(cache.shape[1], 1),
                place = slot % std::max<int64_t>(cache.shape[1], 1);
  if (!blocked()) {
    const int64_t at =
        paged() ? block * cache.strides[0] + place * cache.strides[1] : b * cache.strides[0] + slot * cache.strides[2];
    convert(from, 1, cache.bytes() + at * bytes, cache.strides[3], size);
    return;
  }
  for (int64_t d = 0; d < size; d += kPiece) {
    const int64_t at = (block * size + d) * cache.shape[1] + place * kPiece;
    convert(from + d, 1, cache.bytes() + at * bytes, 1, kPiece);
  }
}

void KvNormRope::run_token(int64_t b, int64_t s, float* row, float* turned) const {
  const auto bytes = static_cast<int64_t>(size_of(kv.dtype));
  const Convert load = converter(kv.dtype, DType::kFloat), store = converter(DType::kFloat, kv.dtype);
  const auto at = [&](const Tensor& t) { return t.bytes() + (b * t.strides[0] + s * t.strides[2]) * bytes; };
  load(at(kv), kv.strides[3], row, 1, kv.shape[3]);
  float* const angles = turned + turns();
  load(at(cos_), cos_.strides[3], angles, 1, turns());
  load(at(sin_), sin_.strides[3], angles + turns(), 1, turns());
  // Pairs lie side by side in kv and half a row apart in the result.
  const float* x = row + normed();
  const int64_t half = turns() / 2;
  for (int64_t i = 0; i < half; ++i) {
    const float low = x[2 * i], high = x[2 * i + 1];
    turned[i] = low * angles[i] - high * angles[turns() + i];
    turned[half + i] = high * angles[half + i] + low * angles[turns() + half + i];
  }
  double squares = 0;
  for (int64_t i = 0; i < normed(); ++i) squares += static_cast<double>(row[i]) * row[i];
  const auto factor = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(normed()) + epsilon));
  load(gamma.bytes(), gamma.strides[0], angles, 1, normed());
  for (int64_t i = 0; i < normed(); ++i) row[i] *= factor * angles[i];
  const int64_t slot = slot_of(b, s);
  keep(k_cache, b, slot, turned);
  keep(ckv_cache, b, slot, row);
  if (!is_output_kv) return;
  store(turned, 1, at(k_rope), k_rope.strides[3], turns());
  store(row, 1, at(c_kv), c_kv.strides[3], normed());
}

void KvNormRope::run() {
  parallel_for(kv.shape[0] * kv.shape[2], 8, [&](int64_t begin, int64_t end) {
    const Scratch<float> row(kv.shape[3]), turned(3 * turns() + normed());
    for (int64_t token = begin; token < end; ++token) run_token(token / kv.shape[2], token % kv.shape[2], row, turned);
  });
}

using K = KvNormRope;
NPU_OPERATOR(K, "kv_norm_rope_cache", "attention", in<&K::kv>("kv"), in<&K::gamma>("gamma"), in<&K::cos>("cos"),
             in<&K::sin>("sin"), in<&K::index>("index"), inout<&K::k_cache>("k_cache"),
             inout<&K::ckv_cache>("ckv_cache"), optional<&K::k_rope_scale>("k_rope_scale"),
             optional<&K::c_kv_scale>("c_kv_scale"), optional<&K::k_rope_offset>("k_rope_offset"),
             optional<&K::c_kv_offset>("c_kv_offset"), attr<&K::epsilon>("epsilon"), attr<&K::cache_mode>("cache_mode"),
             attr<&K::is_output_kv>("is_output_kv"), optional_out<&K::k_rope>("k_rope"),
             optional_out<&K::c_kv>("c_kv"));

}  // namespace
}  // namespace npu::ops
