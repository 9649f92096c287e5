// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace npu::migrate {

constexpr size_t kFewest = 20;  // fewer are done before anybody could read it

Progress::Progress(size_t total) : total_(total), shown_(total >= kFewest && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::step() {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  draw();
}

void Progress::draw() {
  constexpr size_t kWidth = 40;
  const size_t full = kWidth * done_ / total_;
  fmt::print(stderr, "\r[{:=>{}}{: >{}}] {}/{}", "", full, "", kWidth - full, done_, total_);
  std::fflush(stderr);
}

}  // namespace npu::migrate
