// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/log/function_log.h"

#include <atomic>
#include <cstring>

#include "adapters/tensorflow/c_api/functions.h"

namespace npu::tensorflow {
namespace {

/// The log repeats it; every loop runs to its own end.
std::atomic<int> loop_size{1};
std::atomic<bool> loop_size_told{false};

constexpr int64_t kToldPlans = 8;  // of one function; more are told with NPU_DEBUG only

bool timed() {
  static const bool on = is_on("NPU_ENABLE_PERF");
  return on;
}

}  // namespace

int told_loop_size() { return loop_size_told ? loop_size.load() : 0; }

bool FunctionLog::tells() {
  static const bool on = timed() || log_shown(Level::kDebug);
  return on;
}

void FunctionLog::added(const anynpu_compiled& one) {
  if (tells()) {
    const std::lock_guard lock(mutex_);
    functions_[one.function].graph = one.graph;
  }
  NPU_TF_LOG(kInfo, "Add ge graph ", one.graph, " with options:");
  NPU_TF_LOG(kInfo, "  function:", one.function);
  NPU_TF_LOG(kInfo, "  nodes:", one.nodes);
  NPU_TF_LOG(kInfo, "  compile_ms:", one.milliseconds);
  if (one.cache[0] != '\0') NPU_TF_LOG(kInfo, "Compile cache of ", one.function, ": ", one.cache);
  if (std::strchr(one.function, '@') != nullptr)  // a slice of a session
    NPU_TF_LOG(kInfo, "The model has been compiled on the Ascend AI processor, current graph id is: ", one.graph);
  NPU_TF_LOG(kInfo, one.function, one.host_nodes == 0 ? " fully compiled on npu" : " compiled in mix mode on npu");
  if (one.loops > 0) {
    NPU_TF_LOG(kInfo, "Graph ", one.function, " can loop: true");
    NPU_TF_LOG(kInfo, "Concrete graph for ", one.function, " loop type ",
               one.host_nodes == 0 ? "npu-loop" : "host-loop");
  }
  // The first run is told at once; the others would be a line a step.
  NPU_TF_LOG(kInfo, "Start run ge graph ", one.graph, " pin to cpu, loop size ", loop_size.load());
}

void FunctionLog::compiled(const anynpu_compiled* one, void* self) noexcept {
  try {
    if (one->cause[0] == '\0')
      static_cast<FunctionLog*>(self)->added(*one);
    else if (one->plan <= kToldPlans)
      NPU_TF_LOG(kInfo, "Compile ge graph ", one->graph, " of ", one->function, " again as ", one->cause);
    else
      NPU_TF_LOG(kDebug, "Compile ge graph ", one->graph, " of ", one->function, " again as ", one->cause);
  } catch (const std::exception&) {
    // No memory for a line: the step goes on.
  }
}

void FunctionLog::forget(const std::string& function) {
  const std::lock_guard lock(mutex_);
  functions_.erase(function);
}

void FunctionLog::started(const std::string& function) {
  int64_t graph = 0;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = functions_[function];
    if (entry.runs++ == 0) return;  // the line that follows compiling
    graph = entry.graph;
  }
  NPU_TF_LOG(kDebug, "Start run ge graph ", graph, " pin to cpu, loop size ", loop_size.load());
}

void FunctionLog::ended(const std::string& function, std::chrono::duration<double, std::milli> taken) {
  if (!timed()) return;
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    entry = functions_[function];
  }
  NPU_TF_LOG(kInfo, "Graph engine run ", entry.runs, " times for graph ", entry.graph, " cost ", taken.count(), " ms");
}

}  // namespace npu::tensorflow

void anynpu_tensorflow_loop_size(int size, int given) {
  npu::tensorflow::loop_size = size;
  npu::tensorflow::loop_size_told = given != 0;
  NPU_TF_LOG(kInfo, "Set npu loop size to ", size);
}
