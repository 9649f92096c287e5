// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

constexpr int64_t kTokens = 3, kChoices = 2, kExperts = 4, kHidden = 4;

void expect_refusal(Call& call, const char* part) {
  const std::string text = call.refusal();
  EXPECT_TRUE(text.find(part) != std::string::npos) << text;
}

struct Way {
  Array x = Array(DType::kFloat, {kTokens, kHidden}).random(1);
  Array experts = Array(DType::kInt32, {kTokens, kChoices}).filled(1);
  Array out = Array(DType::kFloat, {kTokens * kChoices, kHidden}), rows{DType::kInt32, {kTokens * kChoices}};
  Call call{"moe_init_routing"};
  Way() {
    call.set("x", x.tensor()).set("expert_idx", experts.tensor()).set("expanded_x", out.tensor());
    call.set("expanded_row_idx", rows.tensor()).set("expert_num", kExperts);
  }
};

TEST(InitRouting, ExpertsThatAreNotThereGetNoToken) {
  Way made;
  const Array far = Array(DType::kInt32, {kTokens, kChoices}).filled(99);
  made.call.set("expert_idx", far.tensor());
  made.call.run();
  EXPECT_EQ(made.rows.values(), std::vector<double>(kTokens * kChoices, -1));
  EXPECT_EQ(made.out.values(), std::vector<double>(kTokens * kChoices * kHidden, 0));
}

TEST(InitRouting, RefusesWhatItDoesNotCompute) {
  const auto refused = [](auto&& change, const char* part) {
    Way made;
    change(made.call);
    expect_refusal(made.call, part);
  };
  const Array whole(DType::kInt8, {kTokens * kChoices, kHidden}), wide(DType::kFloat, {kTokens, kHidden});
  const Array scale(DType::kFloat, {7});
  refused([&](Call& c) { c.set("expanded_x", whole.tensor()); }, "without quantMode they are of one type");
  refused([&](Call& c) { c.set("expert_idx", wide.tensor()); }, "expertIdx is");
  refused([&](Call& c) { c.set("drop_pad_mode", int64_t{2}); }, "dropPadMode is 2");
  refused([&](Call& c) { c.set("drop_pad_mode", int64_t{1}); }, "expertCapacity 0");
  refused([&](Call& c) { c.set("quant_mode", int64_t{3}); }, "quantMode is 3");
  refused([&](Call& c) { c.set("quant_mode", int64_t{0}); }, "quantising takes floats to int8");
  refused([&](Call& c) { c.set("row_idx_type", int64_t{2}); }, "rowIdxType is 2");
  refused([&](Call& c) { c.set("scale", scale.tensor()); }, "scale is float32[7]");
  refused([&](Call& c) { c.set("active_expert_range", std::vector<int64_t>{3, 1}); }, "activeExpertRange is [3, 1)");
  refused([&](Call& c) { c.set("expert_tokens_num", int64_t{2}); }, "expertTokensCountOrCumsum is null");
}

TEST(GatingTopK, RefusesWhatItDoesNotCompute) {
  const Array x(DType::kFloat, {kTokens, kExperts}), y(DType::kFloat, {kTokens, kChoices});
  const Array experts(DType::kInt32, {kTokens, kChoices});
  const auto refused = [&](const char* field, int64_t value, const char* part) {
    Call call("moe_gating_top_k");
    call.set("x", x.tensor()).set("y", y.tensor()).set("expert_idx", experts.tensor()).set("k", kChoices);
    call.set(field, value);
    expect_refusal(call, part);
  };
  refused("renorm", 1, "renorm is 1");
  refused("norm_type", 2, "normType is 2");
  refused("group_count", 3, "groupCount is 3");
  refused("group_select_mode", 2, "groupSelectMode is 2");
  refused("k", 5, "k is 5, there are 4 experts");
  refused("k", 1, "y is");
}

TEST(FinalizeRouting, RefusesWhatItDoesNotCompute) {
  const Array rows(DType::kFloat, {kTokens * kChoices, kHidden}), out(DType::kFloat, {kTokens, kHidden});
  const Array where(DType::kInt32, {kTokens * kChoices}), bias(DType::kFloat, {kExperts, kHidden});
  const Array experts(DType::kInt32, {kTokens, kChoices});
  const auto refused = [&](auto&& change, const char* part) {
    Call call("moe_finalize_routing");
    call.set("rows", rows.tensor()).set("row_idx", where.tensor()).set("out", out.tensor());
    change(call);
    expect_refusal(call, part);
  };
  refused([&](Call& c) { c.set("drop_pad_mode", int64_t{4}); }, "dropPadMode is 4");
  refused([&](Call& c) { c.set("skip2", out.tensor()); }, "x2 is given without x1");
  refused([&](Call& c) { c.set("bias", bias.tensor()); }, "expertIdx is null");
  refused([&](Call& c) { c.set("zero_experts", std::vector<int64_t>{0, 1}); }, "zeroExpertRange");
  refused([&](Call& c) { c.set("constant", out.tensor()); }, "constExpertV");
  refused(
      [&](Call& c) {
        c.set("bias", bias.tensor()).set("expert_idx", experts.tensor()).set("drop_pad_mode", int64_t{1});
      },
      "bias is given with dropPadMode 1");
}

}  // namespace
}  // namespace npu::ops
