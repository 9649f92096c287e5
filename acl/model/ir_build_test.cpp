// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "acl/acl.h"
#include "ge/ge_ir_build.h"

namespace npu::acl {
namespace {

using ge::AscendString;

template <class Write>
std::string message(Write&& write) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  write(writer);
  return bytes;
}

/// y = op(x), of floats; x has as many axes as names are given, none of them of a known size.
std::string onnx_model(const char* op, std::initializer_list<const char*> axes = {"rows", "columns"}) {
  const auto value = [&](const char* name) {
    return message([&](auto& v) {
      v.add_string(1, name);
      v.add_message(2, message([&](auto& type) {
                      type.add_message(1, message([&](auto& tensor) {
                                         tensor.add_int32(1, 1);
                                         tensor.add_message(2, message([&](auto& shape) {
                                                              for (const char* axis : axes)
                                                                shape.add_message(1, message([&](auto& dim) {
                                                                                    dim.add_string(2, axis);
                                                                                  }));
                                                            }));
                                       }));
                    }));
    });
  };
  const std::string node = message(
      [&](auto& n) { n.add_string(1, "x"), n.add_string(2, "y"), n.add_string(3, "only"), n.add_string(4, op); });
  const std::string graph = message([&](auto& g) {
    g.add_message(1, node), g.add_string(2, "g"), g.add_message(11, value("x")), g.add_message(12, value("y"));
  });
  return message([&](auto& m) {
    m.add_int64(1, 8), m.add_message(7, graph);
    m.add_message(8, message([&](auto& set) { set.add_int64(2, 13); }));
  });
}

class IrBuild : public testing::Test {
 protected:
  void SetUp() override {
    aclInit(nullptr);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ge::Options options{{ge::ir_option::SOC_VERSION, "Ascend910B1"},
                        {ge::ir_option::PRECISION_MODE, "must_keep_origin_dtype"}};
    ASSERT_EQ(ge::aclgrphBuildInitialize(options), ge::GRAPH_SUCCESS);
  }
  void TearDown() override { ge::aclgrphBuildFinalize(); }

