// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/collect/collect.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "tools/profile/collect/application.h"
#include "tools/profile/collect/control.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;
constexpr int kLookMs = 100;

/// Ctrl-C is for the program; what it has recorded until then is exported.
class Interrupts {
 public:
  Interrupts() : before_(std::signal(SIGINT, SIG_IGN)) {}
  ~Interrupts() { std::signal(SIGINT, before_); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  void (*const before_)(int);
};

std::set<fs::path> folders_in(const fs::path& output) {
  std::set<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(output))
    if (is_collection(entry.path())) found.insert(entry.path());
  return found;
}

std::string words(const CollectRequest& asked) {
  Json options = Json::parse(asked.options);
  options["output"] = asked.output.string();
  return options.dump();
}

void tell(const char* what, const std::string& folder) { fmt::print("[INFO] {}: {}\n", what, folder); }

/// What was started here begins to listen when it uses an NPU; what ran before does, or never will.
void await(Control& control, std::optional<Application>& application) {
  while (application && !control.connect() && !application->wait_for(kLookMs)) {
  }
}

/// One line of the user; false when it is over.
bool obey(const std::string& line, Control& control, std::optional<Application>& application,
          const std::string& options) {
  if (line == "quit" || line == "q") return false;
  try {
    if (line == "start") await(control, application);
    if (line == "start")
      tell("recording", control.start(options));
    else if (line == "stop")
      tell("recorded", control.stop());
    else if (!line.empty())
      fmt::print("start, stop and quit are known\n");
  } catch (const Error& error) {
    fmt::print(stderr, "[ERROR] msprof: {}\n", error.what());
  }
  return true;
}

bool ended(const CollectRequest& asked, std::optional<Application>& application) {
  return application ? application->wait_for(0).has_value() : kill(asked.process, 0) != 0;
}

/// Lines of the user, until there are no more or nothing is left to speak with. Only the terminal is waited for.
void serve(const CollectRequest& asked, std::optional<Application>& application, std::istream& input) {
  Control control(application ? application->pid() : asked.process);
  const std::string options = words(asked);
  for (std::string line; !ended(asked, application);) {
    fmt::print("> ");
    std::fflush(stdout);
    if (!std::getline(input, line) || !obey(line, control, application, options)) break;
  }
}

/// A collection that begins after a while, or ends before the program.
void time(const CollectRequest& asked, Application& application) {
  if (application.wait_for(asked.delay * 1000)) return;
  Control control(application.pid());
  while (!control.connect())
    if (application.wait_for(kLookMs)) return;
  tell("recording", control.start(words(asked)));
  if (asked.duration > 0 && !application.wait_for(asked.duration * 1000)) tell("recorded", control.stop());
}

void check(const CollectRequest& asked) {
  std::error_code error;
  fs::create_directories(asked.output, error);
  if (error) fail(Code::kInvalidParam, "{} cannot be made: {}", asked.output.string(), error.message());
  if (asked.command.empty() && !asked.dynamic)
    fail(Code::kInvalidParam, "a process that runs is spoken with by --dynamic=on; add it to --pid");
  if (asked.command.empty() && kill(asked.process, 0) != 0)
    fail(Code::kInvalidParam, "there is no process {} of yours; see ps", asked.process);
}

}  // namespace

Collected collect(const CollectRequest& wanted, std::istream& input) {
  CollectRequest asked = wanted;
  asked.output = fs::absolute(asked.output);
  check(asked);
  const std::set<fs::path> before = folders_in(asked.output);
  std::optional<Application> application;
  const bool timed = asked.delay > 0 || asked.duration > 0;
  if (!asked.command.empty())
    application.emplace(
        asked.command,
        std::vector<std::string>{fmt::format("PROFILING_MODE={}", asked.dynamic || timed ? "dynamic" : "true"),
                                 fmt::format("PROFILING_OPTIONS={}", words(asked))},
        asked.dynamic);
  const Interrupts ignored;  // by msprof: what it starts would inherit that
  if (asked.dynamic)
    serve(asked, application, input);
  else if (timed)
    time(asked, *application);
  Collected found;
  if (application) found.code = application->wait();
  for (const fs::path& folder : folders_in(asked.output))
    if (!before.contains(folder)) found.folders.push_back(folder);
  return found;
}

}  // namespace npu::profile
