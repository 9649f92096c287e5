// SPDX-License-Identifier: Apache-2.0
// copies sync|async|pinned COUNT: bytes go to the device, from there to other device memory, and back, COUNT times.
#include "acl/ops/acl_dvpp.h"
#include "client.h"

namespace {

constexpr size_t kBytes = 1 << 16;

/// Host memory as the way has it: the program's, or the library's, which queued copies may read.
class HostMemory {
 public:
  explicit HostMemory(bool pinned) : own_(pinned ? 0 : kBytes) {
    data_ = own_.data();
    if (pinned) MUST(aclrtMallocHost(&data_, kBytes));
  }
  ~HostMemory() {
    if (own_.empty()) aclrtFreeHost(data_);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  unsigned char* bytes() const { return static_cast<unsigned char*>(data_); }

 private:
  std::vector<char> own_;
  void* data_;
};

void copy(void* to, const void* from, aclrtMemcpyKind kind, aclrtStream stream) {
  if (stream == nullptr)
    MUST(aclrtMemcpy(to, kBytes, from, kBytes, kind));
  else
    MUST(aclrtMemcpyAsync(to, kBytes, from, kBytes, kind, stream));
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc == 3, "copies sync|async|pinned COUNT");
  const std::string way = argv[1];
  const Session session;
  const aclrtStream stream = way == "sync" ? nullptr : session.stream();
  const HostMemory there(way == "pinned"), back(way == "pinned");
  const DeviceMemory first(kBytes), second(kBytes);
  for (int turn = 0; turn < std::atoi(argv[2]); ++turn) {
    for (size_t i = 0; i < kBytes; ++i)
      there.bytes()[i] = static_cast<unsigned char>(i * 7 + static_cast<size_t>(turn));
    copy(first.data(), there.bytes(), ACL_MEMCPY_HOST_TO_DEVICE, stream);
    copy(second.data(), first.data(), ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    copy(back.bytes(), second.data(), ACL_MEMCPY_DEVICE_TO_HOST, stream);
    if (stream != nullptr) MUST(aclrtSynchronizeStream(stream));
    demand(std::equal(there.bytes(), there.bytes() + kBytes, back.bytes()), "other bytes came back");
  }
  std::printf("%s: the same bytes came back\n", way.c_str());
  return 0;
}
