// SPDX-License-Identifier: Apache-2.0
// Signals of the process are for its own threads. A thread that is started while one of these lives takes none.
#pragma once

#include <pthread.h>

#include <csignal>

namespace npu {

class MaskedSignals {
 public:
  MaskedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~MaskedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  MaskedSignals(const MaskedSignals&) = delete;
  MaskedSignals& operator=(const MaskedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace npu
