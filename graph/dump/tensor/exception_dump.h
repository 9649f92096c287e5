// SPDX-License-Identifier: Apache-2.0
// The dump of failures: what a task that failed had read, and its parameters, as a dump file
//
//   {ASCEND_WORK_PATH, else the current
//   folder}/extra-info/data-dump/{device}/{type}.{name}.{task}.{stream}.{microseconds}
//
// whose attributes are the parameters, and the error's code and text. Before each task its inputs are copied, for it
// may have written over them when it fails.
#pragma once

#include <functional>
#include <string>

namespace npu::graph {

/// From now on failures are dumped, whatever other dump runs; a second call changes nothing. `tell` hears of each file,
/// and once of one that cannot be written.
void dump_failures(std::function<void(const std::string& text)> tell);
/// Ends it.
void stop_dump_of_failures();

}  // namespace npu::graph
