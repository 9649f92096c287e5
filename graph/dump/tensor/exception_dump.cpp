// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/exception_dump.h"

#include <filesystem>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/setting.h"
#include "graph/dump/tensor/file_receiver.h"
#include "graph/dump/tensor/file_writer.h"
#include "graph/dump/tensor/task_content.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;
using Tell = std::function<void(const std::string& text)>;

fs::path folder_of_failures() {
  const std::string work = setting_text("ASCEND_WORK_PATH");
  return fs::absolute(work.empty() ? fs::path(".") : fs::path(work)).lexically_normal() / "extra-info" / "data-dump";
}

class FailureDump final : public ops::Observer {
 public:
  explicit FailureDump(Tell tell)
      : folder_(folder_of_failures()), tell_(std::move(tell)), writer_([this](const std::string& error) {
          tell_(fmt::format("the inputs of an operator that failed could not be written: {}", error));
        }) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override;

  void write(TaskContent& content, const ops::Execution& execution) {
    FileContent file = content.file(execution, (folder_ / std::to_string(execution.device)).string(), unique_now());
    const std::string path = fmt::format("{}/{}", file.folder, file.name);
    writer_.put(std::move(file));
    writer_.drain();  // the process may be about to end
    if (!writer_.failed())
      tell_(fmt::format("{} '{}' failed; its inputs and parameters {} {}", execution.name.type, execution.name.node,
                        files_are_received() ? "were handed over as" : "are in", path));
  }

 private:
  const fs::path folder_;
  const Tell tell_;
  FileWriter writer_;
};

class WatchedTask final : public ops::Watch {
 public:
  WatchedTask(FailureDump& dump, const ops::Execution& execution) : dump_(dump) { content_.keep_inputs(execution); }

  void failed(const ops::Execution& execution, const Error& error) override {
    for (const auto& [name, value] : execution.parameters) content_.add_attr(name, value);
    content_.add_attr("error_code", std::to_string(static_cast<int>(error.code())));
    content_.add_attr("error", error.message());
    dump_.write(content_, execution);
  }

 private:
  FailureDump& dump_;
  TaskContent content_{false};
};

std::unique_ptr<ops::Watch> FailureDump::start(const ops::Execution& execution) {
  return std::make_unique<WatchedTask>(*this, execution);
}

struct Running {
  std::mutex mutex;
  std::shared_ptr<FailureDump> dump;
};

// Never destroyed: streams may run tasks until the process is gone.
Running& running() {
  static Running& instance = *new Running;
  return instance;
}

}  // namespace

void dump_failures(Tell tell) {
  const std::lock_guard lock(running().mutex);
  if (running().dump) return;
  running().dump = std::make_shared<FailureDump>(std::move(tell));
  ops::add_observer(running().dump);
}

void stop_dump_of_failures() {
  const std::lock_guard lock(running().mutex);
  if (running().dump) ops::remove_observer(*running().dump);
  running().dump.reset();
}

}  // namespace npu::graph
