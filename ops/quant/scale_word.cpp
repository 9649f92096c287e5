// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/scale_word.h"

#include <algorithm>
#include <cmath>

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// The lower 13 bits are cut off, or rounded to even first; rounding may reach the next power of two, as it should.
uint32_t upper_bits(float scale, bool round) {
  auto bits = std::bit_cast<uint32_t>(scale);
  if (round && std::isfinite(scale)) bits += 0xFFFu + (bits >> 13 & 1u);
  return bits & kScaleBits;
}

uint64_t offset_bits(float offset) {
  const float whole = std::isnan(offset) ? 0 : std::clamp(std::nearbyint(offset), -256.0f, 255.0f);
  return static_cast<uint64_t>(static_cast<uint32_t>(static_cast<int>(whole)) & 0x1FFu) << 37;
}

/// One word for each scale; a single scale or offset serves all of the other.
struct TransQuantParam final : Operator {
  Tensor scale, offset, out;
  int64_t round_mode = 0;

  void prepare() override {
    require(scale.dtype == DType::kFloat && scale.rank() >= 1 && scale.rank() <= 2 && scale.count() > 0,
            "scale is {}; use float32 with 1 or 2 dimensions", scale);
    require(absent(offset) || offset.dtype == DType::kFloat, "offset is {}; use float32", offset);
    require(out.dtype == DType::kInt64 || out.dtype == DType::kUInt64, "out is {}; use int64 or uint64", out);
    require(round_mode == 0 || round_mode == 1, "round_mode is {}; it is 0 (cut) or 1 (round)", round_mode);
    const int64_t n = std::max(scale.count(), absent(offset) ? 1 : offset.count());
    require(out.count() == n, "out is {}, scale is {}, offset is {}: it holds as many numbers as the longer", out,
            scale, offset.defined() ? offset.shape : Dims{0});
    out_ = out;
    require(out.contiguous(), "out is {} with strides {}; use a dense tensor", out, out.strides);
    scales_.plan(scale.contiguous() ? scale.view({scale.count()}, {1}) : scale, 1, n, "scale");
    offsets_.plan(absent(offset) || !offset.contiguous() ? offset : offset.view({offset.count()}, {1}), 1, n, "offset");
  }
  void run() override {
    scales_.load(), offsets_.load();
    const Factor scales = scales_.row(0), offsets = offsets_.row(0);
    auto* words = out_.as<uint64_t>();
    for (int64_t i = 0; i < out_.count(); ++i) {
      words[i] = kWordFlag | upper_bits(scales.data[scales.each ? i : 0], round_mode == 1);
      if (offsets.given()) words[i] |= offset_bits(offsets.data[offsets.each ? i : 0]);
    }
  }
  int64_t cost() const override { return 500 + 4 * out.count(); }

 private:
  Tensor out_;
  Factors scales_, offsets_;
};

NPU_OPERATOR(TransQuantParam, "trans_quant_param", "quant", in<&TransQuantParam::scale>("scale"),
             optional<&TransQuantParam::offset>("offset"), attr<&TransQuantParam::round_mode>("round_mode"),
             out<&TransQuantParam::out>("out"));

}  // namespace
}  // namespace npu::ops
