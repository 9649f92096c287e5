// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

namespace npu::graph::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContainer = ".o";
constexpr const char* kDescription = ".json";
constexpr const char* kUnfinished = ".part";
constexpr size_t kNameDigits = 32;
constexpr std::chrono::minutes kAbandoned{60};  // nobody writes a file for so long

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

/// False with errno set.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// False with errno set. A file that could not be closed may have lost its end.
bool write_file(const char* path, std::string_view bytes) {
  Descriptor file{open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (file.number < 0 || !write_all(file.number, bytes)) return false;
  return close(std::exchange(file.number, -1)) == 0;
}

[[noreturn]] void refuse(const fs::path& path, int error) {
  fail(Code::kInvalidFile, "{} cannot be written: {}", path.string(), std::strerror(error));
}

/// What somebody else put into the folder, a compiler of kernels among them, is no concern of ours.
bool is_entry(const fs::path& file) {
  const std::string stem = file.stem().string();
  return file.extension() == kContainer && stem.size() == kNameDigits &&
         stem.find_first_not_of("0123456789abcdef") == stem.npos;
}

std::string number_of_this() {
  static std::atomic<uint64_t> count = 0;
  return fmt::format("{}-{}", getpid(), ++count);
}

}  // namespace

fs::path Folder::description_of(fs::path container) { return container.replace_extension(kDescription); }

std::optional<std::string> Folder::read(const fs::path& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat facts {};
  if (file.number < 0 || fstat(file.number, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.number, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

std::optional<std::string> Folder::find(const std::string& name) const {
  const fs::path file = path_ / (name + kContainer);
  std::optional<std::string> bytes = read(file);
  // In a folder of somebody else's it stays as old as it was.
  if (bytes) utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return bytes;
}

void Folder::write(const std::string& file, std::string_view bytes) const {
  const fs::path part = path_ / fmt::format(".{}.{}{}", file, number_of_this(), kUnfinished), whole = path_ / file;
  if (write_file(part.c_str(), bytes) && rename(part.c_str(), whole.c_str()) == 0) return;
  const int error = errno;
  unlink(part.c_str());
  refuse(whole, error);
}

void Folder::put(const std::string& name, std::string_view container, std::string_view description,
                 const Limit& limit) const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) refuse(path_, error.value());
  write(name + kContainer, container);
  try {
    write(name + kDescription, description);
  } catch (const Error&) {
    unlink((path_ / (name + kContainer)).c_str());
    throw;
  }
  make_room(limit);
}

std::vector<Folder::Entry> Folder::entries() const {
  std::vector<Entry> out;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(path_, error)) {
    if (!is_entry(file.path())) continue;
    std::error_code gone;  // another process may clear it
    const auto used = file.last_write_time(gone);
    const auto size = file.file_size(gone);
    const auto told = fs::file_size(description_of(file.path()), error);
    if (!gone)
      out.push_back({file.path(), used, static_cast<int64_t>(size) + (error ? 0 : static_cast<int64_t>(told))});
  }
  return out;
}

void Folder::remove(const fs::path& container) const {
  std::error_code gone;
  fs::remove(container, gone);
  fs::remove(description_of(container), gone);
}

void Folder::make_room(const Limit& limit) const {
  std::vector<Entry> all = entries();
  int64_t bytes = 0;
  for (const Entry& one : all) bytes += one.bytes;
  if (bytes <= limit.bytes()) return;
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& one : all) {
    if (bytes <= limit.remaining_bytes()) break;
    remove(one.file);
    bytes -= one.bytes;
  }
  remove_leftovers();
}

void Folder::remove_leftovers() const {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& file : fs::directory_iterator(path_, error)) {
    std::error_code gone;
    if (file.path().extension() == kUnfinished && now - file.last_write_time(gone) > kAbandoned && !gone)
      fs::remove(file.path(), gone);
  }
}

void Folder::clear() const {
  for (const Entry& one : entries()) remove(one.file);
  remove_leftovers();
}

}  // namespace npu::graph::cache
