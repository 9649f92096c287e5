// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/log.h"

namespace npu {
namespace {

void BM_FilteredLine(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    NPU_LOG(kDebug, "OP", "never formatted {}", state.iterations());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_FilteredLine);

class InAFolder {
 public:
  explicit InAFolder(const char* modules) {
    setenv("ASCEND_PROCESS_LOG_PATH", folder_.c_str(), 1);
    setenv("ASCEND_MODULE_LOG_LEVEL", modules, 1);
    log_reset();
  }
  ~InAFolder() {
    unsetenv("ASCEND_PROCESS_LOG_PATH");
    unsetenv("ASCEND_MODULE_LOG_LEVEL");
    log_reset();
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::string folder_ = std::filesystem::temp_directory_path() / fmt::format("anynpu-log-bench-{}", getpid());
};

// Another module logs that much: the line is refused before it is formatted.
void BM_FilteredLineOfAModule(benchmark::State& state) {
  const InAFolder folder("RUNTIME=0");
  for ([[maybe_unused]] auto _ : state) NPU_LOG(kDebug, "OP", "never formatted {}", state.iterations());
}
BENCHMARK(BM_FilteredLineOfAModule);

void BM_EnqueuedLine(benchmark::State& state) {
  const InAFolder folder("OP=0");
  for ([[maybe_unused]] auto _ : state) NPU_LOG(kDebug, "OP", "stream {} has {} tasks", 3, state.iterations());
}
BENCHMARK(BM_EnqueuedLine);

// From WARNING on a line is in its file when the call returns.
void BM_WarningLine(benchmark::State& state) {
  const InAFolder folder("OP=0");
  for ([[maybe_unused]] auto _ : state) NPU_LOG(kWarning, "OP", "stream {} has {} tasks", 3, state.iterations());
}
BENCHMARK(BM_WarningLine);

}  // namespace
}  // namespace npu
