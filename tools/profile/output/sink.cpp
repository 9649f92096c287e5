// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/output/sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace npu::profile {

Sink::Sink(const std::filesystem::path& path)
    : draft_(path), file_(open(draft_.part().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_ < 0) cannot_write(path, errno);
  buffer_.reserve(2 * kPiece);
}

Sink::~Sink() {
  if (file_ >= 0) ::close(file_);
}

Sink& Sink::microseconds(int64_t nanoseconds) {
  const int64_t whole = nanoseconds / 1000, rest = std::abs(nanoseconds % 1000);
  const fmt::format_int digits(whole);
  const char tail[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                       static_cast<char>('0' + rest % 10)};
  buffer_.append(digits.data(), digits.data() + digits.size());
  return *this << std::string_view(tail, sizeof tail);
}

void Sink::drain() {
  for (size_t at = 0; at < buffer_.size();) {
    const ssize_t written = write(file_, buffer_.data() + at, buffer_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(draft_.path(), errno);
    at += static_cast<size_t>(written);
  }
  buffer_.clear();
}

void Sink::close() {
  drain();
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) cannot_write(draft_.path(), errno);
}

}  // namespace npu::profile
