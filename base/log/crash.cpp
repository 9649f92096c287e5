// SPDX-License-Identifier: Apache-2.0
#include "base/log/crash.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace npu {
namespace {

constexpr std::array kFatal{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int64_t kLockMs = 50;  // the owner may be the one that is stuck

std::array<std::atomic<LogBuffer*>, 256> buffers{};
std::atomic<size_t> buffer_count{0};
std::array<struct sigaction, kFatal.size()> before{};
std::atomic<LogLock*> watched{nullptr};

void write_out(LogBuffer& buffer) {
  const size_t used = buffer.used.load(std::memory_order_acquire);
  const int file = buffer.file.load();
  if (used == 0 || file < 0) return;
  const ssize_t written = ::write(file, buffer.text, used);
  if (written > 0) buffer.on_disk.fetch_add(static_cast<size_t>(written));
  buffer.used.store(0);
}

void write_all() {
  LogLock& lock = *watched.load();
  const auto self = static_cast<int32_t>(syscall(SYS_gettid));
  const bool mine = lock.is_of(self);  // the fault is in the log itself, or in a handler of ours
  const bool taken = !mine && lock.try_lock_for(kLockMs, self);
  for (size_t i = 0, count = std::min(buffer_count.load(), buffers.size()); i < count; ++i)
    if (LogBuffer* buffer = buffers[i].load()) write_out(*buffer);
  if (taken) lock.unlock();
}

// As if the handler before ours had been called by the system. The default one ends the process: it is put back, and
// the fault happens again when we return; a signal that somebody sent is sent once more.
void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& old = before[static_cast<size_t>(std::ranges::find(kFatal, number) - kFatal.begin())];
  if ((old.sa_flags & SA_SIGINFO) != 0) return old.sa_sigaction(number, info, context);
  if (old.sa_handler != SIG_DFL) return old.sa_handler(number);
  sigaction(number, &old, nullptr);
  if (info->si_code <= 0) raise(number);
}

void on_fatal(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  write_all();
  errno = kept;
  pass_on(number, info, context);
}

}  // namespace

void write_at_crash(LogBuffer& buffer) {
  const size_t at = buffer_count.fetch_add(1);
  if (at < buffers.size()) buffers[at].store(&buffer);
}

void watch_crashes(LogLock& lock) {
  if (watched.exchange(&lock) != nullptr) return;
  for (size_t i = 0; i < kFatal.size(); ++i) {
    if (sigaction(kFatal[i], nullptr, &before[i]) != 0) continue;
    if ((before[i].sa_flags & SA_SIGINFO) == 0 && before[i].sa_handler == SIG_IGN) continue;
    struct sigaction ours {};
    ours.sa_sigaction = on_fatal;
    ours.sa_mask = before[i].sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before[i].sa_flags & (SA_NODEFER | SA_RESTART));
    sigaction(kFatal[i], &ours, nullptr);
  }
}

}  // namespace npu