  static ge::Graph parsed(const std::string& bytes) {
    ge::Graph graph("relu");
    EXPECT_EQ(ge::aclgrphParseONNXFromMem(bytes.data(), bytes.size(), {}, graph), ge::GRAPH_SUCCESS);
    return graph;
  }
  static std::string error() { return aclGetRecentErrMsg(); }
};

/// What a model in memory makes of these numbers.
std::vector<float> run(const ge::ModelBufferData& model, std::vector<float> numbers) {
  uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadFromMem(model.data.get(), model.length, &id), ACL_SUCCESS);
  const size_t bytes = numbers.size() * sizeof(float);
  void *in = nullptr, *out = nullptr;
  aclrtMalloc(&in, bytes, ACL_MEM_MALLOC_HUGE_FIRST), aclrtMalloc(&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(in, bytes, numbers.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
  aclDataBuffer *from = aclCreateDataBuffer(in, bytes), *to = aclCreateDataBuffer(out, bytes);
  aclmdlAddDatasetBuffer(inputs, from), aclmdlAddDatasetBuffer(outputs, to);
  EXPECT_EQ(aclmdlExecute(id, inputs, outputs), ACL_SUCCESS);
  aclrtMemcpy(numbers.data(), bytes, out, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  aclDestroyDataBuffer(from), aclDestroyDataBuffer(to);
  aclmdlDestroyDataset(inputs), aclmdlDestroyDataset(outputs);
  aclrtFree(in), aclrtFree(out);
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
  return numbers;
}

TEST_F(IrBuild, AModelInMemoryIsBuiltAndRuns) {
  const ge::Graph graph = parsed(onnx_model("Relu"));
  ge::ModelBufferData model;
  ASSERT_EQ(ge::aclgrphBuildModel(graph, {{ge::ir_option::INPUT_SHAPE, "x:2,3"}}, model), ge::GRAPH_SUCCESS) << error();
  EXPECT_EQ(run(model, {-1, 2, -3, 4, -5, 6}), (std::vector<float>{0, 2, 0, 4, 0, 6}));
}

TEST_F(IrBuild, ANumberWithoutShapeIsNamedAlone) {
  const ge::Graph graph = parsed(onnx_model("Neg", {}));
  ge::ModelBufferData model;
  ASSERT_EQ(ge::aclgrphBuildModel(graph, {{ge::ir_option::INPUT_SHAPE, "x"}}, model), ge::GRAPH_SUCCESS) << error();
  EXPECT_EQ(run(model, {3}), std::vector<float>{-3});
}

TEST_F(IrBuild, AModelIsSavedAsItIsInMemory) {
  ge::ModelBufferData model;
  ASSERT_EQ(ge::aclgrphBuildModel(parsed(onnx_model("Relu")), {{ge::ir_option::INPUT_SHAPE, "x:2,3"}}, model),
            ge::GRAPH_SUCCESS);
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("anynpu_ir_build_{}", getpid());
  ASSERT_EQ(ge::aclgrphSaveModel(path.c_str(), model), ge::GRAPH_SUCCESS);
  std::ifstream file(path + ".om", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(model.data.get()), model.length));
  std::filesystem::remove(path + ".om");
  EXPECT_NE(ge::aclgrphSaveModel("/nowhere/model", model), ge::GRAPH_SUCCESS);
  EXPECT_NE(error().find("/nowhere/model.om cannot be written"), std::string::npos);
}

TEST_F(IrBuild, WhatIsWrongIsTold) {
  ge::Graph graph("wrong");
  ge::ModelBufferData model;
  const std::string unknown = onnx_model("Quantum");
  EXPECT_EQ(ge::aclgrphParseONNXFromMem(nullptr, 0, {}, graph), ge::GRAPH_PARAM_INVALID);
  EXPECT_EQ(ge::aclgrphParseONNXFromMem(unknown.data(), unknown.size(), {}, graph), ge::GRAPH_FAILED);
  EXPECT_NE(error().find("Quantum (node only)"), std::string::npos);
  EXPECT_EQ(ge::aclgrphBuildModel(graph, {}, model), ge::GRAPH_FAILED);
  EXPECT_NE(error().find("parse one with aclgrphParseONNXFromMem first"), std::string::npos);
  EXPECT_EQ(ge::aclgrphBuildModel(parsed(onnx_model("Relu")), {{ge::ir_option::INPUT_SHAPE, "z:2,3"}}, model),
            ge::GRAPH_FAILED);
  EXPECT_NE(error().find("z"), std::string::npos);
  EXPECT_EQ(ge::aclgrphParseONNX("/nowhere.onnx", {}, graph), ge::GRAPH_FAILED);
  EXPECT_NE(error().find("/nowhere.onnx cannot be read"), std::string::npos);
  EXPECT_EQ(ge::aclgrphParseONNX("/proc", {}, graph), ge::GRAPH_FAILED);
  EXPECT_NE(error().find("/proc cannot be read: Is a directory"), std::string::npos);
  ge::Options global{{ge::ir_option::PRECISION_MODE, "sometimes"}};
  EXPECT_EQ(ge::aclgrphBuildInitialize(global), ge::GRAPH_FAILED);
  ge::aclgrphBuildFinalize();
  EXPECT_EQ(ge::aclgrphBuildModel(parsed(onnx_model("Relu")), {}, model), ge::GRAPH_FAILED);
  EXPECT_NE(error().find("aclgrphBuildInitialize"), std::string::npos);
}

TEST_F(IrBuild, TextsAreInOrderAndMayHoldNothing) {
  const AscendString none, null(nullptr), a("a"), b("b");
  EXPECT_TRUE(a < b && none < a && !(b < a) && !(a < none) && !(none < null));
  EXPECT_TRUE(a == AscendString("a") && none == null && !(a == none));
  EXPECT_EQ(none.GetString(), nullptr);
  EXPECT_STREQ(b.GetString(), "b");
}

}  // namespace
}  // namespace npu::acl
