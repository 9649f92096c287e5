// SPDX-License-Identifier: Apache-2.0
// The node tests of the ONNX project on the way of a program: converted to a model file, loaded, run through data sets
// in the precision of the model.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>

#include "acl/model/model_fixture.h"
#include "graph/convert/importer.h"
#include "graph/import/onnx/node_data_fixture.h"

namespace npu::acl {
namespace {

using graph::Literal;
using graph::onnx::NodeCase;

/// One loaded model, its inputs in device memory, its outputs where the library puts them.
class Run {
 public:
  Run(const NodeCase& one, const std::string& om) : case_(one) {
    check(aclmdlLoadFromMem(om.data(), om.size(), &id_));
    check(aclmdlGetDesc(desc_, id_));
  }
  ~Run() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(outputs_); ++i)
      if (void* made = aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs_, i))) aclrtFree(made);
    if (id_ != 0) aclmdlUnload(id_);
    aclmdlDestroyDesc(desc_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Empty where all outputs are what is wanted.
  std::string difference() {
    for (size_t i = 0; i < aclmdlGetNumInputs(desc_); ++i) add_input(i);
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc_); ++i) outputs_.add(nullptr, 0);
    check(aclmdlExecute(id_, inputs_, outputs_));
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc_); ++i)
      if (const std::string wrong = difference(i); !wrong.empty()) return fmt::format("output {} {}", i, wrong);
    return {};
  }

 private:
  static void check(aclError code) {
    if (code != 0) fail(static_cast<Code>(code), "{}", aclGetRecentErrMsg());
  }

  void add_input(size_t i) {
    const auto dtype = static_cast<DType>(aclmdlGetInputDataType(desc_, i));
    const Literal literal = read("input", i, dtype);
    const size_t bytes = literal.bytes->size();
    memory_.push_back(std::make_unique<Memory>(std::max<size_t>(bytes, 1)));
    if (bytes > 0)
      check(aclrtMemcpy(memory_.back()->get(), bytes, literal.bytes->data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    inputs_.add(*memory_.back());
    const std::vector<int64_t> dims(literal.shape.begin(), literal.shape.end());
    aclTensorDesc* shape = aclCreateTensorDesc(static_cast<aclDataType>(literal.type.dtype),
                                               static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND);
    check(aclmdlSetDatasetTensorDesc(inputs_, shape, i));
    aclDestroyTensorDesc(shape);
  }

  Literal read(const char* what, size_t i, DType dtype) const {
    const std::string bytes = graph::onnx::file_of(case_.data(what, i));
    return graph::onnx::as_declared(graph::onnx::read_tensor(bytes, {}), dtype);
  }

  std::string difference(size_t i) {
    const aclTensorDesc* told = aclmdlGetDatasetTensorDesc(outputs_, i);
    const auto dtype = static_cast<DType>(aclGetTensorDescType(told));
    Dims shape;
    for (size_t axis = 0; axis < aclGetTensorDescNumDims(told); ++axis)
      shape.push_back(aclGetTensorDescDim(told, axis));
    std::vector<std::byte> bytes(static_cast<size_t>(count_of(shape)) * size_of(dtype));
    if (!bytes.empty())
      check(aclrtMemcpy(bytes.data(), bytes.size(), aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs_, i)),
                        bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    return graph::onnx::difference(make_tensor(bytes.data(), dtype, shape), read("output", i, dtype));
  }

  const NodeCase& case_;
  uint32_t id_ = 0;
  aclmdlDesc* desc_ = aclmdlCreateDesc();
  std::vector<std::unique_ptr<Memory>> memory_;
  Dataset inputs_, outputs_;
};

std::string try_case(const NodeCase& one) {
  try {
    const auto request = graph::convert::read_request({{"precision_mode", "must_keep_origin_dtype"}});
    graph::Imported imported = graph::convert::import_model(5, one.model, request, one.folder);
    const std::string om = graph::model::to_bytes(graph::convert::convert(std::move(imported), request));
    return Run(one, om).difference();
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// Models take and give tensors, and of the sizes that they declare.
bool is_no_model(const std::string& wrong) {
  return wrong.find("models take and give tensors") != std::string::npos ||
         wrong.find("input like is given as 1; the model takes 3x4") != std::string::npos;
}

TEST(ModelNodeData, GivesWhatNumPyGave) {
  const std::vector<NodeCase> cases = graph::onnx::node_cases();
  if (cases.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  ASSERT_OK(aclrtSetDevice(0));
  std::map<int64_t, std::pair<int, int>> by_opset;
  for (const NodeCase& one : cases) {
    const std::string wrong = try_case(one);
    auto& [passed, all] = by_opset[one.opset];
    ++all, passed += wrong.empty() ? 1 : 0;
    if (!graph::onnx::cause_of_difference(one.name) && !is_no_model(wrong)) {
      EXPECT_EQ(wrong, "") << one.name;
    }
  }
  int passed = 0, asked = 0;
  for (const auto& [opset, counts] : by_opset) {
    std::cout << "opset " << opset << ": " << counts.first << " of " << counts.second << "\n";
    if (opset >= 9 && opset <= 13) passed += counts.first, asked += counts.second;
  }
  std::cout << "opsets 9 to 13: " << passed << " of " << asked << "\n";
}

}  // namespace
}  // namespace npu::acl
