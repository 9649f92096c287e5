// SPDX-License-Identifier: Apache-2.0
// Random stream, event and copy operations against a sequential model: whatever may run at the same time, each cell of
// memory must end as if every operation had run in the order the program gave.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/event.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::device {
namespace {

constexpr size_t kStreams = 6;
constexpr size_t kCells = 12;
constexpr size_t kWords = 64;

using Cell = std::array<uint64_t, kWords>;

// Orders the users of a cell across streams the way a client must: by an event after each use.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {
    for (void*& stream : streams_) stream = create_stream();
    for (void*& event : events_) event = create_event(0);
    for (size_t i = 0; i < kCells; ++i) {
      cells_[i] = static_cast<Cell*>(allocate(0, sizeof(Cell)));
      resolved(i)->fill(0);
    }
  }
  ~Machine() {
    for (void* event : events_) destroy_event(event);
    for (void* stream : streams_) destroy_stream(stream);
    for (Cell* cell : cells_) deallocate(cell);
  }

  void step() {
    const size_t on = pick(kStreams);
    switch (pick(12)) {
      case 0: stream(on).synchronize(); break;
      case 1: replace(pick(kCells), on); break;
      case 2: stream(on).query(); break;
      case 3: churn(on); break;
      case 4: synchronize_event(events_[pick(kCells)]); break;
      case 5:
      case 6: copy(pick(kCells), pick(kCells), on); break;
      default: add(pick(kCells), on, random_()); break;
    }
  }

  void check() {
    synchronize_device();
    for (size_t i = 0; i < kCells; ++i) EXPECT_EQ(*resolved(i), model_[i]) << "cell " << i;
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  Stream& stream(size_t i) { return stream_from_handle(streams_[i]); }
  Cell* resolved(size_t i) { return static_cast<Cell*>(resolve(cells_[i], sizeof(Cell))); }
  Task task(auto&& body) {
    constexpr uint32_t kFlags[] = {kTaskKernel, kTaskKernel, kTaskHostCopy, kTaskMayWait};
    const int64_t cost = pick(8) == 0 ? kInlineBound + 1 : 1000;
    return {"stress", cost, kFlags[pick(4)], std::forward<decltype(body)>(body)};
  }
  void acquire(size_t cell, size_t on) { wait_event(stream(on), events_[cell]); }
  void release(size_t cell, size_t on) { record_event(events_[cell], stream(on)); }

  // The order of the two updates matters: (x * 3) + v.
  void add(size_t cell, size_t on, uint64_t value) {
    acquire(cell, on);
    stream(on).launch(task([target = resolved(cell), value] {
      for (uint64_t& word : *target) word = word * 3 + value;
    }));
    release(cell, on);
    for (uint64_t& word : model_[cell]) word = word * 3 + value;
  }
  void copy(size_t to, size_t from, size_t on) {
    acquire(to, on);
    acquire(from, on);
    stream(on).launch(
        task([target = resolved(to), source = resolved(from)] { std::memmove(target, source, sizeof(Cell)); }));
    release(to, on);
    release(from, on);
    model_[to] = model_[from];
  }
  // Frees a cell under queued work and takes new memory for it.
  void replace(size_t cell, size_t on) {
    deallocate(cells_[cell]);
    cells_[cell] = static_cast<Cell*>(allocate(0, sizeof(Cell)));
    stream(on).launch(task([target = resolved(cell)] { target->fill(1); }));
    release(cell, on);
    model_[cell].fill(1);
  }
  void churn(size_t on) {
    for (size_t i = 0; i < kCells; ++i) acquire(i, on);
    destroy_stream(streams_[on]);
    streams_[on] = create_stream();
  }

  std::mt19937 random_;
  std::array<void*, kStreams> streams_{};
  std::array<void*, kCells> events_{};
  std::array<Cell*, kCells> cells_{};
  std::array<Cell, kCells> model_{};
};

class Stress : public testing::TestWithParam<bool> {};

TEST_P(Stress, TenThousandOperationsMatchTheModel) {
  set_device(0);
  detail::inline_kernels.override(GetParam());
  const unsigned seed = 20240607;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Machine machine(seed);
  for (int i = 0; i < 10'000; ++i) {
    machine.step();
    if (i % 1000 == 999) machine.check();
  }
  detail::inline_kernels.override(true);
}

INSTANTIATE_TEST_SUITE_P(Inline, Stress, testing::Bool(), [](const auto& param) { return param.param ? "on" : "off"; });

}  // namespace
}  // namespace npu::device
