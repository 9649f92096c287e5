// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/collecting.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"

namespace npu::profile {
namespace {

// What the profiled process says what it makes of (docs/profile.md).
constexpr std::array kPassedOn{"task-time",
                               "ascendcl",
                               "runtime-api",
                               "ge-api",
                               "hccl",
                               "aicpu",
                               "msproftx",
                               "ai-core",
                               "aic-mode",
                               "aic-freq",
                               "aic-metrics",
                               "aiv",
                               "aiv-mode",
                               "aiv-freq",
                               "aiv-metrics",
                               "model-execution",
                               "l2",
                               "storage-limit",
                               "sys-hardware-mem",
                               "sys-hardware-mem-freq",
                               "sys-cpu-profiling",
                               "sys-cpu-freq",
                               "sys-profiling",
                               "sys-sampling-freq",
                               "sys-pid-profiling",
                               "sys-pid-sampling-freq",
                               "sys-io-profiling",
                               "sys-io-sampling-freq",
                               "sys-interconnection-profiling",
                               "sys-interconnection-freq",
                               "dvpp-profiling",
                               "dvpp-freq",
                               "llc-profiling",
                               "instr-profiling",
                               "instr-profiling-freq",
                               "host-sys",
                               "host-sys-pid",
                               "host-sys-usage",
                               "host-sys-usage-freq"};

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// The program takes the shell's place, so that it can be spoken with; several are left to the shell.
std::string as_one_process(const std::string& line) {
  return line.find_first_of(";&|<>()\n") == std::string::npos ? "exec " + line : line;
}

}  // namespace

Collecting::Collecting(CLI::App& app) : app_(app) {
  app.add_option("--application", application_, "a command line, which is started, recorded and exported");
  app.add_option("--dynamic", dynamic_, "on: record between the lines start and stop that you type, until quit")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--pid", process_, "with --dynamic=on, a process that was started with PROFILING_MODE=dynamic");
  app.add_option("--delay", delay_, "seconds after which records begin")->check(CLI::NonNegativeNumber);
  app.add_option("--duration", duration_, "seconds after which they end")->check(CLI::NonNegativeNumber);
  for (const char* name : kPassedOn)
    app.add_option_function<std::string>(
           std::string("--") + name,
           [this, name](const std::string& value) { options_[with_underscores(name)] = value; })
        ->group("What is recorded");
  app.prefix_command();  // the rest of the line is a program and its arguments
}

bool Collecting::is_asked() const { return !application_.empty() || process_ != 0 || !app_.remaining().empty(); }

CollectRequest Collecting::asked(const std::string& output) const {
  CollectRequest found;
  found.command = app_.remaining();
  if (!found.command.empty() && found.command[0].starts_with('-'))
    fail(Code::kInvalidParam, "{} is no option of msprof; see msprof --help", found.command[0]);
  if (!application_.empty() && !found.command.empty())
    fail(Code::kInvalidParam, "--application and '{}' are both programs; name one", found.command[0]);
  if (!application_.empty()) found.command = {"/bin/sh", "-c", as_one_process(application_)};
  if (process_ != 0 && !found.command.empty())
    fail(Code::kInvalidParam, "--pid is of a process that runs, and '{}' is to be started; name one",
         found.command.back());
  found.process = process_;
  found.output = output.empty() ? "." : output;
  found.options = Json(options_).dump();
  found.dynamic = dynamic_ == "on";
  found.delay = delay_, found.duration = duration_;
  return found;
}

}  // namespace npu::profile
