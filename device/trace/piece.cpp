// SPDX-License-Identifier: Apache-2.0
#include "device/trace/piece.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace npu::device::trace {

PieceFile::~PieceFile() {
  if (file_ >= 0) close(file_);
}

void PieceFile::refuse(int error) const { fail(Code::kRtInternal, "{}: {}", path_, std::strerror(error)); }

Piece PieceFile::next() {
  if (file_ < 0) file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (file_ < 0) refuse(errno);
  // Room is taken now: writing to a mapped page for which the disk has none would kill the process.
  if (const int error = posix_fallocate(file_, size_, kPieceBytes); error != 0) refuse(error);
  void* at = mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, size_);
  if (at == MAP_FAILED) refuse(errno);
  size_ += static_cast<off_t>(kPieceBytes);
  return {static_cast<std::byte*>(at), [](std::byte* piece) { munmap(piece, kPieceBytes); }};
}

}  // namespace npu::device::trace
