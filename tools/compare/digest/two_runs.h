// SPDX-License-Identifier: Apache-2.0
// Two runs by the digests of their operators: which operator is the first that read the same and wrote something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/dump/record/digest_file.h"

namespace npu::compare {

enum class Difference : uint8_t {
  kOutputs,     ///< it read the same and wrote something else
  kInputs,      ///< it was given something else, which no operator before it had made
  kParameters,  ///< it was called with other numbers
  kWay,         ///< the runs went different ways: another operator stands there, or none
};

struct Found {
  Difference what;
  graph::record::Place place;
  std::string text;      ///< one sentence
  bool brought = false;  ///< by a collective: another rank made it otherwise
};

struct TwoRuns {
  uint64_t operators = 0;          ///< that both have
  uint64_t different = 0;          ///< of them, those that read or wrote something else
  std::optional<Found> first;      ///< in the order of the first run
  std::optional<Found> operator_;  ///< the first with kOutputs

  bool equal() const { return !first; }
  /// All of it.
  std::string text() const;
};

TwoRuns compared(const graph::record::DigestFile& one, const graph::record::DigestFile& other);

}  // namespace npu::compare
