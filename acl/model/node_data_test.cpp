// SPDX-License-Identifier: Apache-2.0
// The node tests of the ONNX project (Debian's libonnx-testdata) on the way of a program: converted to a model file,
// loaded, run through data sets in the precision of the model. ANYNPU_ONNX_ONLY runs those whose name contains it;
// ANYNPU_ONNX_DATA looks for them elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "acl/model/model_fixture.h"
#include "graph/convert/importer.h"
#include "graph/import/onnx/model.h"
#include "graph/import/onnx/tensor.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
using graph::Literal;

fs::path data_folder() {
  const char* elsewhere = std::getenv("ANYNPU_ONNX_DATA");
  return elsewhere != nullptr ? elsewhere : "/usr/share/libonnx-testdata/data/node";
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> numbers(DType dtype, const Dims& shape, const std::byte* bytes) {
  std::vector<double> out;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>)
      for (int64_t i = 0; i < count_of(shape); ++i)
        out.push_back(static_cast<double>(reinterpret_cast<const T*>(bytes)[i]));
  });
  return out;
}

/// NumPy has no bfloat16: the data hold its bits.
Literal read(const fs::path& path, DType dtype) {
  const std::string bytes = content(path);
  Literal out = graph::onnx::read_tensor(bytes, {});
  if (dtype == DType::kBFloat16 && out.type.dtype == DType::kUInt16) out.type.dtype = dtype;
  return out;
}

/// One loaded model, its inputs in device memory, its outputs where the library puts them.
class Run {
 public:
  Run(const fs::path& folder, const std::string& om) : set_(folder / "test_data_set_0") {
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
    const Literal literal = read(set_ / fmt::format("input_{}.pb", i), dtype);
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

  std::string difference(size_t i) {
    const aclTensorDesc* got = aclmdlGetDatasetTensorDesc(outputs_, i);
    const Literal wanted = read(set_ / fmt::format("output_{}.pb", i), static_cast<DType>(aclGetTensorDescType(got)));
    if (wanted.type.dtype != static_cast<DType>(aclGetTensorDescType(got))) return "is of another type";
    Dims shape;
    for (size_t axis = 0; axis < aclGetTensorDescNumDims(got); ++axis) shape.push_back(aclGetTensorDescDim(got, axis));
    if (shape != wanted.shape) return fmt::format("has shape {}, not {}", shape, wanted.shape);
    std::vector<std::byte> bytes(wanted.bytes->size());
    if (!bytes.empty())
      check(aclrtMemcpy(bytes.data(), bytes.size(), aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs_, i)),
                        bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    const auto a = numbers(wanted.type.dtype, shape, bytes.data());
    const auto b = numbers(wanted.type.dtype, shape, wanted.bytes->data());
    for (size_t n = 0; n < a.size(); ++n)
      if (a[n] != b[n] && !(std::isnan(a[n]) && std::isnan(b[n])) &&
          !(std::abs(a[n] - b[n]) <= 1e-7 + 1e-3 * std::abs(b[n])))
        return fmt::format("element {} is {}, not {}", n, a[n], b[n]);
    return {};
  }

  const fs::path set_;
  uint32_t id_ = 0;
  aclmdlDesc* desc_ = aclmdlCreateDesc();
  std::vector<std::unique_ptr<Memory>> memory_;
  Dataset inputs_, outputs_;
};

std::string try_case(const fs::path& folder) {
  try {
    const std::string bytes = content(folder / "model.onnx");
    const auto request = graph::convert::read_request({{"precision_mode", "must_keep_origin_dtype"}});
    graph::Imported imported = graph::convert::import_model(5, bytes, request, folder);
    const std::string om = graph::model::to_bytes(graph::convert::convert(std::move(imported), request));
    return Run(folder, om).difference();
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(ModelNodeData, GivesWhatNumPyGave) {
  if (!fs::exists(data_folder())) GTEST_SKIP() << "libonnx-testdata is not installed";
  ASSERT_OK(aclrtSetDevice(0));
  const char* only = std::getenv("ANYNPU_ONNX_ONLY");
  std::map<int64_t, std::pair<int, int>> by_opset;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data_folder())) folders.insert(entry.path());
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename();
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    const std::string model = content(folder / "model.onnx");
    const graph::onnx::Opsets opsets = graph::onnx::read_parts(model).opsets;
    if (opsets.size() != 1 || !opsets.contains("")) continue;
    const std::string wrong = try_case(folder);
    auto& [passed, all] = by_opset[opsets.at("")];
    ++all, passed += wrong.empty() ? 1 : 0;
    if (!wrong.empty()) std::cout << "opset " << opsets.at("") << " " << name << ": " << wrong << "\n";
  }
  int passed = 0, asked = 0;
  for (const auto& [opset, counts] : by_opset) {
    std::cout << "opset " << opset << ": " << counts.first << " of " << counts.second << "\n";
    if (opset >= 9 && opset <= 13) passed += counts.first, asked += counts.second;
  }
  std::cout << "opsets 9 to 13: " << passed << " of " << asked << "\n";
  if (only == nullptr && asked == 638) {
    EXPECT_GE(passed, 573) << "of Debian's data; what is left is named above";
  }
}

}  // namespace
}  // namespace npu::acl
