// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/file_receiver.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "graph/dump/record/mapping.h"

namespace npu::graph {
namespace {

struct Receiving {
  std::mutex mutex;
  FileReceiver receiver;
};

// Never destroyed: files are written until the process is gone.
Receiving& receiving() {
  static Receiving& instance = *new Receiving;
  return instance;
}

thread_local bool inside = false;

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Hands the pieces of a file over, and tells with the last one that it is the last.
class Parts {
 public:
  Parts(const FileReceiver& receiver, std::string path, size_t bytes)
      : receiver_(receiver), path_(std::move(path)), bytes_(bytes) {}

  void give(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const auto part = piece.first(std::min(piece.size(), kMostPartBytes));
      piece = piece.subspan(part.size());
      const size_t offset = given_;
      given_ += part.size();
      receiver_({path_, part, static_cast<int64_t>(offset), given_ == bytes_});
    }
  }

 private:
  const FileReceiver& receiver_;
  const std::string path_;
  const size_t bytes_;
  size_t given_ = 0;
};

}  // namespace

void receive_files(FileReceiver receiver) {
  const std::lock_guard lock(receiving().mutex);
  receiving().receiver = std::move(receiver);
}

bool files_are_received() {
  const std::lock_guard lock(receiving().mutex);
  return static_cast<bool>(receiving().receiver);
}

bool inside_receiver() { return inside; }

bool hand_over(const FileContent& content) {
  const std::lock_guard lock(receiving().mutex);
  const FileReceiver& receiver = receiving().receiver;
  if (!receiver) return false;
  const Inside here;
  if (!content.listed.empty())
    receiver({fmt::format("{}/{}", content.folder, record::kMappingFile), std::as_bytes(std::span(content.listed)),
              kAppended, true});
  Parts parts(receiver, fmt::format("{}/{}", content.folder, content.name), content.bytes());
  parts.give(std::as_bytes(std::span(content.head)));
  for (const Blob& blob : content.blobs) parts.give({blob.bytes.get(), blob.size});
  return true;
}

}  // namespace npu::graph
