// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "graph/dump/stage.h"
#include "graph/report/report.h"
#include "graph/run/library.h"

namespace npu::graph {

/// A library with all that watches one: its report, which is printed at the end of the process where the settings ask
/// for it, and files of graphs.
class WatchedLibrary final : public Library {
 public:
  explicit WatchedLibrary(int device, HostNode host = {})
      : Library(device, std::move(host)), report_(std::make_shared<Report>(device)) {
    listen(report_);
    listen(std::make_shared<StageFiles>(report_, device));
    report_at_exit(report_);
  }
  Report& report() { return *report_; }

 private:
  const std::shared_ptr<Report> report_;  ///< outlives the library where it is printed at the end
};

}  // namespace npu::graph
