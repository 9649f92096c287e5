// SPDX-License-Identifier: Apache-2.0
// Which files of a project programs of TensorFlow begin in, and which of them run with the NPU open.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/names/project.h"
#include "tools/migrate/rule/options.h"

namespace npu::migrate {

class ProgramMap {
 public:
  struct Part {
    bool begins = false;  ///< a program of TensorFlow begins here: it is to open the NPU
    bool reached = true;  ///< it opens the NPU, or what opens it imports it
    bool open = true;     ///< so it does, or may, for a name that is made may import it
  };
  /// Of no project: nothing is known of what runs it, and it may be open.
  ProgramMap() = default;
  /// `paths` are those of the project.
  ProgramMap(const Project& project, const std::vector<std::string>& paths, const Options& options);
  Part of(size_t index) const { return index < parts_.size() ? parts_[index] : Part(); }

 private:
  std::vector<Part> parts_;
};

}  // namespace npu::migrate
