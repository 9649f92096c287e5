// SPDX-License-Identifier: Apache-2.0
// The node tests of the ONNX project (Debian's libonnx-testdata): each a model of one node, or of the nodes that its
// definition as a function consists of, with inputs and the outputs that NumPy gave. ANYNPU_ONNX_DATA names another
// folder of such tests, ANYNPU_ONNX_ONLY a part of the names of those to run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

/// Data of older releases of ONNX wrap around, where ONNX saturates; newer ones are right.
inline constexpr const char* kWrapsAround = "these data wrap around, where ONNX saturates";

/// Why a case is not computed here as its data say; none for most.
inline std::optional<std::string> cause_of_difference(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kCauses[] = {
      {"_STRING", "texts are no numbers"},
      {"_string", "texts are no numbers"},
      {"strnormalizer", "texts are no numbers"},
      {"regex_", "texts are no numbers"},
      {"FLOAT8", "8-bit floats are not computed"},
      {"_e4m3fn", "8-bit floats are not computed"},
      {"_e5m2", "8-bit floats are not computed"},
      {"FLOAT4E2M1", "4-bit floats are not computed"},
      {"INT2", "2-bit integers are not computed"},
      {"INT4", "4-bit integers are not computed"},
      {"linear_int4", "4-bit integers are not computed"},
      {"linear_uint4", "4-bit integers are not computed"},
      {"image_decoder", "pictures come decoded"},
      {"bernoulli", "drawn from another stream"},
      {"qlinearmatmul_2D_int8", kWrapsAround},
      {"qlinearmatmul_3D_int8", kWrapsAround},
  };
  for (const auto& [part, cause] : kCauses)
    if (name.find(part) != std::string::npos) return cause;
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

/// How far numbers may be from those that are wanted: of themselves, and of the largest.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7, of_largest = 0;  // ONNX's own of these data
};

inline double largest_of(const std::vector<double>& numbers) {
  double out = 0;
  for (const double one : numbers)
    if (std::isfinite(one)) out = std::max(out, std::abs(one));
  return out;
}

/// Empty where the tensor is what is wanted; else what differs.
inline std::string difference(const Tensor& got, const Literal& wanted, const Tolerance& tolerance = {}) {
  if (got.dtype != wanted.type.dtype)
    return fmt::format("is {}, not {}", name_of(got.dtype), name_of(wanted.type.dtype));
  if (got.shape != wanted.shape) return fmt::format("has shape {}, not {}", got.shape, wanted.shape);
  if (!got.contiguous()) return "does not lie row by row";
  const std::vector<double> a = numbers(got), b = numbers(tensor_of(wanted));
  // The data of bfloat16 cut bits off, where ONNX rounds to the nearest; functions written as their parts round each of
  // them, in another order of sums: two units of the last place.
  const double relative = got.dtype == DType::kBFloat16 ? 1.0 / 64
                          : got.dtype == DType::kHalf   ? std::max(tolerance.relative, 1.0 / 512)
                                                        : tolerance.relative;
  const double always = tolerance.absolute + tolerance.of_largest * largest_of(b);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= always + relative * std::abs(b[i])))
      return fmt::format("element {} is {}, not {}", i, a[i], b[i]);
  }
  return {};
}

}  // namespace npu::graph::onnx
