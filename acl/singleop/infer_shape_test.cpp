// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "acl/include/acl/acl_op.h"
#include "acl/runtime/runtime_fixture.h"

namespace npu::acl {
namespace {

using Sizes = std::vector<int64_t>;
using Numbers = std::vector<int64_t>;

/// One question; descriptions and buffers end with it. `numbers` are the values of a last input, of int64.
class Question {
 public:
  Question(const char* type, const std::vector<Sizes>& inputs, Numbers numbers = {})
      : type_(type), numbers_(std::move(numbers)) {
    for (const Sizes& sizes : inputs) add(sizes, ACL_FLOAT, nullptr, 0);
    if (!numbers_.empty())
      add({static_cast<int64_t>(numbers_.size())}, ACL_INT64, numbers_.data(), numbers_.size() * sizeof(int64_t));
  }
  ~Question() {
    for (aclTensorDesc* desc : descs_) aclDestroyTensorDesc(desc);
    for (aclDataBuffer* buffer : buffers_) aclDestroyDataBuffer(buffer);
    aclDestroyTensorDesc(output);
    aclopDestroyAttr(attr);
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  aclError ask() {
    return aclopInferShape(type_, static_cast<int>(descs_.size()), descs_.data(), buffers_.data(), 1, &output, attr);
  }
  /// The sizes that were inferred; none where it was refused, which the test then shows.
  Sizes answer() {
    EXPECT_OK(ask());
    Sizes out;
    for (size_t i = 0; i < aclGetTensorDescNumDims(output); ++i) out.push_back(aclGetTensorDescDim(output, i));
    return out;
  }
  aclDataBuffer* last_buffer() const { return buffers_.back(); }

  aclopAttr* attr = aclopCreateAttr();
  aclTensorDesc* output = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);

 private:
  void add(const Sizes& sizes, aclDataType type, void* data, size_t bytes) {
    descs_.push_back(aclCreateTensorDesc(type, static_cast<int>(sizes.size()), sizes.data(), ACL_FORMAT_ND));
    buffers_.push_back(aclCreateDataBuffer(data, bytes));
  }
  const char* type_;
  Numbers numbers_;
  std::vector<aclTensorDesc*> descs_;
  std::vector<aclDataBuffer*> buffers_;
};

using InferShape = OnDevice;

TEST_F(InferShape, PointwiseTypesBroadcast) {
  EXPECT_EQ(Question("Add", {{4, 1, 3}, {5, 1}}).answer(), (Sizes{4, 5, 3}));
  EXPECT_EQ(Question("Relu", {{2, 7}}).answer(), (Sizes{2, 7}));
  EXPECT_EQ(Question("Cast", {{}}).answer(), Sizes{});
  EXPECT_EQ(Question("Select", {{3, 1}, {1, 4}, {4}}).answer(), (Sizes{3, 4}));
  EXPECT_EQ(Question("Add", {{-1, 3}, {1, 3}}).answer(), (Sizes{-1, 3}));
  EXPECT_EQ(Question("Add", {{-1, 3}, {8, 3}}).answer(), (Sizes{8, 3}));
  Question rank("Add", {{-2}, {8, 3}});
  EXPECT_OK(rank.ask());
  EXPECT_EQ(aclGetTensorDescNumDims(rank.output), ACL_UNKNOWN_RANK);
}

TEST_F(InferShape, ProductsOfMatrices) {
  EXPECT_EQ(Question("MatMul", {{2, 3}, {3, 4}}).answer(), (Sizes{2, 4}));
  EXPECT_EQ(Question("BatchMatMul", {{5, 1, 2, 3}, {6, 3, 4}}).answer(), (Sizes{5, 6, 2, 4}));
  Question turned("MatMulV2", {{3, 2}, {4, 3}});
  EXPECT_OK(aclopSetAttrBool(turned.attr, "transpose_x1", 1));
  EXPECT_OK(aclopSetAttrBool(turned.attr, "transpose_x2", 1));
  EXPECT_EQ(turned.answer(), (Sizes{2, 4}));
}

TEST_F(InferShape, ValuesThatDecideComeFromWhereTheyLie) {
  EXPECT_EQ(Question("Transpose", {{2, 3, 4}}, {2, 0, 1}).answer(), (Sizes{4, 2, 3})) << "from host memory";
  const int64_t order[] = {1, 0};
  const Memory device(sizeof order);
  EXPECT_OK(aclrtMemcpy(device.get(), sizeof order, order, sizeof order, ACL_MEMCPY_HOST_TO_DEVICE));
  Question there("Transpose", {{2, 3}}, {0, 0});
  EXPECT_OK(aclUpdateDataBuffer(there.last_buffer(), device.get(), sizeof order));
  EXPECT_EQ(there.answer(), (Sizes{3, 2})) << "from device memory";
  Question attribute("TransposeD", {{2, 3}});
  EXPECT_OK(aclopSetAttrListInt(attribute.attr, "perm", 2, order));
  EXPECT_EQ(attribute.answer(), (Sizes{3, 2})) << "from an attribute";
  Question sum("ReduceSum", {{2, 3, 4}}, {-1, 0});
  EXPECT_EQ(sum.answer(), Sizes{3});
  EXPECT_OK(aclopSetAttrBool(sum.attr, "keep_dims", 1));
  EXPECT_EQ(sum.answer(), (Sizes{1, 3, 1}));
  EXPECT_EQ(Question("SoftmaxV2", {{2, 3}}).answer(), (Sizes{2, 3}));
}

void expect_refused(Question&& question, aclError code, const char* words) {
  EXPECT_EQ(question.ask(), code);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST_F(InferShape, WhatDoesNotFitIsRefused) {
  expect_refused(Question("Add", {{2, 3}, {4}}), 100000, "Add: sizes 3 and 4 do not fit");
  expect_refused(Question("MatMul", {{2, 3}, {4, 5}}), 100000, "inner sizes differ (3 and 4)");
  expect_refused(Question("MatMul", {{3}, {3, 5}}), 100000, "multiplies matrices");
  expect_refused(Question("MatMul", {{3, 3}}), 100000, "needs an input 1");
  expect_refused(Question("Transpose", {{2, 3}}, {0}), 100000, "perm has 1 axes");
  expect_refused(Question("Transpose", {{2, 3}}, {0, 2}), 100000, "no axis 2");
  expect_refused(Question("Transpose", {{2, 3}}), 100000, "input 1 of Transpose is not given");
  expect_refused(Question("Conv2D", {{1, 3, 8, 8}, {4, 3, 3, 3}}), 207000, "aclopCompileAndExecuteV2");
  expect_refused(Question("Quantum", {{1}}), 100024, "Quantum");
  Question short_of("Transpose", {{2, 3}}, {1, 0});
  EXPECT_OK(aclUpdateDataBuffer(short_of.last_buffer(), aclGetDataBufferAddr(short_of.last_buffer()), 8));
  EXPECT_EQ(short_of.ask(), 100000);
  EXPECT_EQ(aclopInferShape(nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr), 100000);
  EXPECT_EQ(aclopInferShape("Add", -1, nullptr, nullptr, 0, nullptr, nullptr), 100000);
  EXPECT_EQ(aclopInferShape("Add", 0, nullptr, nullptr, 0, nullptr, nullptr), 100000);
}

}  // namespace
}  // namespace npu::acl
