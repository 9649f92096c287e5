// SPDX-License-Identifier: Apache-2.0
// The data dump: tensors of executed operators, or what is to be said of them, as files that the vendor's tools read.
//
//   {path}/{time}/{device}/{graph}/{graph's number}/{index}/{type}.{name}.{task}.{stream}.{microseconds}
//
// A task outside of graphs lies right in the device's folder. The index is the step where steps were asked for, else
// it counts the steps that were dumped, from 0. A dump ends with the first file that cannot be written; what the device
// computes goes on.
#pragma once

#include <functional>
#include <string>

#include "graph/dump/tensor/dump_config.h"

namespace npu::graph {

/// Begins a dump of the process. Raises 100009 when `config.path` is no folder that can be written, 100044 while
/// another dump runs. `tell` hears once of what the user should know: that a file could not be written.
void start_dump(DumpConfig config, std::function<void(const std::string& text)> tell);
/// Ends it and waits until everything is written. False when none runs.
bool stop_dump();
/// Waits until what has been dumped so far is written, or handed to who receives files.
void flush_dump();
bool dumping();  ///< one load
/// The folder of the running dump, {path}/{time}; "" when none runs.
std::string dump_folder();

}  // namespace npu::graph
