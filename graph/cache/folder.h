// SPDX-License-Identifier: Apache-2.0
// The folder of a cache: for each entry a container <name>.o and, to be read by people, <name>.json. Files appear whole
// or not at all, under the name of their content's key, so any number of processes may fill, read and clear it at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/cache/limit.h"

namespace npu::graph::cache {

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path& path() const { return path_; }

  /// The bytes of an entry, which thereby was used last; none where there is none that can be read.
  std::optional<std::string> find(const std::string& name) const;
  /// Writes an entry, in place of one of its name; then the oldest go where there are more than `limit` allows. Makes
  /// the folder. Raises 100003 with the system's reason where it cannot be written; nothing is left of it then.
  void put(const std::string& name, std::string_view container, std::string_view description, const Limit& limit) const;
  struct Entry {
    std::filesystem::path file;  ///< its container
    std::filesystem::file_time_type used;
    int64_t bytes;  ///< of its files
  };
  std::vector<Entry> entries() const;
  /// The file of an entry that tells people what it is.
  static std::filesystem::path description_of(std::filesystem::path container);
  /// A file's bytes; none where it cannot be read.
  static std::optional<std::string> read(const std::filesystem::path& file);
  /// Removes all entries, and files that somebody began and never finished.
  void clear() const;

 private:
  void remove(const std::filesystem::path& container) const;
  void remove_leftovers() const;
  void make_room(const Limit& limit) const;
  void write(const std::string& file, std::string_view bytes) const;

  const std::filesystem::path path_;
};

}  // namespace npu::graph::cache
