// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/output/sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace npu::profile {

Sink::Sink(const std::filesystem::path& path)
    : draft_(path),
      file_(open(draft_.part().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      piece_(std::make_unique_for_overwrite<char[]>(kPiece)) {
  if (file_ < 0) cannot_write(path, errno);
}

Sink::~Sink() {
  if (file_ >= 0) ::close(file_);
}

Sink& Sink::large(std::string_view text) {
  write_out({piece_.get(), std::exchange(size_, 0)});
  if (text.size() <= kPiece) return *this << text;
  write_out(text);
  return *this;
}

void Sink::write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(draft_.path(), errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void Sink::close() {
  write_out({piece_.get(), std::exchange(size_, 0)});
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0) cannot_write(draft_.path(), errno);
}

}  // namespace npu::profile
