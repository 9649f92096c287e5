// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/tuner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "ops/tuner/kernel_tuner.h"

namespace npu::ops::tuning {
namespace {

namespace fs = std::filesystem;

struct Current {
  std::mutex mutex;
  std::shared_ptr<Session> session;
  bool ends_with_process = false;
};
// Never destroyed: streams run tasks until the process is gone.
Current& current() {
  static Current& instance = *new Current;
  return instance;
}

}  // namespace

void begin(Job job, Scope scope, fs::path work_path) {
  const std::lock_guard lock(current().mutex);
  require(current().session == nullptr, "tuning is under way already; one job at a time, as with AOE");
  if (work_path.empty()) work_path = ".";
  if (!fs::is_directory(work_path) || access(work_path.c_str(), W_OK) != 0)
    fail(Code::kInvalidParam, "the work path {} of tuning is no folder that can be written; make it first",
         work_path.string());
  current().session = std::make_shared<Session>(job, std::move(scope), std::move(work_path));
  say(fmt::format("tuning of {} begins; what wins goes to {}", job == Job::kOperators ? "operators" : "graphs",
                  bank_file(job).string()));
  if (job == Job::kOperators) watch_kernels(current().session);
  if (!std::exchange(current().ends_with_process, true)) std::atexit(end);
}

void end() {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(current().mutex);
    session = std::exchange(current().session, nullptr);
  }
  if (session == nullptr) return;
  watch_kernels(nullptr);
  session->finish();
}

std::shared_ptr<Session> session() {
  const std::lock_guard lock(current().mutex);
  return current().session;
}

std::shared_ptr<Session> session(Job job) {
  auto one = session();
  return one != nullptr && one->job() == job ? one : nullptr;
}

}  // namespace npu::ops::tuning
