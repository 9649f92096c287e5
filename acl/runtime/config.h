// SPDX-License-Identifier: Apache-2.0
// The JSON file that aclInit reads.
#pragma once

#include <optional>
#include <string>

#include "graph/dump/tensor/dump_config.h"

namespace npu::acl {

struct Config {
  int default_device = -1;  ///< defaultDevice.default_device; -1 when not given
  std::optional<graph::DumpConfig> dump = {};
  bool dump_failures = false;  ///< the inputs of tasks that fail
};

/// Raises 100003 when the file cannot be read, 100006 when it is not a JSON object nested at most 10 deep, 100000 for a
/// default device that is no number, and what parse_dump raises. What else it asks for and does not get, it is told
/// once.
Config read_config(const char* path);

/// The same from text; `name` stands in error texts.
Config parse_config(const std::string& text, const std::string& name);

}  // namespace npu::acl
