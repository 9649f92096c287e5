// SPDX-License-Identifier: Apache-2.0
// Where below a folder the tensors of one step lie, whatever level of a dump was named.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/compare/side/run.h"

namespace npu::compare {

/// A folder with the tensors of a step.
struct Place {
  Kind kind = Kind::kDevice;
  std::string folder;
  std::string time, device;  ///< as the path says; "" where it does not
  std::string model;         ///< with its number: "step_12/1"; "" for calls outside of graphs
  std::optional<uint64_t> step;
  std::set<std::string> names;  ///< of operators, as files spell them
};

/// All places below `path`. Raises a Refusal where there is none.
std::vector<Place> places_below(const std::string& path);

/// The places that are compared: of one time, device and model on each side, step by step.
struct Choice {
  std::vector<std::pair<Place, Place>> steps;
  std::vector<std::string> notes;  ///< what was passed over
};
/// Raises a Refusal where nothing is common, or several models are equally much.
Choice choose(const std::vector<Place>& mine, const std::vector<Place>& golden);

}  // namespace npu::compare
