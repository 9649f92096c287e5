// SPDX-License-Identifier: Apache-2.0
// What a client cannot say through torch: int4 tensors of their own type, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

struct Nibbles {
  std::vector<int8_t> bytes = std::vector<int8_t>(12, 99);
  Tensor pairs = make_tensor(bytes.data(), DType::kInt4, {3, 8});    // two in a byte
  Tensor eights = make_tensor(bytes.data(), DType::kInt32, {3, 1});  // eight in an int32
};

TEST(Quantise, Int4IsTheSameInBytesAndInInt32) {
  const Array x = Array(DType::kFloat, {3, 8}).random(1), scale = Array(DType::kFloat, {1}).filled(4);
  Nibbles first, second;
  Call("quantise").set("self", x.tensor()).set("scale", scale.tensor()).set("out", first.pairs).run();
  Call("quantise").set("self", x.tensor()).set("scale", scale.tensor()).set("out", second.eights).run();
  EXPECT_EQ(first.bytes, second.bytes);
  const auto values = x.values();
  for (size_t i = 0; i < values.size(); ++i) {
    const int bits = first.bytes[i / 2] >> (i % 2 * 4) & 15, got = bits >= 8 ? bits - 16 : bits;
    EXPECT_EQ(got, std::clamp(std::nearbyint(values[i] * 4), -8.0, 7.0));
  }
}

TEST(Quantise, RowsOfInt4AreBroughtBack) {
  const Array x = Array(DType::kHalf, {3, 8}).random(2), one = Array(DType::kFloat, {1}).filled(1);
  Nibbles y;
  const Array scale(DType::kFloat, {3}), back(DType::kHalf, {3, 8});
  Call("dynamic_quant").set("self", x.tensor()).set("out", y.pairs).set("scale", scale.tensor()).run();
  Call("anti_quant").set("self", y.pairs).set("scale", one.tensor()).set("out", back.tensor()).run();
  const auto from = x.values(), to = back.values(), scales = scale.values();
  for (size_t i = 0; i < from.size(); ++i) EXPECT_NEAR(to[i] * scales[i / 8], from[i], 0.51 * scales[i / 8]);
}

TEST(Quantise, RefusesWhatItDoesNotCompute) {
  const Array x(DType::kFloat, {3, 8}), scale(DType::kFloat, {5}), out(DType::kInt8, {3, 8}),
      other(DType::kInt8, {3, 7});
  const auto refusal = [&](const Array& by, const Array& y) {
    return Call("quantise").set("self", x.tensor()).set("scale", by.tensor()).set("out", y.tensor()).refusal();
  };
  EXPECT_TRUE(has(refusal(scale, out), "scale is float32[5]; it may hold one number, or 8"));
  EXPECT_TRUE(has(refusal(Array(DType::kFloat, {8}), other), "y is int8[3x7]"));
  EXPECT_TRUE(has(refusal(Array(DType::kFloat, {8}), Array(DType::kHalf, {3, 8})), "y is float16"));
}

TEST(QuantMatmul, RefusesWhatItDoesNotCompute) {
  const Array a(DType::kInt8, {4, 16}), b(DType::kInt8, {16, 8}), packed(DType::kInt32, {16, 1});
  const Array scale(DType::kFloat, {8}), out(DType::kHalf, {4, 8});
  const auto refusal = [&](auto&& change) {
    Call call("quant_matmul");
    call.set("x1", a.tensor()).set("x2", b.tensor()).set("x2_scale", scale.tensor()).set("out", out.tensor());
    change(call);
    return call.refusal();
  };
  EXPECT_EQ(refusal([](Call&) {}), "");
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("x2", packed.tensor()); }), "8-bit numbers times 4-bit ones"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("y_scale", scale.tensor()); }), "y_scale is"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("group_size", int64_t{8}); }), "groups need 4-bit"));
  EXPECT_TRUE(has(refusal([&](Call& c) { c.set("x1", b.tensor()); }), "inner sizes differ (8 and 16)"));
}

}  // namespace
}  // namespace npu::ops
