// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/network/network.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "base/thread_pool.h"

namespace npu::compare {
namespace {

Outcome guarded(const Task& task) {
  try {
    return task.run();
  } catch (const Refusal& reason) {
    Outcome failed{{}, reason.code(), false};
    failed.rows.emplace_back(0, TensorRow{}).second.reason = reason.what();
    return failed;
  } catch (const std::exception& reason) {
    Outcome failed{{}, Exit::kUnknown, false};
    failed.rows.emplace_back(0, TensorRow{}).second.reason = reason.what();
    return failed;
  }
}

}  // namespace

std::vector<Outcome> run_all(const std::vector<Task>& tasks) {
  std::vector<size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return tasks[i].bytes; });
  std::vector<Outcome> found(tasks.size());
  parallel_parts(static_cast<int64_t>(order.size()), [&](int64_t i) {
    const size_t task = order[static_cast<size_t>(i)];
    found[task] = guarded(tasks[task]);
  });
  return found;
}

}  // namespace npu::compare
