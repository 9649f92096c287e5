// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/file.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "tools/atc/refusal.h"

namespace npu::atc {
namespace {

namespace fs = std::filesystem;

void make_folder(std::string_view flag, const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse("E19000", "--{}: {}: {}; choose another path", flag, folder.string(), error.message());
}

}  // namespace

std::string read_file(std::string_view flag, const std::string& path) {
  std::optional<std::string> text = whole_file(path);
  if (text) return *std::move(text);
  if (errno == EISDIR) refuse("E10410", "--{}={}: it is a folder; name a file", flag, path);
  refuse("E10410", "--{}={}: {}; name a file that can be read", flag, path, std::strerror(errno));
}

void write_file(std::string_view flag, const std::string& path, std::string_view content) {
  const fs::path whole(path);
  if (path.size() >= PATH_MAX || whole.filename().string().size() > NAME_MAX - 16)
    refuse("E10021", "--{}: the path has {} characters; choose a shorter one", flag, path.size());
  if (!whole.has_filename() || fs::is_directory(whole))
    refuse("E10022", "--{}={}: it names a folder and no file", flag, path);
  make_folder(flag, whole.parent_path());
  const fs::path part = whole.parent_path() / fmt::format(".{}.{}", whole.filename().string(), getpid());
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (out && std::rename(part.c_str(), whole.c_str()) == 0) return;
  const int reason = errno;
  unlink(part.c_str());
  refuse("E19000", "--{}={}: {}; choose another path", flag, path, std::strerror(reason));
}

}  // namespace npu::atc
