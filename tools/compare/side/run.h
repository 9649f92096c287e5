// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: the operators of a run, their tensors, and who made which.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dump/record/dump_file.h"
#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// Where a tensor's elements are: in a dump file with others, or in a file of its own.
struct Source {
  std::string path;
  bool input = false;
  size_t index = 0;
};

/// All that some dumps tell of a tensor.
struct Statistics {
  double most = 0, least = 0, mean = 0, norm = 0;
};

/// An input or an output.
struct Port {
  std::string label;  ///< "input 0", "parameters.weight"
  std::string maker;  ///< the operator that an input comes from; "" where nobody tells
  size_t output = 0;  ///< which of its outputs
  Shape shape;
  int32_t type = 0;
  std::optional<Source> source;
  std::optional<Statistics> statistics;
};

struct Operator {
  std::string name, type;
  std::vector<std::string> originals, original_types;  ///< of the client's model, the last one gives output 0
  std::vector<Port> inputs, outputs;
  std::map<std::string, std::string> attributes;
  bool ran = false;  ///< its tensors were dumped

  const std::string& last() const { return originals.empty() ? name : originals.back(); }
  /// With those that it holds.
  std::string types() const;
};

enum class Kind { kDevice, kArrays, kMsprobe };

struct Run {
  Kind kind = Kind::kDevice;
  std::vector<Operator> operators;  ///< what ran, in its order, and then what the graph knows beside it
  std::map<std::string, size_t, std::less<>> by_name;
  std::vector<std::string> notes;  ///< what could not be read

  void add(Operator op);
  const Operator* find(std::string_view name) const;
};

/// Elements of a source, and what keeps them in memory.
class Elements {
 public:
  /// Raises a Refusal for what cannot be read.
  explicit Elements(const Port& port);
  const Tensor& tensor() const { return tensor_; }

 private:
  std::optional<graph::record::DumpFile> dump_;
  std::optional<graph::record::MappedFile> file_;
  Tensor tensor_;
};

}  // namespace npu::compare
