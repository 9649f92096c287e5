// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "acl/runtime/runtime_fixture.h"
#include "acl/singleop/operator_type.h"
#include "aclnn/acl_meta.h"
#include "base/error.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

using SingleOp = OnDevice;

/// A description and a buffer over the same memory.
struct Side {
  aclTensorDesc* desc;
  aclDataBuffer* buffer;
  Side(aclDataType dtype, std::vector<int64_t> dims, void* data, size_t bytes)
      : desc(aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND)),
        buffer(aclCreateDataBuffer(data, bytes)) {}
  ~Side() {
    aclDestroyTensorDesc(desc);
    EXPECT_OK(aclDestroyDataBuffer(buffer));
  }
};

int run(const char* type, std::vector<const Side*> inputs, std::vector<const Side*> outputs) {
  std::vector<const aclTensorDesc*> in_desc, out_desc;
  std::vector<const aclDataBuffer*> in;
  std::vector<aclDataBuffer*> out;
  for (const Side* side : inputs) in_desc.push_back(side->desc), in.push_back(side->buffer);
  for (const Side* side : outputs) out_desc.push_back(side->desc), out.push_back(side->buffer);
  return aclopCompileAndExecute(type, static_cast<int>(in.size()), in_desc.data(), in.data(),
                                static_cast<int>(out.size()), out_desc.data(), out.data(), nullptr, ACL_ENGINE_SYS,
                                ACL_COMPILE_SYS, nullptr, nullptr);
}

TEST_F(SingleOp, DescriptionsAnswerWhatTheyWereMadeOf) {
  const int64_t dims[] = {2, 3, -1};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT16, 2, dims, ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_FLOAT16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 2u);
  EXPECT_EQ(aclGetTensorDescSize(desc), 12u);
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 6u);
  int64_t size = 0;
  EXPECT_OK(aclGetTensorDescDimV2(desc, 1, &size));
  EXPECT_EQ(size, 3);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 2, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_OK(aclSetTensorShape(desc, 3, dims));
  EXPECT_OK(aclSetTensorFormat(desc, ACL_FORMAT_ND));
  EXPECT_OK(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST));
  aclSetTensorDescName(desc, "x");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x");
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  EXPECT_EQ(aclSetTensorFormat(desc, ACL_FORMAT_ND), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SingleOp, DescriptionsKeepRangesOfSizes) {
  const int64_t dims[] = {-1, 3};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
  int64_t range[2] = {};
  EXPECT_OK(aclGetTensorDescDimRange(desc, 0, 2, range));
  EXPECT_EQ(std::vector<int64_t>(range, range + 2), (std::vector<int64_t>{0, -1}));
  EXPECT_OK(aclGetTensorDescDimRange(desc, 1, 2, range));
  EXPECT_EQ(std::vector<int64_t>(range, range + 2), (std::vector<int64_t>{3, 3}));
  int64_t asked[][2] = {{1, 8}, {3, 3}}, backwards[][2] = {{8, 1}, {3, 3}};
  EXPECT_OK(aclSetTensorShapeRange(desc, 2, asked));
  EXPECT_EQ(aclSetTensorShapeRange(desc, 1, asked), 100000);
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, backwards), 100000);
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, nullptr), 100000);
  EXPECT_OK(aclGetTensorDescDimRange(desc, 0, 2, range));
  EXPECT_EQ(std::vector<int64_t>(range, range + 2), (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 2, 2, range), 100000);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 1, range), 100000);
  EXPECT_EQ(aclGetTensorDescAddress(desc), nullptr);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclGetDataBufferAddr"), std::string::npos);
  EXPECT_OK(aclSetTensorDynamicInput(desc, "x"));
  EXPECT_EQ(aclSetTensorDynamicInput(desc, nullptr), 100000);
  aclDestroyTensorDesc(desc);
}

