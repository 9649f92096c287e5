// SPDX-License-Identifier: Apache-2.0
// What lies below a folder, and how each of it is treated.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace npu::migrate {

struct Entry {
  enum class Kind {
    kPython,    ///< a regular file *.py
    kConfig,    ///< *.yaml, *.yml, *.json, *.sh, *.bash: may carry device names
    kNotebook,  ///< *.ipynb
    kOther,     ///< any other regular file, and every file of somebody else's packages
    kFolder,
    kLink,    ///< a symbolic link, kept as one and never followed
    kSpecial  ///< a pipe, socket or device: never opened
  };
  std::string path;  ///< below the root, with '/'
  Kind kind{};
  mode_t mode = 0;
  uint64_t size = 0;
};

struct Walked {
  std::vector<Entry> entries;        ///< folders before what they hold, each folder's entries by name
  std::vector<std::string> trouble;  ///< folders that could not be read: path, reason, cure
  std::vector<std::string> foreign;  ///< folders of installed packages: copied, not migrated
};

/// Everything below `root`. Folders of installed packages (site-packages, dist-packages, a virtual environment) below
/// it are somebody else's: their files count as kOther. Raises Refusal where `root` itself cannot be read.
Walked walk(const std::string& root);

/// By the name alone.
Entry::Kind kind_of_file(const std::string& name);

}  // namespace npu::migrate
