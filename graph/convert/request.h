// SPDX-License-Identifier: Apache-2.0
// What is asked of a conversion, as the flags of atc say it. The vendor's graph interface has options of the same names
// and values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "graph/model/aipp.h"
#include "graph/model/model_file.h"

namespace npu::graph::convert {

/// Flags by name, without dashes.
using Flags = std::map<std::string, std::string>;

/// --input_shape and --input_shape_range of one input.
struct InputShape {
  std::string name;
  Dims dims;                                            ///< kUnknownDim for -1 and ranges
  std::vector<std::pair<int64_t, int64_t>> range = {};  ///< of each size, where one of them has a range
};

/// --output_type: of all outputs, or of one.
struct OutputType {
  std::string node = {};  ///< "" for all
  int64_t index = 0;
  DType dtype = DType::kUndefined;
};

struct Request {
  std::string name;  ///< of the model
  std::vector<InputShape> shapes;
  std::optional<int32_t> input_format;  ///< aclFormat; empty where the flag is not given
  model::GearKind gear_kind = model::GearKind::kNone;
  std::vector<std::vector<int64_t>> gears;
  std::vector<OutputType> output_types;
  std::vector<std::string> half_inputs, out_nodes;
  std::string signature;                                       ///< --signature_def, of a SavedModel
  std::vector<std::pair<std::string, std::string>> precision;  ///< options of Precision::set
  std::vector<std::string> passes_off;
  std::vector<model::Aipp> aipp;  ///< of --insert_op_conf
  std::map<std::string, std::string> facts;
  std::vector<std::string> notices;  ///< what has no effect, a line each
};

/// Reads the flags that say how a model is converted, files that they name included; others are passed over. One called
/// command_line tells how all of them were written. Raises 100000 with the vendor's code in front, see docs/models.md.
Request read_request(const Flags& flags);

/// "a:1,3,-1;b:2~4,8;c:" with ranges; an empty list is a scalar.
std::vector<InputShape> read_shapes(const std::string& text);
/// "1,2;3,4" as lists of numbers. Raises E10014 naming `flag`.
std::vector<std::vector<int64_t>> read_gears(const std::string& flag, const std::string& text);

}  // namespace npu::graph::convert
