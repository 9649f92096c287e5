// SPDX-License-Identifier: Apache-2.0
// What attention for inference refuses; its results stand in tests/conformance/describe_inference.py.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

struct InferAttention : testing::Test {
  Array q = Array(DType::kHalf, {2, 3, 4, 16}).random(1), k = Array(DType::kHalf, {2, 8, 2, 16}).random(2);
  Array out = Array(DType::kHalf, {2, 3, 4, 16}).filled(0), one = Array(DType::kHalf, {1});

  std::string refusal(const std::function<void(Call&)>& change) {
    Call call("infer_attention");
    call.set("query", q.tensor()).set("key", std::vector{k.tensor()}).set("value", std::vector{k.tensor()});
    call.set("attention_out", out.tensor()).set("num_heads", int64_t{4}).set("num_key_value_heads", int64_t{2});
    call.set("input_layout", std::string("BSND"));
    change(call);
    return call.refusal();
  }
};

TEST_F(InferAttention, PlainCachesAreTaken) {
  EXPECT_EQ(refusal([](Call&) {}), "");
}

TEST_F(InferAttention, WhatIsNotBuiltIsNamedAsTheClientNamesIt) {
  const std::pair<const char*, const char*> names[] = {{"quant_scale1", "quantScale1"},
                                                       {"antiquant_scale", "antiquantScale"},
                                                       {"key_antiquant_scale", "keyAntiquantScale"},
                                                       {"key_shared_prefix", "keySharedPrefix"}};
  for (const auto& [field, name] : names) {
    const std::string text = refusal([&](Call& call) { call.set(field, one.tensor()); });
    EXPECT_NE(text.find(std::string(name) + " is given"), std::string::npos) << text;
    EXPECT_NE(text.find("is not built"), std::string::npos) << text;
  }
}

TEST_F(InferAttention, SizesThatDoNotFitAreRefused) {
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  using Lengths = std::vector<int64_t>;
  has(refusal([](Call& c) { c.set("actual_seq_lengths_kv", Lengths{9}); }), "actualSeqLengthsKv[0] is 9; the longest");
  has(refusal([](Call& c) { c.set("actual_seq_lengths", Lengths{1, 2, 3}); }), "3 numbers for 2 samples");
  has(refusal([](Call& c) { c.set("num_key_value_heads", int64_t{4}); }), "numKeyValueHeads 4");
  has(refusal([](Call& c) { c.set("softmax_lse_flag", true); }), "softmaxLse must be float32 2x4x3x1");
  has(refusal([&](Call& c) { c.set("key", std::vector{k.tensor(), k.tensor(), k.tensor()}); }), "3 keys and 1 values");
  has(refusal([](Call& c) { c.set("input_layout", std::string("SNB")); }), "input_layout is SNB");
}

}  // namespace
}  // namespace npu::ops
