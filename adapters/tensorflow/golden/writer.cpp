// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

namespace npu::tensorflow::golden {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(std::string path, int flags)
      : path_(std::move(path)), fd_(open(path_.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0640)) {
    check(fd_);
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
      const ssize_t done = ::write(fd_, at, bytes);
      if (done < 0 && errno == EINTR) continue;
      check(done);
      at += done, bytes -= static_cast<size_t>(done);
    }
  }

 private:
  void check(ssize_t result) const {
    if (result < 0) throw std::system_error(errno, std::generic_category(), path_);
  }
  const std::string path_;
  const int fd_;
};

void write(const File& file) {
  const fs::path folder(file.folder);
  fs::create_directories(folder);
  const fs::path part = folder / ("." + file.name.file.substr(0, 200) + ".part");
  try {
    Descriptor out(part, O_TRUNC);
    out.write(file.head.data(), file.head.size());
    out.write(file.elements.get(), file.bytes);
  } catch (...) {
    unlink(part.c_str());
    throw;
  }
  fs::rename(part, folder / file.name.file);
  // One write of a line: two processes that share a folder do not mix theirs.
  if (!file.name.listed.empty())
    Descriptor(folder / "mapping.csv", O_APPEND).write(file.name.listed.data(), file.name.listed.size());
}

}  // namespace

Writer::~Writer() {
  drain();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Writer::start() {
  constexpr unsigned kMost = 4;
  sigset_t all, before;  // signals are for the client's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, kMost); ++i)
    threads_.emplace_back([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Writer::put(File file) {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return failed_ || bytes_ == 0 || bytes_ + file.bytes <= kMostBytes; });
  if (failed_) return;
  if (threads_.empty()) start();
  bytes_ += file.bytes;
  waiting_.push_back(std::move(file));
  more_.notify_one();
}

void Writer::drain() {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [this] { return waiting_.empty() && busy_ == 0; });
}

bool Writer::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void Writer::work() {
  pthread_setname_np(pthread_self(), "tfdbg-write");
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    File file = std::move(waiting_.front());
    waiting_.pop_front();
    ++busy_;
    lock.unlock();
    std::string reason;
    try {
      write(file);
    } catch (const std::exception& e) {
      reason = e.what();
    }
    const size_t bytes = file.bytes;
    file = {};
    lock.lock();
    bytes_ -= bytes;
    if (!reason.empty()) give_up(lock, reason);
    --busy_;
    less_.notify_all();
  }
}

void Writer::give_up(std::unique_lock<std::mutex>& lock, const std::string& reason) {
  const bool first = !failed_;
  failed_ = true;
  for (const File& dropped : waiting_) bytes_ -= dropped.bytes;
  waiting_.clear();
  if (!first) return;
  lock.unlock();
  tell_(reason);
  lock.lock();
}

}  // namespace npu::tensorflow::golden
