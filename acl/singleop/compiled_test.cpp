// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "acl/include/acl/acl_op_compiler.h"
#include "acl/include/anynpu/model.h"
#include "acl/model/model_fixture.h"
#include "acl/singleop/signature.h"
#include "base/json.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr const char* kList = R"([
  {"op": "Add", "input_desc": [{"format": "ND", "shape": [2, 3], "type": "float"},
                               {"format": "ND", "shape": [2, 3], "type": "float"}],
   "output_desc": [{"format": "ND", "shape": [2, 3], "type": "float"}]},
  {"op": "Softmax", "input_desc": [{"format": "ND", "shape": [-1, 7], "type": "float16"}],
   "output_desc": [{"format": "ND", "shape": [-1, 7], "type": "float16"}],
   "attr": [{"name": "axes", "type": "list_int", "value": [-1]}]}])";

aclError convert(const std::string& json, Files& files) {
  const auto take = [](const char* name, const void* bytes, size_t size, void* context) {
    (*static_cast<Files*>(context))[name].assign(static_cast<const char*>(bytes), size);
  };
  return anynpu_singleop_convert(json.data(), json.size(), take, &files);
}

std::string refusal(const std::string& json) {
  Files files;
  EXPECT_EQ(convert(json, files), 100000);
  EXPECT_TRUE(files.empty());
  return aclGetRecentErrMsg();
}

/// x + y of float32 of this shape, by aclopExecute or what else is asked.
class Sum {
 public:
  explicit Sum(std::vector<int64_t> shape, aclDataType dtype = ACL_FLOAT) {
    for (aclTensorDesc*& desc : descs_)
      desc = aclCreateTensorDesc(dtype, static_cast<int>(shape.size()), shape.data(), ACL_FORMAT_ND);
    const size_t bytes = aclGetTensorDescSize(descs_[0]);
    for (size_t i = 0; i < 3; ++i) {
      memory_.push_back(std::make_unique<Memory>(bytes));
      buffers_[i] = aclCreateDataBuffer(memory_[i]->get(), bytes);
    }
  }
  ~Sum() {
    for (size_t i = 0; i < 3; ++i) aclDestroyDataBuffer(buffers_[i]), aclDestroyTensorDesc(descs_[i]);
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;

  aclError compile() const {
    return aclopCompile("Add", 2, descs_, 1, descs_ + 2, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr);
  }
  aclError run() { return aclopExecute("Add", 2, descs_, buffers_, 1, descs_ + 2, buffers_ + 2, nullptr, nullptr); }
  aclError run_v2() {
    return aclopExecuteV2("Add", 2, descs_, buffers_, 1, descs_ + 2, buffers_ + 2, nullptr, nullptr);
  }
  void expect_sum() {
    write(*memory_[0], {1, 2, 3, 4, 5, 6}), write(*memory_[1], {10, 20, 30, 40, 50, 60});
    EXPECT_OK(run());
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(floats(memory_[2]->get(), 6), (std::vector<float>{11, 22, 33, 44, 55, 66}));
  }

 private:
  aclTensorDesc* descs_[3] = {};
  aclDataBuffer* buffers_[3] = {};
  std::vector<std::unique_ptr<Memory>> memory_;
};

class CompiledOps : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(aclrtSetDevice(0));
    folder_ = fs::temp_directory_path() / fmt::format("anynpu_singleop_{}", getpid());
    fs::create_directories(folder_ / "inner");
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(CompiledOps, FilesAreNamedAsTheVendorsAndMakeCallsKnown) {
  Files files;
  ASSERT_OK(convert(kList, files));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(files.contains("0_Add_0_2_2_3_0_2_2_3_0_2_2_3.om")) << files.begin()->first;
  EXPECT_TRUE(files.contains("1_Softmax_1_2_-1_7_1_2_-1_7.om"));
  Sum sum({2, 3});
  EXPECT_EQ(sum.run(), 100024);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("no compiled operator fits Add(float32[2x3], float32[2x3])"),
            std::string::npos);
  for (const auto& [name, bytes] : files) std::ofstream(folder_ / "inner" / name, std::ios::binary) << bytes;
  EXPECT_OK(aclopSetModelDir(folder_.c_str()));
  sum.expect_sum();
  EXPECT_OK(sum.run_v2());
  EXPECT_EQ(Sum({3, 2}).run(), 100024);
  EXPECT_EQ(Sum({2, 3}, ACL_FLOAT16).run(), 100024);
}

TEST_F(CompiledOps, OneIsLoadedFromMemoryOrCompiled) {
  Files files;
  ASSERT_OK(convert(R"({"op": "Add", "input_desc": [{"shape": [-1], "type": "int32"}, {"shape": [-1], "type": "int32"}],
                        "output_desc": [{"shape": [-1], "type": "int32"}]})",
                    files));
  const std::string& bytes = files.begin()->second;
  EXPECT_EQ(Sum({6}, ACL_INT32).run(), 100024);
  EXPECT_OK(aclopLoad(bytes.data(), bytes.size()));
  EXPECT_OK(Sum({6}, ACL_INT32).run());
  EXPECT_OK(Sum({9}, ACL_INT32).run());  // -1 takes any size
  Sum sum({6});
  EXPECT_EQ(sum.run(), 100024);
  EXPECT_OK(sum.compile());
  sum.expect_sum();
}

