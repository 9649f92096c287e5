// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "graph/dump/record/mapped_file.h"
#include "tools/compare/face/face.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders(const fs::path& parent) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(parent))
    if (entry.is_directory()) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// The first `name` in a graph's text or fusion file: that of its first graph.
std::string graph_name(const std::string& path) {
  const graph::record::MappedFile file(path);
  const std::string_view text = file.text();
  const size_t graph = text.find("graph");
  const size_t name = graph == text.npos ? text.npos : text.find("name", graph);
  const size_t begin = name == text.npos ? text.npos : text.find('"', text.find(':', name));
  if (begin == text.npos) return "";
  return std::string(text.substr(begin + 1, text.find('"', begin + 1) - begin - 1));
}

std::map<std::string, std::string> graphs_below(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path();
    if (!path.ends_with(".json") && !path.ends_with("_Build.txt")) continue;
    if (const std::string name = graph_name(path); !name.empty()) found[name] = path;
  }
  if (found.empty())
    throw Refusal(Exit::kPath, fmt::format("There is no fusion file and no *_Build.txt in {}.", folder));
  return found;
}

std::string trailing_number(const std::string& name) { return name.substr(name.find_last_not_of("0123456789") + 1); }

/// The graph of a model's folder: of the same name, or of the same number at its end, which is told.
std::string graph_of(const std::string& model, const std::map<std::string, std::string>& graphs) {
  if (const auto at = graphs.find(model); at != graphs.end()) return at->second;
  for (const auto& [name, path] : graphs)
    if (!trailing_number(name).empty() && trailing_number(name) == trailing_number(model)) {
      warn(
          fmt::format("The graph {} and the dump of {} are not of one run. The result may be incorrect.", name, model));
      return path;
    }
  return "";
}

}  // namespace

int compare_batch(const NetworkRequest& request) {
  const fs::path mine = fs::canonical(request.mine);
  if (mine.filename().string().find_first_not_of("0123456789") != std::string::npos)
    throw Refusal(Exit::kPath, fmt::format("The {} path must end with a timestamp.", mine.string()));
  const auto graphs = graphs_below(request.rule);
  int code = 0;
  bool any = false;
  for (const fs::path& device : folders(mine))
    for (const fs::path& model : folders(device))
      for (const fs::path& id : folders(model)) {
        const auto steps = folders(id);
        NetworkRequest one = request;
        one.rule = graph_of(model.filename(), graphs);
        if (one.rule.empty() || steps.empty()) continue;
        one.mine = steps.back();
        any = true;
        code = compare_network(
            one, fmt::format("{}_{}_{}_result_{}.csv", device.filename().string(), model.filename().string(),
                             steps.back().filename().string(), time_stamp()));
      }
  if (!any) throw Refusal(Exit::kPath, fmt::format("The {} not match fusion rule file", mine.string()));
  return code;
}

}  // namespace npu::compare
