// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

// The vendor's own example: 0 counts as positive, the last byte is filled up.
TEST(SignBits, AreThoseOfTheDocumentedExample) {
  std::vector<float> x{5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2}, back(16);
  std::vector<uint8_t> bytes(2);
  const Tensor packed = make_tensor(bytes.data(), DType::kUInt8, {2, 1});
  Call("sign_bits_pack")
      .set("self", make_tensor(x.data(), DType::kFloat, {14}))
      .set("size", int64_t{2})
      .set("out", packed)
      .run();
  EXPECT_EQ(bytes, (std::vector<uint8_t>{159, 15}));
  Call("sign_bits_unpack")
      .set("self", make_tensor(bytes.data(), DType::kUInt8, {2}))
      .set("size", int64_t{2})
      .set("out", make_tensor(back.data(), DType::kFloat, {2, 8}))
      .run();
  EXPECT_EQ(back, (std::vector<float>{1, 1, 1, 1, 1, -1, -1, 1, 1, 1, 1, 1, -1, -1, -1, -1}));
}

TEST(SignBits, ComeBackFromEveryLength) {
  for (const int64_t n : {1, 7, 8, 63, 64, 65, 511, 513, 200000}) {
    std::vector<float> x(static_cast<size_t>(n)), back(x.size() / 8 * 8 + 8);
    for (size_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u % 7 < 3 ? -1.0f : 1.0f;
    const int64_t bytes = (n + 7) / 8;
    std::vector<uint8_t> packed(static_cast<size_t>(bytes));
    Call("sign_bits_pack")
        .set("self", make_tensor(x.data(), DType::kFloat, {n}))
        .set("out", make_tensor(packed.data(), DType::kUInt8, {1, bytes}))
        .run();
    Call("sign_bits_unpack")
        .set("self", make_tensor(packed.data(), DType::kUInt8, {bytes}))
        .set("out", make_tensor(back.data(), DType::kFloat, {1, bytes * 8}))
        .run();
    back.resize(x.size());
    EXPECT_EQ(back, x) << n;
  }
}

TEST(SignBits, RefuseWhatDoesNotFit) {
  std::vector<float> x(16);
  std::vector<uint8_t> bytes(2);
  Call call("sign_bits_pack");
  call.set("self", make_tensor(x.data(), DType::kFloat, {16}))
      .set("out", make_tensor(bytes.data(), DType::kUInt8, {1, 2}));
  EXPECT_EQ(call.refusal(), "");
  EXPECT_NE(call.set("size", int64_t{2}).refusal().find("size = 2 rows"), std::string::npos);
  EXPECT_NE(
      call.set("size", int64_t{1}).set("self", make_tensor(x.data(), DType::kInt32, {16})).refusal().find("float32"),
      std::string::npos);
}

}  // namespace
}  // namespace npu::ops
