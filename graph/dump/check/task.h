// SPDX-License-Identifier: Apache-2.0
// An executed task with all that it takes to compute it once more, elsewhere: its operators, their fields by name, what
// they had read and what they wrote. As JSON:
//
//   {"type": …, "node": …, "graph": …, "step": …, "device": …, "origins": […],
//    "calls": [{"op": "add", "results": ["out"], "fields": {"self": {"tensor": 0}, "alpha": {"number": 1}, …}}],
//    "tensors": [{"dtype": "float32", "shape": [2, 3], "strides": [3, 1], "before": 0, "after": null}, …]}
//
// `before` and `after` number the blobs, whose elements lie row-major. Of a fused node's parts the tensors are views of
// "places" that the calls share, and "given" and "results" say what is in them before and after.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/dump/tensor/file_writer.h"

namespace npu::graph {

struct Task {
  std::string text;
  std::vector<Blob> blobs;
};

/// From now on `visit` is called for each task once it has run, on the thread that ran it: for an operator inside of a
/// graph's node (its text says "within": true), then for the node. Of each kind of operator every `every`-th is shown
/// whole; the others have "skipped": true and nothing more. Another watch takes its place, an empty one ends it.
void watch_tasks(std::function<void(const Task&)> visit, int64_t every);

/// Writes `task` into `folder`, which it makes: task.json, and its tensors as a dump file. `told` goes into the JSON as
/// "told". Raises 100003 for a folder that cannot be written.
void save_task(const Task& task, const std::string& folder, const std::string& told);
/// What save_task wrote. Raises 100003 and 100006.
Task load_task(const std::string& folder);
/// The task with what its operators write when they run on `device` again, alone.
Task run_again(const Task& task, int device);

}  // namespace npu::graph
