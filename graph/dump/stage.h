// SPDX-License-Identifier: Apache-2.0
// Files of graphs, one for each stage of compiling, for users who look inside. Two switches, both from the vendor's
// guide: NPU_DUMP_GRAPH writes <function>.<n>.<stage>.pbtxt (TensorFlow's GraphDef) and .dot; DUMP_GE_GRAPH writes
// ge_proto_<n>_<stage>.txt and ge_onnx_<n>_<stage>.pbtxt.
#pragma once

#include <string>
#include <string_view>

#include "graph/function.h"

namespace npu::graph {

/// Who asked for a function to be compiled.
enum class Role : uint8_t {
  kRoot,      ///< the client
  kBody,      ///< a node of another function: a loop's body, a branch
  kOperator,  ///< nobody: it is one operator of the client's, wrapped
};

/// Names of the first and last stage; those between have their pass's name.
inline constexpr std::string_view kFirstStage = "PreRunBegin", kLastStage = "Build";

/// False costs two loads: nothing else need be prepared.
bool dumps_wanted();
/// Writes what the settings ask for of this stage. A folder that cannot be written is reported once; nothing is thrown.
void dump_stage(std::string_view stage, const Function& function, const Program& program, Role role,
                int device) noexcept;

/// With DUMP_GE_GRAPH: writes fusion_result.json beside the graphs, anew each time; and to the file of export_fusions.
/// `json` is what Report::fusion_json tells of `device`; the file has all devices.
void dump_fusions(const std::string& json, int device) noexcept;
bool fusions_wanted();
/// From now on dump_fusions also writes to this file, whose folder must be there; "" ends it.
void export_fusions(std::string file);

/// For tests: the environment is read again, numbers start anew.
void reset_dumps();

}  // namespace npu::graph
