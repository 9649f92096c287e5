// SPDX-License-Identifier: Apache-2.0
// The dump of overflows: of the first tasks of each device whose results left their range, all tensors, the record that
// the vendor's tools read, and the same in words. On a device that saturates these are the tasks whose results were
// saturated; else those that made an infinity or a NaN of finite numbers, so that what follows of it is not named.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "device/process/soc.h"
#include "graph/dump/tensor/dump_config.h"
#include "graph/dump/tensor/dump_folders.h"
#include "graph/dump/tensor/file_writer.h"
#include "ops/runner/observer.h"

namespace npu::graph {

/// Tasks of a device that are dumped; those behind them only follow of these.
inline constexpr int kMostDumpedOverflows = 8;

class OverflowDump {
 public:
  OverflowDump(Overflows which, DumpFolders& folders, FileWriter& writer)
      : which_(which), folders_(folders), writer_(writer) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution);
  /// Whether one more of `device` is to be dumped, which then counts.
  bool take(int device) { return count(device).fetch_add(1) < kMostDumpedOverflows; }
  DumpFolders& folders() { return folders_; }
  FileWriter& writer() { return writer_; }

 private:
  std::atomic<int>& count(int device) { return counts_[static_cast<size_t>(device)]; }
  bool wants(const ops::Execution& execution) const;

  const Overflows which_;
  DumpFolders& folders_;
  FileWriter& writer_;
  std::array<std::atomic<int>, device::kMaxDevices> counts_{};
};

}  // namespace npu::graph