TEST_F(CompiledOps, WhatIsWrongIsTold) {
  EXPECT_EQ(aclopSetModelDir("/nowhere"), 100003);
  EXPECT_EQ(aclopSetModelDir(folder_.c_str()), 100003);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("atc --singleop makes them"), std::string::npos);
  EXPECT_EQ(aclopSetModelDir(nullptr), 100000);
  EXPECT_EQ(aclopLoad(nullptr, 3), 100000);
  const std::string model = scaled_model({2, 3}), damaged = model.substr(0, 100);
  EXPECT_EQ(aclopLoad(model.data(), model.size()), 100025);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclmdlLoadFromFile"), std::string::npos);
  EXPECT_NE(aclopLoad(damaged.data(), damaged.size()), 0);
  EXPECT_EQ(aclopCompile("Quantum", 0, nullptr, 0, nullptr, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr), 100024);
  EXPECT_EQ(aclopExecute(nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr), 100000);
  EXPECT_EQ(aclopExecute("Add", -1, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr), 100000);
  EXPECT_EQ(aclopExecute("Add", 2, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr), 100000);
}

TEST_F(CompiledOps, ListsThatCannotBeReadAreRefusedByCode) {
  const std::string tensor = R"({"shape": [2], "type": "float"})";
  const auto op = [&](const std::string& input, const std::string& attr) {
    return fmt::format(R"([{{"op": "Relu", "input_desc": [{}], "output_desc": [{}], "attr": [{}]}}])", input, tensor,
                       attr);
  };
  EXPECT_NE(refusal("[").find("E10025: --singleop: the file is no JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("E10025"), std::string::npos);
  EXPECT_NE(refusal("[3]").find("E10023: --singleop: entry 0: it is no object"), std::string::npos);
  EXPECT_NE(refusal(R"([{"op": "Relu"}])").find("E10024: --singleop: entry 0: it has no input_desc"),
            std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": [2]})", "")).find("E10024"), std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": [2], "type": "float17"})", "")).find("E10026"), std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": [2], "type": "float", "format": "X"})", "")).find("E10027"), std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": ["n"], "type": "float"})", "")).find("E10028"), std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"type": "int", "value": 3})")).find("E10029"), std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "int", "value": "x"})")).find("E10030"), std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "odd", "value": 1})")).find("types are bool, int"),
            std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "list_data_type", "value": ["odd"]})")).find("no type of that"),
            std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": [2], "type": "float", "format": 3})", "")).find("format is 3, which is no text"),
            std::string::npos);
  EXPECT_NE(refusal(op(R"({"shape": [18446744073709551615], "type": "float"})", "")).find("E10028"), std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": ["a"], "type": "int", "value": 3})")).find("name is [\"a\"]"),
            std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "int", "value": 3.5})")).find("no integer"), std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "list_int", "value": [1, 9223372036854775808]})"))
                .find("no integer of 64 bits"),
            std::string::npos);
  EXPECT_NE(refusal(op(tensor, R"({"name": "a", "type": "float", "value": 1e300})")).find("no float32"),
            std::string::npos);
  EXPECT_NE(refusal(R"([{"op": "Quantum", "input_desc": [], "output_desc": []}])").find("E10501"), std::string::npos);
}

TEST_F(CompiledOps, AttributesOfEveryTypeComeBack) {
  OpSignature op{"Relu", {{DType::kFloat, ACL_FORMAT_NCHW, {1, -1}}}, {{DType::kBFloat16, ACL_FORMAT_ND, {-2}}}, {}};
  op.attributes.values = {{"a", true},
                          {"b", int64_t{-3}},
                          {"c", 0.5F},
                          {"d", std::string("text")},
                          {"e", DType::kHalf},
                          {"f", std::vector<bool>{true, false}},
                          {"g", std::vector<int64_t>{1, 2}},
                          {"h", std::vector<float>{1.5F}},
                          {"i", std::vector<std::vector<int64_t>>{{1}, {2, 3}}},
                          {"j", std::vector<std::string>{"one", "two"}},
                          {"k", std::vector<DType>{DType::kFloat, DType::kInt32}}};
  const OpSignature back = signature_of(to_json(op), 0);
  EXPECT_EQ(back.attributes.values, op.attributes.values);
  EXPECT_EQ(back.inputs, op.inputs);
  EXPECT_EQ(back.outputs, op.outputs);
  OpSignature call = op;
  call.inputs[0].dims = {1, 9}, call.outputs[0].dims = {4, 4, 4};
  EXPECT_TRUE(op.takes(call));
  call.attributes.values.erase("a");
  EXPECT_FALSE(op.takes(call));
}

}  // namespace
}  // namespace npu::acl
