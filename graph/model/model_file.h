// SPDX-License-Identifier: Apache-2.0
// The model file (.om): a container of a model's functions before and after the passes, its weights, which are used
// where a mapping of the file lies, and a note in JSON: inputs and outputs, gears, how it was converted.
//
//   kNote       the JSON
//   kTexts, kFunctions  see function_file.h; the functions before the passes come first
//   kData       weights, apart from the container's checksum: their digest is in the note, see check_weights
//
// It names the SoC it was converted for and binds to none: a model runs on whatever profile is in force when it is
// loaded. What passes made is used by the build of the library that made it; another one runs its own passes on the
// functions as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/function.h"
#include "graph/model/code.h"
#include "graph/model/digest.h"

namespace npu::graph::model {

/// The newest form of the note; files of a later one are refused.
inline constexpr int kModelVersion = 1;

/// An input or output as clients see it.
struct Port {
  std::string name;
  DType dtype = DType::kUndefined;
  int32_t format = 2;  ///< aclFormat
  Dims shape;          ///< kUnknownDim where gears, or the caller, decide
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

/// The bytes of the file.
std::string to_bytes(const Model& model);

/// The model in these bytes, which `keeper` keeps and which lie at a multiple of 64. Raises 100012 with what to do for
/// a vendor's model, what is no model at all, what is damaged or of a later version; 145006 for no bytes.
/// `weights`: a copy of weights_of(bytes) that `keeper` keeps, too, to be used in their place.
Model read_model(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper,
                 std::span<const std::byte> weights = {});

/// The weights in the bytes of a model. Raises as read_model.
std::span<const std::byte> weights_of(std::span<const std::byte> bytes);

/// Raises 100012 when the weights are not those that were written: reading a model does not look at them.
void check_weights(std::span<const std::byte> bytes);

/// The sections of a model file and their bytes, for people.
std::vector<std::pair<std::string, size_t>> section_sizes(std::span<const std::byte> bytes);

/// Bytes of a dense tensor of this shape. 0 where a size is not known; raises 100012 for more than 2^62.
int64_t bytes_of(DType dtype, const Dims& shape);

}  // namespace npu::graph::model
