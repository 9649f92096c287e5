// SPDX-License-Identifier: Apache-2.0
// Data dumps as clients ask for them: the "dump" object of a JSON file.
//
//   {"dump": {"dump_path": "/data", "dump_list": [{"model_name": "m", "layer": ["conv1"]}], "dump_mode": "all",
//             "dump_op_switch": "on", "dump_data": "tensor", "dump_step": "0|3-5"}}
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "graph/dump/tensor/dump_config.h"

namespace npu::acl {

/// What the object asks for; nothing where it asks for no dump of operators. Raises 100009 naming the key that is
/// wrong. `name` stands in error texts. dump_list asks for graphs, `{}` in it for all of them; dump_op_switch for calls
/// outside of graphs; dump_debug for the operators that overflow, wherever they run.
std::optional<graph::DumpConfig> parse_dump(const Json& dump, const std::string& name);

/// Whether inputs of tasks that fail are to be dumped; 100009 for a word that is not known.
bool parse_exception_dump(const Json& dump, const std::string& name);

}  // namespace npu::acl
