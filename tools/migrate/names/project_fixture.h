// SPDX-License-Identifier: Apache-2.0
// For tests: files that are given as texts, and what the expressions in their calls `show(…)` may be.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/names/program_reader.h"

namespace npu::migrate {

using Files = std::map<std::string, std::string>;

/// What `show(x)` is in one of the files, for every show from the top: Values::spelled().
inline std::vector<std::string> shown(const Files& files, const std::string& path) {
  std::vector<std::string> paths;
  for (const auto& [each, text] : files) paths.push_back(each);
  Project project(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    const Source source(paths[i], files.at(paths[i]));
    const Tree tree(source);
    Evaluator names(tree, project, paths[i], static_cast<int32_t>(i), false);
    project.set(i, names.exports(), program_of(names));
  }
  project.settle();
  const Source source(path, files.at(path));
  const Tree tree(source);
  Evaluator names(tree, project, path, 0, true);
  std::vector<std::string> out;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node call = tree.node(i);
    if (!call.is(Kind::k_call) || call.child(Field::k_function).text() != "show") continue;
    const std::vector<Node> arguments = call.child(Field::k_arguments).named();
    out.push_back(names.of(arguments.at(0)).spelled());
  }
  return out;
}

inline std::vector<std::string> shown(const std::string& text) { return shown({{"a.py", text}}, "a.py"); }

}  // namespace npu::migrate
