// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/face/listing.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace npu::profile {

Listing::Listing(const std::filesystem::path& folder) : watch_(inotify_init1(IN_CLOEXEC)) {
  if (watch_ >= 0) inotify_add_watch(watch_, folder.c_str(), IN_ACCESS | IN_ONLYDIR);
}

Listing::~Listing() {
  if (watch_ >= 0) close(watch_);
}

bool Listing::wait(int milliseconds) const {
  pollfd one{watch_, POLLIN, 0};
  return watch_ >= 0 && poll(&one, 1, milliseconds) > 0;
}

}  // namespace npu::profile
