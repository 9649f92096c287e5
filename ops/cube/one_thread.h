// SPDX-License-Identifier: Apache-2.0
// oneDNN starts a team of OpenMP threads unless the calling thread's limit is 1. The limit belongs to the thread, and
// kernels also run in threads of the client (torch uses the same libgomp), so it is put back.
#pragma once

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int);
}

namespace npu::ops::cube {

class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }

 private:
  const int before_;
};

}  // namespace npu::ops::cube
