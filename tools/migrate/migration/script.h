// SPDX-License-Identifier: Apache-2.0
// The file that is migrated, and what is asked of it as a whole.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tools/migrate/migration/program_map.h"
#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/rule/options.h"

namespace npu::migrate {

class Script {
 public:
  /// `packed`: the file's tree, where one was kept.
  Script(const Source& source, const PackedTree* packed, const Project& project, std::string path, int32_t file,
         const Options& options, ProgramMap::Part part);

  const std::string& path() const { return names_.path(); }
  Evaluator& names() { return names_; }
  const Tree& tree() const { return tree_; }
  const Source& source() const { return tree_.source(); }
  const Options& options() const { return options_; }
  const ProgramMap::Part& part() const { return part_; }
  /// What it does when it is run, as it was read.
  const Program& program() const { return names_.project().program(static_cast<size_t>(names_.file())); }

  /// First parts of the modules it imports; keras counts as tensorflow too.
  const std::set<std::string>& frameworks() const { return frameworks_; }
  bool imports(std::string_view framework) const { return frameworks_.contains(std::string(framework)); }
  /// Whether rules that need a framework look at this file: it imports it, or a process of PyTorch begins here, which
  /// takes it for one that does in every later run, too.
  bool concerns(std::string_view framework) const;
  /// Whether the file has this line (an import) already, however it is spelled.
  bool has_import(const std::string& line) const;
  /// The name that an import would bind, if at `node` it means something else already; or "".
  std::string taken_name(const std::string& line, Node node) const;
  /// The `if __name__ == "__main__":` of the file, or none.
  Node main_guard() const;
  /// Whether the program begins in this file: it is the one that was named, or none was and it has a main
  /// guard or is the only one.
  bool is_entry() const;
  /// Whether a program of TensorFlow begins in this file, so that it is to open the NPU.
  bool begins_tensorflow() const;

 private:
  void gather_imports();
  bool may_use_tensorflow() const;

  Tree tree_;
  const Options& options_;
  Evaluator names_;
  const ProgramMap::Part part_;
  std::set<std::string> frameworks_;
};

}  // namespace npu::migrate
