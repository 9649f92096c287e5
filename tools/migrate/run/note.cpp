// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/run/note.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/migrate/rule/pending.h"

namespace npu::migrate {
namespace {

using Files = std::vector<FileResult>;

/// Their paths; of many, the first.
std::string listed(const std::vector<std::string>& paths) {
  constexpr size_t kMost = 20;
  const size_t shown = std::min(paths.size(), kMost);
  std::string out =
      fmt::format("{}", fmt::join(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == paths.size() ? out : out + fmt::format(" and {} more", paths.size() - shown);
}

template <class Fits>
std::vector<std::string> paths_where(const Files& files, const Fits& fits) {
  std::vector<std::string> out;
  for (const FileResult& file : files)
    if (fits(file)) out.push_back(file.path);
  return out;
}

bool any_imports(const Files& files, const char* framework) {
  return std::ranges::any_of(files, [&](const FileResult& file) { return file.frameworks.contains(framework); });
}

/// What is written for the vendor's adapter and not there in this release.
void tell_of_pending(const Files& files, std::vector<std::string>& out) {
  std::map<std::string, std::vector<std::string>> paths;
  for (const FileResult& file : files)
    for (const std::string& name : file.waits_for)
      if (!name.starts_with("npu.")) paths[name].push_back(file.path);  // npu is npu_device, which stands there too
  for (const auto& [name, where] : paths)
    out.push_back(fmt::format(
        "what was migrated cannot run yet: {} {} `{}` ({}), which this release of npu_device does not have, "
        "and stop where they import it; what trains today is TensorFlow 2, migrated without -c and --tf1",
        listed(where), where.size() == 1 ? "needs" : "need", name, pending_names().what(name)));
}

/// Several processes whose models nobody joins.
void tell_if_alone(const Files& files, const Options& options, std::vector<std::string>& out) {
  if (!options.features.contains("torch") || !options.features.contains("distributed") ||
      std::ranges::any_of(files, &FileResult::wraps) || !any_imports(files, "torch"))
    return;
  out.push_back(
      fmt::format("no model is wrapped in DistributedDataParallel, so each process would train alone: no variable "
                  "`{}` is trained anywhere; name the one that holds the model by -t",
                  options.model));
}

/// Scripts that stay on the CPU because no file of theirs opens the NPU: nothing else would tell.
void tell_if_unopened(const Files& files, const Options& options, std::vector<std::string>& out) {
  const std::vector<std::string> training =
      paths_where(files, [](const FileResult& file) { return file.trains_unopened; });
  const std::vector<std::string> begins = paths_where(files, [](const FileResult& file) { return file.begins; });
  if (const bool opened = std::ranges::any_of(files, &FileResult::opens);
      !training.empty() && (opened || options.main.empty())) {
    out.push_back(
        fmt::format("{}: train on the CPU, for nothing that opens the NPU is seen to run them: name the script that "
                    "Python is started with by -m, or put npu.open().as_default() at its head by hand",
                    listed(training)));
    return;
  } else if (opened || !any_imports(files, "tensorflow")) {
    return;
  }
  if (!options.main.empty())
    out.push_back(
        fmt::format("{} does not open the NPU, so all would run on the CPU: see what is said of it, "
                    "or put npu.open().as_default() at its head by hand",
                    options.main));
  else if (any_imports(files, "torch"))
    return;  // a tree of PyTorch that reads something by TensorFlow
  else if (begins.empty())
    out.push_back(
        "no script opens the NPU, so all would run on the CPU: none has a main guard (if __name__ == "
        "'__main__'); name the one that Python is started with by -m");
  else
    out.push_back(
        fmt::format("no script opens the NPU, so all would run on the CPU: what has a main guard ({}) "
                    "imports no TensorFlow; name the script that Python is started with by -m",
                    listed(begins)));
}

}  // namespace

std::vector<std::string> notes_of(const Files& files, const Options& options, const RuleIndex& rules) {
  std::vector<std::string> out;
  const auto opening = [](const Rule* rule) { return rule->id == "tf2-open-device"; };
  if (std::ranges::any_of(rules.all(), opening)) tell_if_unopened(files, options, out);
  tell_if_alone(files, options, out);
  tell_of_pending(files, out);
  return out;
}

}  // namespace npu::migrate
