// SPDX-License-Identifier: Apache-2.0
// The node tests of the ONNX project (Debian's libonnx-testdata): each a model of one node, or of the nodes its
// definition as a function consists of, with inputs and the outputs that NumPy gave. ANYNPU_ONNX_ONLY runs those whose
// name contains it, ANYNPU_ONNX_DATA looks for them elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "base/error.h"
#include "base/half.h"
#include "graph/import/onnx/model.h"
#include "graph/import/onnx/reader.h"
#include "graph/import/onnx/tensor.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "graph/value/tensor_list.h"

namespace npu::graph::onnx {
namespace {

namespace fs = std::filesystem;

fs::path data_folder() {
  const char* elsewhere = std::getenv("ANYNPU_ONNX_DATA");
  return elsewhere != nullptr ? elsewhere : "/usr/share/libonnx-testdata/data/node";
}

std::string file_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// NumPy has no bfloat16: the data hold its bits.
Literal as_declared(Literal literal, DType dtype) {
  if (dtype == DType::kBFloat16 && literal.type.dtype == DType::kUInt16) literal.type.dtype = dtype;
  return literal;
}

Value to_value(const Literal& literal) {
  Value value;
  value.tensor = make_tensor(const_cast<std::byte*>(literal.bytes->data()), literal.type.dtype, literal.shape);
  value.owner = literal.bytes;
  return value;
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> out;
  visit_dtype(tensor.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>)
      for (int64_t i = 0; i < tensor.count(); ++i) out.push_back(static_cast<double>(tensor.as<T>()[i]));
  });
  return out;
}

/// Empty where the value is what is wanted, else what differs.
std::string difference(const Value& got, const Literal& wanted) {
  if (got.tensor.dtype != wanted.type.dtype)
    return fmt::format("is {}, not {}", name_of(got.tensor.dtype), name_of(wanted.type.dtype));
  if (got.tensor.shape != wanted.shape) return fmt::format("has shape {}, not {}", got.tensor.shape, wanted.shape);
  if (!got.tensor.contiguous()) return "does not lie row by row";
  const std::vector<double> a = numbers(got.tensor), b = numbers(to_value(wanted).tensor);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= 1e-7 + 1e-3 * std::abs(b[i])))
      return fmt::format("element {} is {}, not {}", i, a[i], b[i]);
  }
  return {};
}

/// The tensors of SequenceProto.
std::vector<Literal> read_sequence(const std::string& bytes) {
  constexpr uint32_t kTensorValues = 3;
  std::vector<Literal> out;
  each_field(Bytes(bytes), [&](Field f) {
    if (f.number() == kTensorValues) out.push_back(read_tensor(f.bytes(), {}));
  });
  return out;
}

/// A tensor, or the tensors of a sequence.
struct Data {
  bool sequence = false;
  std::vector<Literal> tensors;
};

Data read_data(const fs::path& path, const Output& value) {
  const std::string bytes = file_of(path);
  if (!value.type.is_tensor()) return {true, read_sequence(bytes)};
  return {false, {as_declared(read_tensor(bytes, {}), value.type.dtype)}};
}

Value value_of(const Data& data) {
  if (!data.sequence) return to_value(data.tensors.front());
  const DType dtype = data.tensors.empty() ? DType::kFloat : data.tensors.front().type.dtype;
  auto list = std::make_shared<TensorList>(ListType(ValueType::tensor(dtype), PartialShape::unknown()));
  list->type.mixed = true;
  for (const Literal& tensor : data.tensors) list->elements.push_back(to_value(tensor));
  return {{}, nullptr, std::move(list)};
}

std::string difference(const Value& got, const Data& wanted) {
  if (!wanted.sequence) return difference(got, wanted.tensors.front());
  const auto* list = dynamic_cast<const TensorList*>(got.object.get());
  if (list == nullptr) return "is no sequence";
  if (list->elements.size() != wanted.tensors.size())
    return fmt::format("has {} elements, not {}", list->elements.size(), wanted.tensors.size());
  for (size_t i = 0; i < wanted.tensors.size(); ++i)
    if (const std::string wrong = difference(list->elements[i], wanted.tensors[i]); !wrong.empty())
      return fmt::format("element {} {}", i, wrong);
  return {};
}

std::string run_case(const fs::path& folder) {
  const std::string bytes = file_of(folder / "model.onnx");
  const Imported model = read_model(bytes);
  const Function& function = model.program.get(model.function);
  const fs::path set = folder / "test_data_set_0";
  std::vector<Value> arguments;
  for (size_t i = 0; i < function.arguments.size(); ++i)
    arguments.push_back(value_of(read_data(set / fmt::format("input_{}.pb", i), function.arguments[i].value)));
  std::vector<Data> wanted;
  for (size_t i = 0; i < function.results.size(); ++i)
    wanted.push_back(read_data(set / fmt::format("output_{}.pb", i), function.output(function.results[i].value)));
  Library library(0);
  library.add(model.program);
  const std::vector<Value> results = library.get(model.function)->run(std::move(arguments));
  for (size_t i = 0; i < results.size(); ++i)
    if (const std::string wrong = difference(results[i], wanted[i]); !wrong.empty())
      return fmt::format("output {} {}", i, wrong);
  return {};
}

std::string try_case(const fs::path& folder) {
  try {
    return run_case(folder);
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(OnnxNodeData, GivesWhatNumPyGave) {
  if (!fs::exists(data_folder())) GTEST_SKIP() << "libonnx-testdata is not installed";
  const char* only = std::getenv("ANYNPU_ONNX_ONLY");
  std::map<int64_t, std::pair<int, int>> by_opset;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data_folder())) folders.insert(entry.path());
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename();
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    const std::string model = file_of(folder / "model.onnx");
    const Opsets opsets = read_parts(model).opsets;
    if (opsets.size() != 1 || !opsets.contains("")) continue;
    const std::string wrong = try_case(folder);
    auto& [passed, all] = by_opset[opsets.at("")];
    ++all, passed += wrong.empty();
    if (!wrong.empty()) std::cout << "opset " << opsets.at("") << " " << name << ": " << wrong << "\n";
  }
  for (const auto& [opset, counts] : by_opset)
    std::cout << "opset " << opset << ": " << counts.first << " of " << counts.second << "\n";
}

}  // namespace
}  // namespace npu::graph::onnx
