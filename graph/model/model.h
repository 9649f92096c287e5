// SPDX-License-Identifier: Apache-2.0
// A converted model: its functions and what clients ask of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/function.h"

namespace npu::graph::model {

/// An input or output as clients see it.
struct Port {
  std::string name;
  DType dtype = DType::kUndefined;
  int32_t format = 2;                                   ///< aclFormat
  Dims shape;                                           ///< kUnknownDim where gears, or the caller, decide
  std::vector<std::pair<int64_t, int64_t>> range = {};  ///< of each size, least and most (-1: any); empty: none given
  std::string aipp = {};  ///< JSON of the preprocessing that is part of the model; "" for none
};

enum class GearKind : uint8_t {
  kNone,
  kBatch,  ///< the first size of inputs: one number
  kImage,  ///< height and width
  kDims,   ///< every size that is -1, in order of the inputs
};

/// One of the sizes that a model was converted for.
struct Gear {
  std::vector<int64_t> values;  ///< as the user named it
  std::vector<Dims> inputs;     ///< shape of each input
  std::vector<Dims> outputs;    ///< and output; kUnknownDim where only a run tells
};

/// The input that clients find by this name and choose the gear through.
inline constexpr std::string_view kGearInput = "ascend_mbatch_shape_data";

struct Model {
  std::string name;
  std::string function;        ///< the model among the functions
  Program original, compiled;  ///< before and after the passes
  std::vector<Port> inputs, outputs;
  GearKind gear_kind = GearKind::kNone;
  std::vector<Gear> gears;
  int64_t work_bytes = 0;  ///< of one run, in the largest gear; 0 where sizes come with the call
  std::vector<std::pair<std::string, std::string>> precision;  ///< options of Precision::set, in order
  std::vector<std::string> passes_off;
  std::map<std::string, std::string> facts;  ///< command, version, compiler, soc, framework, producer

  int64_t weight_bytes = 0;  ///< set by read_model
};

/// Bytes of a dense tensor of this shape. 0 where a size is not known; raises 100012 for more than 2^62.
int64_t bytes_of(DType dtype, const Dims& shape);

}  // namespace npu::graph::model
