// SPDX-License-Identifier: Apache-2.0
// Outputs of data-dependent size may have exactly that size; a smaller one is refused before anything is written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

template <class T>
Tensor tensor(std::vector<T>& data, const Dims& shape) {
  return make_tensor(data.data(), dtype_of<T>, shape);
}

std::string refused(Call& call) {
  try {
    call.run();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Nonzero, TheExactSizeIsEnough) {
  Floats x{1, 0, 0, 4};
  for (const bool columns : {false, true}) {
    Ints out(4, -1), small(2, -1);
    Call call("nonzero");
    call.set("self", tensor(x, {2, 2})).set("columns", columns).set("out", tensor(out, {2, 2})).run();
    EXPECT_EQ(out, (columns ? Ints{0, 1, 0, 1} : Ints{0, 0, 1, 1}));
    call.set("out", tensor(small, {1, 2}));
    EXPECT_NE(refused(call).find("needs 4 elements; pass a larger output"), std::string::npos);
    EXPECT_EQ(small, Ints(2, -1));
  }
}

TEST(MaskedSelect, TheExactSizeIsEnough) {
  Floats x{1, 2, 3}, out(2), small(1, -1);
  std::vector<uint8_t> mask{1, 0, 1};
  Call call("masked_select");
  call.set("self", tensor(x, {3})).set("mask", tensor(mask, {3})).set("out", tensor(out, {2})).run();
  EXPECT_EQ(out, (Floats{1, 3}));
  call.set("out", tensor(small, {1}));
  EXPECT_NE(refused(call).find("needs 2 elements"), std::string::npos);
  EXPECT_EQ(small, Floats{-1});
}

TEST(Unique, TheExactSizeIsEnough) {
  Floats x{3, 1, 3}, y(2), small(1, -1);
  Ints inverse(3), counts(2);
  for (const char* name : {"unique", "unique_in_order"}) {
    Call call(name);
    call.set("self", tensor(x, {3})).set("y", tensor(y, {2})).set("inverse", tensor(inverse, {3}));
    call.set("counts", tensor(counts, {2})).run();
    EXPECT_EQ(y, name == std::string("unique") ? (Floats{1, 3}) : (Floats{3, 1}));
    EXPECT_EQ(counts, name == std::string("unique") ? (Ints{1, 2}) : (Ints{2, 1}));
    call.set("y", tensor(small, {1}));
    EXPECT_NE(refused(call).find("y is"), std::string::npos);
    call.set("y", tensor(y, {2})).set("counts", tensor(counts, {1}));
    EXPECT_NE(refused(call).find("counts is"), std::string::npos);
    EXPECT_EQ(small, Floats{-1});
  }
}

}  // namespace
}  // namespace npu::ops
