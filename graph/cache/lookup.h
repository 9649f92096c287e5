// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace npu::graph::cache {

/// What became of a function that was to be compiled.
enum class Outcome : uint8_t {
  kHit,   ///< it was kept, and taken from there
  kMiss,  ///< it was compiled, and is kept now where that was possible
  kLeft,  ///< it is not kept, see the reason
};

struct Lookup {
  Outcome outcome = Outcome::kLeft;
  std::string key;     ///< of a hit or a miss
  std::string reason;  ///< why it is not kept
};

/// "hit 1f…", "miss 1f…", "not kept: it has 3 nodes".
std::string to_string(const Lookup& lookup);

}  // namespace npu::graph::cache
