// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/event.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

void BM_InlineLaunch(benchmark::State& state) {
  set_device(0);
  void* handle = create_stream();
  int64_t sum = 0;
  for ([[maybe_unused]] auto _ : state)
    stream_from_handle(handle).launch({"add", 1000, kTaskKernel, [&sum] { ++sum; }});
  benchmark::DoNotOptimize(sum);
  destroy_stream(handle);
}
BENCHMARK(BM_InlineLaunch);

void BM_QueuedLaunch(benchmark::State& state) {
  set_device(0);
  void* handle = create_stream();
  int64_t sum = 0;
  for ([[maybe_unused]] auto _ : state) stream_from_handle(handle).launch({"add", 0, kTaskHostCopy, [&sum] { ++sum; }});
  stream_from_handle(handle).synchronize();
  destroy_stream(handle);
}
BENCHMARK(BM_QueuedLaunch);

void BM_SynchronizeIdle(benchmark::State& state) {
  set_device(0);
  for ([[maybe_unused]] auto _ : state) stream_from_handle(nullptr).synchronize();
}
BENCHMARK(BM_SynchronizeIdle);

void BM_RecordAndWait(benchmark::State& state) {
  set_device(0);
  void* first = create_stream();
  void* second = create_stream();
  void* event = create_event(0);
  for ([[maybe_unused]] auto _ : state) {
    record_event(event, stream_from_handle(first));
    wait_event(stream_from_handle(second), event);
  }
  destroy_event(event);
  destroy_stream(first);
  destroy_stream(second);
}
BENCHMARK(BM_RecordAndWait);

void BM_SetDevice(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) set_device(0);
}
BENCHMARK(BM_SetDevice);

void BM_AllocateAndFree(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) deallocate(allocate(0, 1 << 20));
}
BENCHMARK(BM_AllocateAndFree);

void BM_CheckLive(benchmark::State& state) {
  void* blocks[3];
  for (void*& block : blocks) block = allocate(0, 2 << 20);
  for ([[maybe_unused]] auto _ : state) {
    for (void* block : blocks) check_live(block, 1000, 0);
  }
  for (void* block : blocks) deallocate(block);
  state.SetItemsProcessed(state.iterations() * 3);
}
BENCHMARK(BM_CheckLive);

}  // namespace
}  // namespace npu::device
