// SPDX-License-Identifier: Apache-2.0
// The node tests of the ONNX project (Debian's libonnx-testdata): each a model of one node, or of the nodes that its
// definition as a function consists of, with inputs and the outputs that NumPy gave. ANYNPU_ONNX_DATA names another
// folder of such tests, ANYNPU_ONNX_ONLY a part of the names of those to run.
#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/import/onnx/model.h"
#include "graph/import/onnx/reader.h"
#include "graph/import/onnx/tensor.h"
#include "graph/value/value.h"

namespace npu::graph::onnx {

inline std::string file_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct NodeCase {
  std::filesystem::path folder;
  std::string name, model;
  int64_t opset = 0;
  std::filesystem::path data(const char* what, size_t i) const {
    return folder / "test_data_set_0" / fmt::format("{}_{}.pb", what, i);
  }
};

/// Those of ONNX's own domain, from the oldest opset that is read on; empty where the data are not installed.
inline std::vector<NodeCase> node_cases() {
  namespace fs = std::filesystem;
  const char* elsewhere = std::getenv("ANYNPU_ONNX_DATA");
  const char* only = std::getenv("ANYNPU_ONNX_ONLY");
  const fs::path root = elsewhere != nullptr ? elsewhere : "/usr/share/libonnx-testdata/data/node";
  std::set<fs::path> folders;
  if (fs::exists(root))
    for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  std::vector<NodeCase> out;
  for (const fs::path& folder : folders) {
    NodeCase one{folder, folder.filename(), file_of(folder / "model.onnx")};
    if (only != nullptr && one.name.find(only) == std::string::npos) continue;
    const Opsets opsets = read_parts(one.model).opsets;
    if (opsets.size() != 1 || !opsets.contains("") || opsets.at("") < kOldestOpset) continue;
    one.opset = opsets.at("");
    out.push_back(std::move(one));
  }
  return out;
}

/// Why a case is not computed here as its data say; none for most.
inline std::optional<std::string> cause_of_difference(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("_STRING") || has("strnormalizer")) return "texts are no numbers";
  if (has("FLOAT_to_BFLOAT16")) return "these data cut bits off, where ONNX rounds to the nearest";
  if (has("bernoulli")) return "drawn from another stream";
  if (has("_optional") || has("if_opt") || has("seq_none")) return "optionals are not built";
  if (has("sequence_map") && !has("expanded")) return "SequenceMap is not built; its definition as a function is";
  if (name == "test_scan_sum") return "Scan of opset 8 has batches";
  return std::nullopt;
}

/// NumPy has no bfloat16: the data hold its bits.
inline Literal as_declared(Literal literal, DType dtype) {
  if (dtype == DType::kBFloat16 && literal.type.dtype == DType::kUInt16) literal.type.dtype = dtype;
  return literal;
}

inline std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> out;
  visit_dtype(tensor.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_convertible_v<T, double>)
      for (int64_t i = 0; i < tensor.count(); ++i) out.push_back(static_cast<double>(tensor.as<T>()[i]));
  });
  return out;
}

inline Tensor tensor_of(const Literal& literal) {
  return make_tensor(const_cast<std::byte*>(literal.bytes->data()), literal.type.dtype, literal.shape);
}

/// Empty where the tensor is what is wanted, within ONNX's own tolerances of these data; else what differs.
inline std::string difference(const Tensor& got, const Literal& wanted) {
  constexpr double kRelative = 1e-3, kAbsolute = 1e-7;
  if (got.dtype != wanted.type.dtype)
    return fmt::format("is {}, not {}", name_of(got.dtype), name_of(wanted.type.dtype));
  if (got.shape != wanted.shape) return fmt::format("has shape {}, not {}", got.shape, wanted.shape);
  if (!got.contiguous()) return "does not lie row by row";
  const std::vector<double> a = numbers(got), b = numbers(tensor_of(wanted));
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= kAbsolute + kRelative * std::abs(b[i])))
      return fmt::format("element {} is {}, not {}", i, a[i], b[i]);
  }
  return {};
}

}  // namespace npu::graph::onnx
