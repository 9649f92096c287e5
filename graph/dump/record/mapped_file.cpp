// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace npu::graph::record {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

[[noreturn]] void refuse(const std::string& path) {
  fail(Code::kInvalidFile, "{} cannot be read: {}", path, std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat facts {};
  if (file.number < 0 || fstat(file.number, &facts) != 0) refuse(path);
  if (!S_ISREG(facts.st_mode)) fail(Code::kInvalidFile, "{} is no file: name one dump file here", path);
  if (facts.st_size == 0) return;
  const auto size = static_cast<size_t>(facts.st_size);
  void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (at == MAP_FAILED) refuse(path);
  bytes_ = {static_cast<const std::byte*>(at), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& from) noexcept : bytes_(std::exchange(from.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& from) noexcept {
  std::swap(bytes_, from.bytes_);
  return *this;
}

}  // namespace npu::graph::record
