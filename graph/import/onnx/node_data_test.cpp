// SPDX-License-Identifier: Apache-2.0
// ONNX's node tests through importer and engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "base/error.h"
#include "graph/import/onnx/node_data_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "graph/value/optional.h"
#include "graph/value/tensor_list.h"

namespace npu::graph::onnx {
namespace {

/// The tensors of SequenceProto.
std::vector<Literal> read_sequence(const std::string& bytes) {
  constexpr uint32_t kTensorValues = 3;
  std::vector<Literal> out;
  each_field(Bytes(bytes), [&](Field f) {
    if (f.number() == kTensorValues) out.push_back(read_tensor(f.bytes(), {}));
  });
  return out;
}

/// A tensor, the tensors of a sequence, or one of them that may be missing.
struct Data {
  bool sequence = false, optional = false, there = true;
  std::vector<Literal> tensors;
};

Data read_optional(const std::string& bytes) {
  constexpr uint32_t kTensorValue = 3, kSequenceValue = 5;
  Data out;
  out.optional = true, out.there = false;
  each_field(Bytes(bytes), [&](Field f) {
    if (f.number() != kTensorValue && f.number() != kSequenceValue) return;
    out.there = true, out.sequence = f.number() == kSequenceValue;
    const Bytes value = f.bytes();
    if (out.sequence)
      out.tensors = read_sequence({value.data(), value.size()});
    else
      out.tensors = {read_tensor(value, {})};
  });
  return out;
}

Data read_data(const std::filesystem::path& path, const ValueView& value) {
  const std::string bytes = file_of(path);
  if (value.held) return read_optional(bytes);
  if (!value.type.is_tensor()) return {.sequence = true, .tensors = read_sequence(bytes)};
  return {.tensors = {as_declared(read_tensor(bytes, {}), value.type.dtype)}};
}

Value to_value(const Literal& literal) {
  if (!literal.bytes) fail(Code::kInternal, "it holds texts");
  return {tensor_of(literal), literal.bytes, nullptr};
}

Value value_of(const Data& data) {
  if (data.optional) {
    if (!data.there) return {{}, nullptr, std::make_shared<Optional>(std::nullopt)};
    Data held = data;
    held.optional = false;
    return {{}, nullptr, std::make_shared<Optional>(std::vector<Value>{value_of(held)})};
  }
  if (!data.sequence) return to_value(data.tensors.front());
  const DType dtype = data.tensors.empty() ? DType::kFloat : data.tensors.front().type.dtype;
  auto list = std::make_shared<TensorList>(ListType(ValueType::tensor(dtype), PartialShape::unknown()));
  list->type.mixed = true;
  for (const Literal& tensor : data.tensors) list->elements.push_back(to_value(tensor));
  return {{}, nullptr, std::move(list)};
}

std::string difference(const Value& got, const Data& wanted, const Tolerance& tolerance) {
  if (wanted.optional) {
    // Where the file says optional, a value that is there may come as itself.
    const auto* optional = dynamic_cast<const Optional*>(got.object.get());
    const bool there = optional == nullptr || optional->values() != nullptr;
    if (there != wanted.there) return there ? "holds a value" : "holds no value";
    Data held = wanted;
    held.optional = false;
    return !there ? std::string()
                  : difference(optional == nullptr ? got : optional->values()->front(), held, tolerance);
  }
  if (!wanted.sequence) return onnx::difference(got.tensor, wanted.tensors.front(), tolerance);
  const auto* list = dynamic_cast<const TensorList*>(got.object.get());
  if (list == nullptr) return "is no sequence";
  if (list->elements.size() != wanted.tensors.size())
    return fmt::format("has {} elements, not {}", list->elements.size(), wanted.tensors.size());
  for (size_t i = 0; i < wanted.tensors.size(); ++i)
    if (const std::string wrong = onnx::difference(list->elements[i].tensor, wanted.tensors[i], tolerance);
        !wrong.empty())
      return fmt::format("element {} {}", i, wrong);
  return {};
}

std::string run_case(const NodeCase& one, const std::string& precision_mode, const Tolerance& tolerance) {
  const Imported model = read_model(one.model);
  const Function& function = model.program.get(model.function);
  const GraphView graph = read_graph(read_parts(one.model).graph);
  const auto named = [](const std::vector<ValueView>& values, const std::string& name) {
    return *std::ranges::find(values, name, &ValueView::name);
  };
  std::vector<Value> arguments;
  for (size_t i = 0; i < function.arguments.size(); ++i)
    arguments.push_back(value_of(read_data(one.data("input", i), named(graph.inputs, function.arguments[i].name))));
  std::vector<Data> wanted;
  for (size_t i = 0; i < function.results.size(); ++i)
    wanted.push_back(read_data(one.data("output", i), named(graph.outputs, function.results[i].name)));
  Library library(0);
  library.set_precision("precision_mode", precision_mode);
  library.add(model.program);
  const std::vector<Value> results = library.get(model.function)->run(std::move(arguments));
  for (size_t i = 0; i < results.size(); ++i)
    if (const std::string wrong = difference(results[i], wanted[i], tolerance); !wrong.empty())
      return fmt::format("output {} {}", i, wrong);
  return {};
}

std::string try_case(const NodeCase& one, const std::string& precision_mode = "must_keep_origin_dtype",
                     const Tolerance& tolerance = {}) {
  try {
    return run_case(one, precision_mode, tolerance);
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(OnnxNodeData, GivesWhatNumPyGave) {
  const std::vector<NodeCase> cases = node_cases();
  if (cases.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::map<int64_t, std::pair<int, int>> by_opset;
  for (const NodeCase& one : cases) {
    const std::string wrong = try_case(one);
    auto& [passed, all] = by_opset[one.opset];
    ++all, passed += wrong.empty();
    const bool by_chance = one.name.find("bernoulli") != std::string::npos;
    const auto cause = cause_of_difference(one.name);
    if (!cause) {
      EXPECT_EQ(wrong, "") << one.name;
    } else if (!by_chance && *cause != kWrapsAround) {
      EXPECT_NE(wrong, "") << one.name << " is computed by now; take it off the list";
    }
  }
  for (const auto& [opset, counts] : by_opset)
    std::cout << "opset " << opset << ": " << counts.first << " of " << counts.second << "\n";
}

/// Why a case is not near what its data say where all is float16; none for most.
std::optional<std::string> cause_in_float16(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("cast")) return "other types";
  if (has("softmax_large_number")) return "numbers near 10000 are 8 apart";
  if (name == "test_reduce_prod_default_axes_keepdims_example") return "12! is beyond float16";
  if (name == "test_tan") return "steep: the rounding of its input is many times larger behind it";
  return std::nullopt;
}

TEST(OnnxNodeData, StaysNearInFloat16) {
  const std::vector<NodeCase> cases = node_cases();
  if (cases.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  const Tolerance near{.relative = 5e-3, .absolute = 1e-3, .of_largest = 5e-3};
  int passed = 0;
  for (const NodeCase& one : cases) {
    const std::string wrong = try_case(one, "force_fp16", near);
    passed += wrong.empty() ? 1 : 0;
    if (!cause_of_difference(one.name) && !cause_in_float16(one.name)) {
      EXPECT_EQ(wrong, "") << one.name;
    }
  }
  std::cout << "in float16: " << passed << " of " << cases.size() << "\n";
}

}  // namespace
}  // namespace npu::graph::onnx
