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
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/model/code.h"
#include "graph/model/model.h"

namespace npu::graph::model {

/// The newest form of the note; files of a later one are refused.
inline constexpr int kModelVersion = 1;

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

}  // namespace npu::graph::model
