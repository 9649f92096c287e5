// SPDX-License-Identifier: Apache-2.0
// What the files of a project give each other: an export map per module, and names followed from module to module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tools/migrate/names/exports.h"
#include "tools/migrate/names/program.h"

namespace npu::migrate {

class Project {
 public:
  /// Paths are those below the input, with '/'; a single file is a project of one.
  explicit Project(const std::vector<std::string>& paths);

  /// package.module of a file.
  static AccessPath module_of(std::string_view path);
  /// What `import module` (of level dots, as seen from the file) names: the project's own where it is one of its files
  /// or packages, else a library's.
  Value imported(std::string_view path, std::string_view module, int level) const;

  /// Takes what one file exports and does; from any thread if `index` differs.
  void set(size_t index, Exports exports, Program program) {
    exports_[index] = std::move(exports);
    programs_[index] = std::move(program);
  }
  /// Follows names between modules: modules in the order of their imports, rings of imports at most 3 rounds.
  void settle();

  /// What a name of the project stands for; the name itself where it is defined here; unknown where nothing tells.
  Values follow(const Value& name) const { return follow(name, 0); }
  /// Whether any of the files speaks of TensorFlow.
  bool uses_tensorflow() const;
  const Program& program(size_t index) const { return programs_[index]; }
  /// The files of the project that a file may import, and so those that it runs.
  std::vector<size_t> imported_files(size_t index) const;
  /// Parameters of a function of the project, or of a class of it, by name; none where it is not known.
  std::vector<std::string> parameters(const Value& name) const;

 private:
  Values follow(const Value& name, int depth) const;
  Values shown_by_package(Steps module, int depth) const;
  Values inside(const Exports& exports, Steps rest, int depth) const;
  Values in_dictionary(const Exports& exports, Steps rest, int depth) const;
  Values of_class(const Exports& exports, const Step& type, Steps rest, int depth) const;
  Values appended(const Values& values, Steps rest, int depth) const;
  const Exports* exports_of(Steps module) const;
  std::vector<size_t> imports_of(size_t index) const;
  bool settle_once(size_t index);

  ByPath<size_t> modules_;
  std::unordered_set<AccessPath, StepsHash, StepsEqual> packages_;  // folders
  std::vector<Exports> exports_;
  std::vector<Program> programs_;
};

}  // namespace npu::migrate
