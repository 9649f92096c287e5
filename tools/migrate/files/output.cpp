// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace npu::migrate {
namespace {

// Names of unfinished files, for the handler of signals, which may neither lock nor allocate.
constexpr size_t kSlots = 256;  // more than threads write at one time
std::array<std::atomic<const char*>, kSlots> unfinished;
static_assert(std::atomic<const char*>::is_always_lock_free);
std::atomic<bool> ending = false;

void end(int number) {
  ending = true;
  for (std::atomic<const char*>& slot : unfinished)
    if (const char* name = slot; name != nullptr) unlink(name);
  constexpr std::string_view kText = "\ninterrupted; no file is half-written\n";
  [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, kText.data(), kText.size());
  signal(number, SIG_DFL);
  raise(number);
}

[[noreturn]] void refuse(const std::string& path, int reason) {
  const char* text = std::strerror(reason);
  if (reason == ENOSPC || reason == EDQUOT)
    throw DiskFull(fmt::format("{}: cannot be written ({}); make room there or choose another output", path, text));
  if (reason == EISDIR) throw Refusal(fmt::format("{}: is a folder; choose another output", path));
  throw Refusal(fmt::format("{}: cannot be written ({}); check its permissions or choose another output", path, text));
}

/// A file that is not there yet. Where it is not finished, nothing of it stays.
class Pending {
 public:
  explicit Pending(const std::string& path) : path_(path), temporary_(path) {
    file_ = open(temporary_.name(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file_ < 0) refuse(path, errno);
  }
  Pending(const Pending&) = delete;
  ~Pending() {
    if (file_ >= 0) close(file_);
  }

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse(path_, errno);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }

  void finish(mode_t mode) {
    if (fchmod(file_, mode) != 0) refuse(path_, errno);
    const int file = std::exchange(file_, -1);
    if (close(file) != 0 && errno != EINTR) refuse(path_, errno);
    if (!temporary_.keep(path_)) refuse(path_, errno);
  }

 private:
  const std::string& path_;
  Temporary temporary_;
  int file_ = -1;
};

}  // namespace

Temporary::Temporary(const std::string& path) {
  // Not a longer form of the name: that may be as long as names can be.
  static std::atomic<unsigned> count = 0;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, slash + 1);
  name_ = fmt::format("{}.anynpu-{}-{}.tmp", folder, getpid(), count++);
  for (slot_ = 0;; slot_ = (slot_ + 1) % kSlots) {
    const char* none = nullptr;
    if (unfinished[slot_].compare_exchange_strong(none, name_.c_str())) break;
  }
  while (ending) pause();  // another thread is ending the process
}

Temporary::~Temporary() {
  if (!name_.empty()) unlink(name_.c_str());
  unfinished[slot_] = nullptr;
}

bool Temporary::keep(const std::string& path) {
  while (ending) pause();
  if (rename(name_.c_str(), path.c_str()) != 0) return false;
  unfinished[slot_] = nullptr;
  name_.clear();
  return true;
}

void write_file(const std::string& path, std::string_view bytes, mode_t mode) {
  Pending file(path);
  file.append(bytes);
  file.finish(mode);
}

void copy_file(const std::string& from, const std::string& to, mode_t mode) {
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source < 0)
    throw Refusal(fmt::format("{}: cannot be read ({}); check its permissions", from, std::strerror(errno)));
  const std::unique_ptr<const int, void (*)(const int*)> closing(&source, [](const int* file) { close(*file); });
  Pending file(to);
  std::vector<char> buffer(size_t{1} << 18);
  while (true) {
    const ssize_t count = read(source, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Refusal(fmt::format("{}: cannot be read ({})", from, std::strerror(errno)));
    if (count == 0) break;
    file.append({buffer.data(), static_cast<size_t>(count)});
  }
  file.finish(mode);
}

void copy_link(const std::string& from, const std::string& to) {
  std::array<char, 4096> target{};
  const ssize_t size = readlink(from.c_str(), target.data(), target.size() - 1);
  if (size < 0) throw Refusal(fmt::format("{}: cannot be read ({})", from, std::strerror(errno)));
  if (symlink(target.data(), to.c_str()) != 0) refuse(to, errno);
}

void make_folders(const std::string& path) {
  std::error_code trouble;
  std::filesystem::create_directories(path, trouble);
  if (trouble) refuse(path, trouble.value());
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = end;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // What the parent had ignored (nohup) stays so.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace npu::migrate
