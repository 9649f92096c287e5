// SPDX-License-Identifier: Apache-2.0
// Files of graphs, one for each stage of compiling, for users who look inside. Two switches, both from the vendor's
// guide: NPU_DUMP_GRAPH writes <function>.<n>.<stage>.pbtxt (TensorFlow's GraphDef) and .dot; DUMP_GE_GRAPH writes
// ge_proto_<n>_<stage>.txt and ge_onnx_<n>_<stage>.pbtxt. While tensors are dumped the last stage is written anyway.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "graph/report/report.h"
#include "graph/run/listener.h"

namespace npu::graph {

/// Names of the first and last stage; those between have their pass's name.
inline constexpr std::string_view kFirstStage = "PreRunBegin", kLastStage = "Build";

/// Writes what the settings ask for. A folder that cannot be written is reported once; nothing is thrown.
class StageFiles final : public Listener {
 public:
  /// With DUMP_GE_GRAPH, and for export_fusions, what `report` tells of fusions is written beside the graphs, anew with
  /// each plan; the file has all devices.
  StageFiles(std::shared_ptr<const Report> report, int device) : report_(std::move(report)), device_(device) {}
  /// Asking costs two loads.
  bool wants_stages() const override;
  void staged(std::string_view stage, const Function& function, const Program& program, Role role) override;
  void planned(const PlanMade& made) override;

 private:
  const std::shared_ptr<const Report> report_;
  const int device_;
};

/// From now on what is told of fusions is also written to this file, whose folder must be there; "" ends it.
void export_fusions(std::string file);

/// For tests: the environment is read again, numbers start anew.
void reset_dumps();

}  // namespace npu::graph