/// A matrix that was described as it lies in FRACTAL_NZ, and then by what it stands for.
TEST_F(SingleOp, DescriptionsOfWhatLiesInMemoryAreToldTheirLogicalSizes) {
  std::vector<float> blocks(512), plain(34);  // 17 x 2: blocks of [1, 2, 16, 16]
  for (size_t i = 0; i < 17; ++i) blocks[i * 16] = static_cast<float>(i), blocks[i * 16 + 1] = 100;
  Memory a(blocks.size() * 4), b(plain.size() * 4);
  EXPECT_OK(aclrtMemcpy(a.get(), a.bytes(), blocks.data(), a.bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  const int64_t logical[] = {17, 2};
  Side x(ACL_FLOAT, {1, 2, 16, 16}, a.get(), a.bytes()), y(ACL_FLOAT, {17, 2}, b.get(), b.bytes());
  EXPECT_OK(aclSetTensorStorageFormat(x.desc, ACL_FORMAT_FRACTAL_NZ));
  EXPECT_OK(aclSetTensorOriginFormat(x.desc, ACL_FORMAT_ND));
  EXPECT_OK(aclSetTensorOriginShape(x.desc, 2, logical));
  EXPECT_EQ(aclGetTensorDescNumDims(x.desc), 2U);
  EXPECT_OK(run("Identity", {&x}, {&y}));
  EXPECT_OK(aclrtMemcpy(plain.data(), b.bytes(), b.get(), b.bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(plain[32], 16);
  EXPECT_EQ(plain[33], 100);
  const int64_t storage[] = {1, 2, 16, 16};
  EXPECT_OK(aclSetTensorStorageShape(x.desc, 4, storage));
  EXPECT_OK(run("Identity", {&x}, {&y}));
}

TEST_F(SingleOp, HalfAndSizes) {
  EXPECT_EQ(aclDataTypeSize(ACL_DOUBLE), 8u);
  EXPECT_EQ(aclFloat16ToFloat(aclFloatToFloat16(1.5f)), 1.5f);
}

TEST_F(SingleOp, AttributesOfEveryKind) {
  aclopAttr* attr = aclopCreateAttr();
  const int64_t numbers[] = {1, 2};
  const int64_t* const lists[] = {numbers, numbers};
  const int counts[] = {2, 1};
  const uint8_t flags[] = {0, 1};
  const float reals[] = {1.5f};
  EXPECT_OK(aclopSetAttrBool(attr, "a", 1));
  EXPECT_OK(aclopSetAttrInt(attr, "a", 2));
  EXPECT_OK(aclopSetAttrFloat(attr, "b", 2));
  EXPECT_OK(aclopSetAttrString(attr, "c", "text"));
  EXPECT_OK(aclopSetAttrDataType(attr, "d", ACL_FLOAT));
  EXPECT_OK(aclopSetAttrListBool(attr, "e", 2, flags));
  EXPECT_OK(aclopSetAttrListInt(attr, "f", 2, numbers));
  EXPECT_OK(aclopSetAttrListFloat(attr, "g", 1, reals));
  EXPECT_OK(aclopSetAttrListListInt(attr, "h", 2, counts, lists));
  const char* words[] = {"one", "two"};
  const aclDataType types[] = {ACL_FLOAT, ACL_INT32};
  EXPECT_OK(aclopSetAttrListString(attr, "i", 2, words));
  EXPECT_OK(aclopSetAttrListDataType(attr, "j", 2, types));
  const char* hole[] = {nullptr};
  EXPECT_EQ(aclopSetAttrListString(attr, "i", 1, hole), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListString(attr, "i", -1, words), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListDataType(attr, "j", 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrInt(attr, nullptr, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListInt(attr, "x", -1, numbers), ACL_ERROR_INVALID_PARAM);
  aclopDestroyAttr(attr);
  EXPECT_EQ(aclopSetAttrInt(attr, "a", 2), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SingleOp, ACopyToAnotherDeviceIsNotMadeBehindAFailure) {
  Memory a(4);
  EXPECT_OK(aclrtMemset(a.get(), 4, 1, 4));
  ASSERT_OK(aclrtSetDevice(1));
  Memory b(4);
  EXPECT_OK(aclrtMemset(b.get(), 4, 0, 4));
  ASSERT_OK(aclrtSetDevice(0));
  const Side from(ACL_INT32, {1}, a.get(), 4), to(ACL_INT32, {1}, b.get(), 4);
  device::stream_from_handle(nullptr).launch(
      {"aclnnMm", 0, device::kTaskKernel, [] { fail(Code::kNnRuntime, "broken"); }});
  EXPECT_OK(run("Identity", {&from}, {&to}));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 361001);
  EXPECT_EQ(b.read(), (std::vector<uint8_t>{0, 0, 0, 0}));
  EXPECT_OK(run("Identity", {&from}, {&to}));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(b.read(), (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST_F(SingleOp, RunsByTypeName) {
  const float values[] = {1, 2, 3};
  Memory a(12), b(12);
  EXPECT_OK(aclrtMemcpy(a.get(), 12, values, 12, ACL_MEMCPY_HOST_TO_DEVICE));
  Side x(ACL_FLOAT, {3}, a.get(), 12), y(ACL_FLOAT, {3}, b.get(), 12);
  EXPECT_OK(run("Identity", {&x}, {&y}));
  EXPECT_EQ(b.read(), a.read());
  EXPECT_OK(run("Add", {&x, &y}, {&y}));
  float out[3];
  EXPECT_OK(aclrtMemcpy(out, 12, b.get(), 12, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(out[2], 6);
}

TEST_F(SingleOp, CastsWithoutAName) {
  const float values[] = {1.75F, -2.5F};
  Memory a(8), b(8);
  EXPECT_OK(aclrtMemcpy(a.get(), 8, values, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  const Side x(ACL_FLOAT, {2}, a.get(), 8), y(ACL_INT32, {2}, b.get(), 8);
  EXPECT_OK(aclopCast(x.desc, x.buffer, y.desc, y.buffer, 0, nullptr));
  int32_t out[2] = {};
  EXPECT_OK(aclrtMemcpy(out, 8, b.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], -2);
  EXPECT_EQ(aclopCast(nullptr, x.buffer, y.desc, y.buffer, 0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopCast(x.desc, x.buffer, y.desc, nullptr, 0, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SingleOp, KernelsOfTheClientAreRefused) {
  EXPECT_EQ(aclopCreateKernel("AddBlockCust", "id", "name", nullptr, 0, ACL_ENGINE_AICORE, nullptr), 207000);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclopCompileAndExecute"), std::string::npos);
  EXPECT_EQ(aclopRegisterCompileFunc("AddBlockCust", nullptr), 207000);
  EXPECT_EQ(aclopUnregisterCompileFunc("AddBlockCust"), 207000);
  EXPECT_EQ(aclopSetKernelArgs(nullptr, "id", 1, nullptr, 0), 207000);
  EXPECT_EQ(aclopSetKernelWorkspaceSizes(nullptr, 0, nullptr), 207000);
  EXPECT_EQ(aclopUpdateParams("AddBlockCust", 0, nullptr, 0, nullptr, nullptr), 207000);
}

TEST_F(SingleOp, HostInputsAreReadDuringTheCall) {
  for (const aclMemType place : {ACL_MEMTYPE_HOST, ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT}) {
    int32_t host[] = {4, 5};
    Memory b(8);
    Side x(ACL_INT32, {2}, host, 8), y(ACL_FLOAT, {2}, b.get(), 8);
    EXPECT_OK(aclSetTensorPlaceMent(x.desc, place));
    EXPECT_OK(run("Cast", {&x}, {&y}));
    std::memset(host, 0, 8);
    float out[2];
    EXPECT_OK(aclrtMemcpy(out, 8, b.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(out[1], 5);
    EXPECT_EQ(aclSetTensorPlaceMent(x.desc, static_cast<aclMemType>(3)), ACL_ERROR_INVALID_PARAM);
  }
}

TEST_F(SingleOp, EveryRowOfTheTableFitsItsOperator) {
  ASSERT_NO_THROW(EXPECT_GT(operator_types().size(), 200u));
  for (const OperatorType* type : operator_types()) EXPECT_EQ(find_operator_type(type->type).front(), type);
}

std::string problem_of(const char* inputs, const char* attributes, const char* name, const char* bind) {
  try {
    parse_type("Tested", inputs, "y", attributes, name, bind);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST_F(SingleOp, ARowThatMakesNoSenseIsRefused) {
  EXPECT_EQ(problem_of("x", "axes", "softmax", "self=x dim=axes out=y"), "");
  const auto expect = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(problem_of("x", "", "no_such", "self=x out=y"), "there is no operator no_such");
  expect(problem_of("x", "", "softmax", "self=x out=y size=x"), "no field size");
  expect(problem_of("x", "", "softmax", "self=z out=y"), "nothing is called z");
  expect(problem_of("x z", "", "softmax", "self=x out=y"), "z reaches no field; write _z");
  expect(problem_of("x", "axes", "softmax", "self=x out=y"), "attribute axes reaches no field");
  expect(problem_of("x", "", "softmax", "self=x"), "y reaches no field");
  expect(problem_of("_x", "", "softmax", "out=y"), "nothing fills field self");
  expect(problem_of("x", "", "softmax", "self=turned(x) out=y"), "there is no function turned");
  expect(problem_of("x", "", "softmax", "self=transposed(x) out=y"), "transposed takes 2 arguments, got 1");
  expect(problem_of("x* z*", "", "cat", "tensors=x out=y"), "2 lists");
}

TEST_F(SingleOp, UnknownTypeNamesItselfAndItsLike) {
  Memory a(4);
  Side x(ACL_FLOAT, {1}, a.get(), 4);
  EXPECT_EQ(run("SoftmaxOfNobody", {&x}, {&x}), ACL_ERROR_OP_NOT_FOUND);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find("SoftmaxOfNobody"), std::string::npos) << text;
  EXPECT_NE(text.find("SoftmaxCrossEntropyWithLogits, SoftmaxGrad"), std::string::npos) << text;
  EXPECT_EQ(run("NoSuchType", {&x}, {&x}), ACL_ERROR_OP_NOT_FOUND);
}

TEST_F(SingleOp, FormatsThatAreNotReadAreRefused) {
  Memory a(4);
  Side x(ACL_FLOAT, {1}, a.get(), 4), blocked(ACL_FLOAT, {1}, a.get(), 4);
  EXPECT_OK(aclSetTensorFormat(blocked.desc, ACL_FORMAT_NC1HWC0_C04));
  EXPECT_EQ(run("Identity", {&blocked}, {&x}), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("allow_internal_format"), std::string::npos);
}

/// Numbers whose sums and products leave 64 bits.
TEST_F(SingleOp, ViewsThatLeaveTheirMemoryAreRefused) {
  Memory a(16), b(8);
  int64_t far[] = {int64_t{1} << 62}, five[] = {5};
  Side x(ACL_FLOAT, {4}, a.get(), 16), y(ACL_FLOAT, {2}, b.get(), 8);
  Side large(ACL_INT64, {1}, far, 8), count(ACL_INT64, {1}, five, 8);
  for (const Side* side : {&large, &count}) EXPECT_OK(aclSetTensorPlaceMent(side->desc, ACL_MEMTYPE_HOST));
  EXPECT_EQ(run("Slice", {&x, &large, &large}, {&y}), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(run("AsStrided", {&x, &count, &large}, {&y}), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(run("AsStrided", {&x, &large, &count}, {&y}), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(SingleOp, WrongCallsAreRefused) {
  Memory a(8);
  Side x(ACL_FLOAT, {3}, a.get(), 8), small(ACL_FLOAT, {2}, a.get(), 4), wild(ACL_FLOAT, {1}, &x, 4);
  EXPECT_EQ(run("Identity", {&x}, {&x}), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(run("Identity", {&small}, {&small}), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(run("Identity", {&wild}, {&wild}), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(run("Identity", {}, {&x}), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(run(nullptr, {}, {&x}), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace npu::acl
