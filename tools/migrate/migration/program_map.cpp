// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/program_map.h"

#include <algorithm>

namespace npu::migrate {
namespace {

class Following {
 public:
  Following(const Project& project, const std::vector<std::string>& paths, const Options& options)
      : project_(project), paths_(paths), options_(options) {
    for (size_t i = 0; i < paths.size(); ++i) imports_.push_back(project.imported_files(i));
  }

  bool begins(size_t index) const {
    const Program& program = project_.program(index);
    const bool notebook = paths_[index].ends_with(".ipynb");
    if (!options_.main.empty() && !notebook) return paths_[index] == options_.main && is_of_tensorflow(index, true);
    if (!options_.alone && !notebook && !program.guard && !program.runs) return false;
    return is_of_tensorflow(index, false);
  }

  /// The files that run when one of these does, these with them.
  std::vector<bool> reached(std::vector<size_t> open) const {
    std::vector<bool> out(imports_.size());
    while (!open.empty()) {
      const size_t index = open.back();
      open.pop_back();
      if (out[index]) continue;
      out[index] = true;
      open.insert(open.end(), imports_[index].begin(), imports_[index].end());
    }
    return out;
  }

 private:
  /// TensorFlow or PyTorch: what a file imports itself counts before what others import for it.
  bool is_of_tensorflow(size_t index, bool named) const {
    const Program& own = project_.program(index);
    if (own.tensorflow) return true;
    if (own.torch) return false;
    if (own.upon) return true;
    bool tensorflow = false, torch = false, trains = false;
    const std::vector<bool> files = reached({index});
    for (size_t i = 0; i < files.size(); ++i) {
      if (!files[i]) continue;
      const Program& each = project_.program(i);
      tensorflow = tensorflow || each.tensorflow || each.upon;
      torch = torch || each.torch;
      trains = trains || (each.tensorflow && !each.torch && each.trains);
    }
    // Of a file that was named, and imports nothing that is seen, the rest of the project tells.
    if (named && !tensorflow && !torch) return !options_.features.contains("torch") || project_.uses_tensorflow();
    return tensorflow && (!torch || trains);
  }

  const Project& project_;
  const std::vector<std::string>& paths_;
  const Options& options_;
  std::vector<std::vector<size_t>> imports_;
};

}  // namespace

ProgramMap::ProgramMap(const Project& project, const std::vector<std::string>& paths, const Options& options)
    : parts_(paths.size()) {
  const Following following(project, paths, options);
  std::vector<size_t> opening;
  for (size_t i = 0; i < paths.size(); ++i) {
    parts_[i].begins = following.begins(i);
    if (parts_[i].begins || project.program(i).opens) opening.push_back(i);
  }
  // A module that nothing is seen to import may be imported all the same, by a name that is made.
  const bool some = !opening.empty();
  const std::vector<bool> reached = following.reached(std::move(opening));
  for (size_t i = 0; i < paths.size(); ++i) {
    const Program& program = project.program(i);
    parts_[i].reached = reached[i];
    parts_[i].open = reached[i] || (some && !program.guard && !program.runs);
  }
}

}  // namespace npu::migrate
