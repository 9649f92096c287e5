// SPDX-License-Identifier: Apache-2.0
#include "base/log/file.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace npu {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

constexpr auto kRetry = std::chrono::seconds(1);  // between two tries to open a file
constexpr int kTries = 100;

std::string moment() {
  const auto now = Clock::now();
  const std::time_t seconds = Clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y%m%d%H%M%S}{:03}", local, ms);
}

// Another process that makes room may have taken a file that was not locked yet.
bool still_there(int file) {
  struct stat info {};
  return fstat(file, &info) == 0 && info.st_nlink > 0;
}

}  // namespace

LogFile::LogFile(LogFolder& folder, std::string_view kind, int device)
    : folder_(folder),
      place_(folder.root / kind / (device < 0 ? "plog" : fmt::format("device-{}", device))),
      device_(device),
      buffer_(*new LogBuffer) {
  write_at_crash(buffer_);
}

void LogFile::append(std::string_view line, bool at_once) {
  if (!has_room(line.size())) return lose(1, {}, 0);
  if (at_once && !waits()) return write(line, 1);
  if (buffer_.text == nullptr) buffer_.text = new char[LogBuffer::kCapacity];
  if (buffer_.used + line.size() > LogBuffer::kCapacity) flush();
  const size_t used = buffer_.used.load(std::memory_order_relaxed);
  std::memcpy(buffer_.text + used, line.data(), line.size());
  buffer_.used.store(used + line.size(), std::memory_order_release);
  ++lines_waiting_;
  if (at_once) flush();
}

void LogFile::flush() {
  if (waits()) write({buffer_.text, buffer_.used}, lines_waiting_);
  buffer_.used = 0;
  lines_waiting_ = 0;
}

uint64_t LogFile::take_lost() { return works_ ? std::exchange(lost_, 0) : 0; }

void LogFile::forget() {
  if (const int file = buffer_.file.exchange(-1); file >= 0) ::close(file);
  buffer_.used = 0;
  buffer_.on_disk = 0;
  lines_waiting_ = lost_ = 0;
  files_.clear();
}

bool LogFile::has_room(size_t bytes) {
  const auto fits = [&] { return buffer_.file >= 0 && buffer_.on_disk + buffer_.used + bytes <= folder_.largest_file; };
  if (fits()) return true;
  flush();
  open_next();
  return buffer_.file >= 0 && (fits() || buffer_.on_disk == 0);
}

// A name that is there belongs to somebody: to a process of another container with our number, or to our last file.
int LogFile::open_new(fs::path& path) const {
  for (int tries = 0; tries < kTries; ++tries) {
    path = place_ / fmt::format("{}-{}_{}.log", device_ < 0 ? "plog" : "device", getpid(), moment());
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (file < 0 && errno != EEXIST) return -1;
    if (file >= 0 && (flock(file, LOCK_EX | LOCK_NB), still_there(file))) return file;
    if (file >= 0) ::close(file);
    usleep(1000);
  }
  return -1;
}

void LogFile::open_next() {
  if (!works_ && std::chrono::steady_clock::now() - failed_ < kRetry) return;
  std::error_code ignored;
  fs::create_directories(place_, ignored);
  fs::path path;
  const int file = open_new(path);
  if (file < 0) return lose(0, path, errno);
  if (const int old = buffer_.file.exchange(file); old >= 0) ::close(old);
  buffer_.on_disk = 0;
  works_ = true;
  files_.push_back(path);
  for (; files_.size() > folder_.files_kept; files_.pop_front()) fs::remove(files_.front(), ignored);
  folder_.keep_below_limit();
}

// Whole lines or none: what a full disk took of them is cut off again.
void LogFile::write(std::string_view text, uint64_t lines) {
  ssize_t written = 0;
  do written = ::write(buffer_.file, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) {
    buffer_.on_disk += text.size();
    works_ = true;
    return;
  }
  const int error = written < 0 ? errno : ENOSPC;
  if (written > 0 && ftruncate(buffer_.file, static_cast<off_t>(buffer_.on_disk.load())) != 0)
    buffer_.on_disk += static_cast<size_t>(written);
  lose(lines, files_.empty() ? place_ : files_.back(), error);
}

void LogFile::lose(uint64_t lines, const fs::path& file, int error) {
  lost_ += lines;
  if (error == 0) return;
  works_ = false;
  failed_ = std::chrono::steady_clock::now();
  folder_.complain(file, error);
}

}  // namespace npu
