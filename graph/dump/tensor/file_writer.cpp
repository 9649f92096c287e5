// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/file_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/masked_signals.h"
#include "graph/dump/record/mapping.h"
#include "graph/dump/tensor/file_receiver.h"

namespace npu::graph {
namespace {

constexpr int kNice = 10;

class File {
 public:
  File(const std::string& path, int flags) : path_(path), fd_(open(path.c_str(), flags | O_CLOEXEC, 0640)) {
    check(fd_);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
      const ssize_t done = ::write(fd_, at, bytes);
      if (done < 0 && errno == EINTR) continue;
      check(static_cast<int>(done < 0 ? -1 : 0));
      at += done, bytes -= static_cast<size_t>(done);
    }
  }

 private:
  void check(int result) const {
    if (result < 0) throw std::system_error(errno, std::generic_category(), path_);
  }
  const std::string path_;
  const int fd_;
};

void write_part(const std::filesystem::path& folder, const std::string& part, const FileContent& content) {
  if (access(folder.c_str(), F_OK) != 0) std::filesystem::create_directories(folder);
  File file(part, O_WRONLY | O_CREAT | O_TRUNC);
  file.write(content.head.data(), content.head.size());
  for (const Blob& blob : content.blobs) file.write(blob.bytes.get(), blob.size);
}

}  // namespace

FileWriter::~FileWriter() {
  drain();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
  free_kept_blobs();
}

void FileWriter::put(FileContent content) {
  const size_t bytes = content.bytes();
  std::unique_lock lock(mutex_);
  less_.wait(lock, [&] { return failed_ || bytes_ == 0 || bytes_ + bytes <= kMostBytes; });
  if (failed_) return;
  if (!thread_.joinable()) {
    const MaskedSignals masked;
    thread_ = std::thread([this] { work(); });
  }
  bytes_ += bytes;
  waiting_.push_back(std::move(content));
  more_.notify_one();
}

void FileWriter::drain() {
  std::unique_lock lock(mutex_);
  less_.wait(lock, [this] { return waiting_.empty() && !writing_; });
}

bool FileWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void FileWriter::work() {
  pthread_setname_np(pthread_self(), "npu-dump");
  // Those who compute come first; where they wait for room, their cores are free.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    FileContent content = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    lock.unlock();
    std::string error;
    try {
      write(content);
    } catch (const std::exception& e) {
      error = e.what();
    }
    const size_t bytes = content.bytes();
    content = {};
    lock.lock();
    bytes_ -= bytes;
    if (!error.empty()) {
      failed_ = true;
      for (const FileContent& dropped : waiting_) bytes_ -= dropped.bytes();
      waiting_.clear();
      lock.unlock();
      fail_(error);
      lock.lock();
    }
    writing_ = false;
    less_.notify_all();
  }
}

void FileWriter::write(const FileContent& content) {
  if (hand_over(content)) return;
  const std::filesystem::path folder(content.folder);
  // Readers, and those who look after a crash, never meet half a file under the name of a whole one.
  const std::string part = (folder / fmt::format(".{}.part", content.name.substr(0, 200))).string();
  try {
    write_part(folder, part, content);
    // Before the file has its name, which tells nothing without the line. One write of a line: two processes that
    // share a folder do not mix theirs.
    if (!content.listed.empty())
      File((folder / record::kMappingFile).string(), O_WRONLY | O_CREAT | O_APPEND)
          .write(content.listed.data(), content.listed.size());
    std::filesystem::rename(part, folder / content.name);
  } catch (const std::exception&) {
    unlink(part.c_str());
    throw;
  }
}

}  // namespace npu::graph
