// SPDX-License-Identifier: Apache-2.0
// What the files of a project give each other: an export map per module, and names followed from module to module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/migrate/names/name_set.h"
#include "tools/migrate/names/program.h"
#include "tools/migrate/names/value.h"

namespace npu::migrate {

/// What a module shows. Keys of `names`: "x" a variable, "f()" what calling f returns, "C().x" an attribute of C's
/// objects or of C itself. What is known to be nothing of interest is left out.
struct Exports {
  std::string module;  ///< ":package.name"
  std::unordered_map<std::string, Values> names;
  std::unordered_map<std::string, std::vector<Value>> bases;  ///< of classes, by qualified name
  NameSet defined;                                            ///< functions, classes and methods: "f", "C.method"
  NameSet bound;                                              ///< other names: "x", "C.attribute"
  std::unordered_map<std::string, std::string> parameters;    ///< "a,b" of "f", "C.method"; methods without self
  std::vector<std::string> stars;                             ///< modules imported by *, as names
  bool tensorflow = false;                                    ///< it speaks of TensorFlow
  Program program;
};

class Project {
 public:
  /// Paths are those below the input, with '/'; a single file is a project of one.
  explicit Project(const std::vector<std::string>& paths);

  /// ":package.module" of a file.
  static std::string module_of(std::string_view path);
  /// What `import module` (of level dots, as seen from the file) names: ":a.b" where it is one of the project's files
  /// or packages, else the name as written.
  std::string imported(std::string_view path, std::string_view module, int level) const;

  /// Takes one file's exports; from any thread if `index` differs.
  void set(size_t index, Exports exports) { exports_[index] = std::move(exports); }
  /// Follows names between modules: modules in the order of their imports, rings of imports at most 3 rounds.
  void settle();

  /// What a name of the project stands for; the name itself where it is defined here; unknown where nothing tells.
  Values follow(const std::string& name) const { return follow(name, 0); }
  /// Whether any of the files speaks of TensorFlow.
  bool uses_tensorflow() const;
  const Program& program(size_t index) const { return exports_[index].program; }
  /// The files of the project that a file may import, and so those that it runs.
  std::vector<size_t> imported_files(size_t index) const;
  /// Parameters of a function of the project, or of a class of it, by name; none where it is not known.
  std::vector<std::string> parameters(std::string_view name) const;

 private:
  Values follow(const std::string& name, int depth) const;
  Values shown_by_package(const std::string& module, int depth) const;
  Values inside(const Exports& exports, const std::string& rest, int depth) const;
  Values in_dictionary(const Exports& exports, const std::string& rest, int depth) const;
  Values of_class(const Exports& exports, const std::string& type, const std::string& rest, int depth) const;
  Values appended(const Values& values, const std::string& rest, int depth) const;
  const Exports* exports_of(std::string_view module) const;
  std::vector<size_t> imports_of(size_t index) const;
  bool settle_once(size_t index);

  std::unordered_map<std::string, size_t> modules_;  // ":a.b" -> index
  std::unordered_set<std::string> packages_;         // folders, as ":a"
  std::vector<Exports> exports_;
};

}  // namespace npu::migrate
