// SPDX-License-Identifier: Apache-2.0
#include "device/trace/piece.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace npu::device::trace {
namespace {
constinit std::array<std::byte, kPieceBytes> zeros{};  // not constant, which would be so many bytes of the library
}

PieceFile::~PieceFile() {
  if (file_ >= 0) close(file_);
}

void PieceFile::refuse(int error) const { fail(Code::kInvalidParam, "{}: {}", path_, std::strerror(error)); }

// Writing to a mapped page for which the disk has no room would kill the process. Pages that a call has written are the
// cheaper ones, too: what is only reserved costs a thread a hundred of its records at the first touch of each page.
void PieceFile::clear() const {
  for (size_t done = 0; done < kPieceBytes;) {
    const ssize_t written = pwrite(file_, zeros.data() + done, kPieceBytes - done, size_ + static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) refuse(errno);
    done += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
}

Piece PieceFile::next() {
  if (file_ < 0) file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (file_ < 0) refuse(errno);
  clear();
  void* at = mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, size_);
  if (at == MAP_FAILED) refuse(errno);
  size_ += static_cast<off_t>(kPieceBytes);
  return {static_cast<std::byte*>(at), [](std::byte* piece) { munmap(piece, kPieceBytes); }};
}

}  // namespace npu::device::trace
