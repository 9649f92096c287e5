// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace npu {

std::optional<std::string> whole_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  constexpr size_t kAtOnce = size_t{64} << 10;
  std::string text;
  ssize_t got = 0;
  do {
    const size_t had = text.size();
    text.resize(had + kAtOnce);
    do got = read(fd, text.data() + had, kAtOnce);
    while (got < 0 && errno == EINTR);
    text.resize(had + static_cast<size_t>(got > 0 ? got : 0));
  } while (got > 0);
  const int reason = errno;
  close(fd);
  errno = reason;
  return got < 0 ? std::nullopt : std::optional(std::move(text));
}

}  // namespace npu
