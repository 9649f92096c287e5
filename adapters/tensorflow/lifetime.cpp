// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/lifetime.h"

#include <pthread.h>

#include <atomic>
#include <thread>

#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/input/channel.h"

namespace npu::tensorflow {
namespace {

std::atomic<bool> forked{false}, ending{false};
std::atomic<int> running{0};

}  // namespace

void watch_forks() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)watched;
}

void require_own_process() {
  if (forked)
    throw Failure(TF_FAILED_PRECONDITION,
                  "this process was forked after npu.open(), and the NPU stayed with its parent; start workers with "
                  "multiprocessing.get_context('spawn'), or open the NPU after forking");
}

RunningCall::RunningCall() {
  ++running;
  if (!ending) return;
  --running;
  throw Failure(TF_CANCELLED, "the process is ending; join the threads that use the NPU before it does");
}

RunningCall::~RunningCall() { --running; }

bool end_calls(std::chrono::milliseconds patience) {
  ending = true;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (running > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return running == 0;
}

}  // namespace npu::tensorflow

int anynpu_tensorflow_close(int ending) {
  using namespace npu::tensorflow;  // NOLINT
  if (forked) return 1;
  const auto start = std::chrono::steady_clock::now();
  constexpr auto kPatience = std::chrono::milliseconds(10'000);
  const bool channels = Channel::close_all(kPatience, ending != 0);
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  return (ending == 0 || end_calls(kPatience - spent)) && channels ? 1 : 0;
}
