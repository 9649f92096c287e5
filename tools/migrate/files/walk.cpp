// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/walk.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

/// Names in a folder, sorted; nothing where it cannot be read (errno tells why).
std::optional<std::vector<std::string>> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(folder.c_str()), closedir);
  if (!handle) return {};
  std::vector<std::string> out;
  while (const dirent* each = readdir(handle.get()))
    if (std::strcmp(each->d_name, ".") != 0 && std::strcmp(each->d_name, "..") != 0) out.emplace_back(each->d_name);
  std::ranges::sort(out);
  return out;
}

std::string unreadable(const std::string& path) {
  return fmt::format("{}: cannot be read ({}); check its permissions", path, std::strerror(errno));
}

class Walk {
 public:
  explicit Walk(const std::string& root) : root_(root) {}

  Walked done() {
    const auto names = names_in(root_);
    if (!names) throw Refusal(unreadable(root_));
    enter("", *names, false);
    return std::move(out_);
  }

 private:
  void enter(const std::string& below, const std::vector<std::string>& names, bool foreign) {
    for (const std::string& name : names) take(below.empty() ? name : below + "/" + name, name, foreign);
  }

  void take(const std::string& path, const std::string& name, bool foreign) {
    const std::string full = root_ + "/" + path;
    struct stat status {};
    if (lstat(full.c_str(), &status) != 0) {
      out_.trouble.push_back(unreadable(full));
      return;
    }
    Entry entry{path, Entry::Kind::kSpecial, static_cast<mode_t>(status.st_mode & 0777U),
                static_cast<uint64_t>(status.st_size)};
    if (S_ISLNK(status.st_mode)) entry.kind = Entry::Kind::kLink;
    if (S_ISREG(status.st_mode)) entry.kind = foreign ? Entry::Kind::kOther : kind_of_file(name);
    if (!S_ISDIR(status.st_mode)) {
      out_.entries.push_back(std::move(entry));
      return;
    }
    entry.kind = Entry::Kind::kFolder;
    out_.entries.push_back(std::move(entry));
    const auto names = names_in(full);
    if (!names) {
      out_.trouble.push_back(unreadable(full));
      return;
    }
    const bool theirs =
        name == "site-packages" || name == "dist-packages" || std::ranges::binary_search(*names, "pyvenv.cfg");
    if (theirs && !foreign) out_.foreign.push_back(path);
    enter(path, *names, foreign || theirs);
  }

  const std::string& root_;
  Walked out_;
};

}  // namespace

Entry::Kind kind_of_file(const std::string& name) {
  if (name.ends_with(".py")) return Entry::Kind::kPython;
  if (name.ends_with(".ipynb")) return Entry::Kind::kNotebook;
  for (const char* suffix : {".yaml", ".yml", ".json", ".sh", ".bash"})
    if (name.ends_with(suffix)) return Entry::Kind::kConfig;
  return Entry::Kind::kOther;
}

Walked walk(const std::string& root) { return Walk(root).done(); }

}  // namespace npu::migrate
