// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/nonfinite.h"

#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "graph/dump/tensor/statistics.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

/// Elements that are not finite.
struct Count {
  int64_t infinities = 0, nans = 0;

  void add(const Tensor& tensor) {
    const auto all = statistics_if_not_finite(tensor);
    if (!all) return;
    infinities += all->infinities();
    nans += all->nans;
  }
  void add(double number) {
    infinities += std::isinf(number) ? 1 : 0;
    nans += std::isnan(number) ? 1 : 0;
  }
};

/// What a task is given is looked at before it runs: it may write there.
Count given_to(const ops::Execution& execution) {
  Count count;
  for (const ops::Seen& input : execution.inputs) count.add(input.tensor);
  for (const double number : execution.numbers) count.add(number);
  return count;
}

class Watcher final : public ops::Observer {
 public:
  explicit Watcher(std::function<void(const NonFinite&)> tell) : tell_(std::move(tell)) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override {
    if (ops::is_collective(execution) || execution.outputs.empty()) return nullptr;
    return std::make_unique<Task>(*this, execution);
  }

 private:
  class Task final : public ops::Watch {
   public:
    Task(const Watcher& watcher, const ops::Execution& execution) : watcher_(watcher), given_(given_to(execution)) {}

    void finished(const ops::Execution& execution) override {
      if (given_.nans > 0) return;
      for (const ops::Seen& output : execution.outputs) {
        Count made;
        made.add(output.tensor);
        if (made.nans > 0 || (made.infinities > 0 && given_.infinities == 0))
          return watcher_.tell_(described(execution, output, made));
      }
    }

   private:
    NonFinite described(const ops::Execution& execution, const ops::Seen& output, const Count& made) const {
      NonFinite found;
      static_cast<device::TaskName&>(found) = execution.name;
      found.origins = execution.origins;
      found.device = execution.device;
      found.graph = execution.graph, found.step = execution.step;
      found.output = output.field;
      found.dtype = output.tensor.dtype, found.shape = output.tensor.shape;
      found.infinities = made.infinities, found.nans = made.nans;
      found.of_infinities = given_.infinities > 0;
      return found;
    }

    const Watcher& watcher_;
    const Count given_;
  };

  const std::function<void(const NonFinite&)> tell_;
};

std::string counted(const NonFinite& found) {
  const std::string infinities =
      fmt::format("{} {}", found.infinities, found.infinities == 1 ? "infinity" : "infinities");
  if (found.nans == 0) return infinities;
  return found.infinities == 0 ? fmt::format("{} NaN", found.nans)
                               : fmt::format("{} and {} NaN", infinities, found.nans);
}

}  // namespace

void watch_nonfinite(std::function<void(const NonFinite&)> watch) {
  // Never destroyed: streams run tasks until the process is gone.
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<Watcher>& current = *new std::shared_ptr<Watcher>;
  const std::lock_guard lock(mutex);
  if (current) ops::remove_observer(*current);
  current = watch ? std::make_shared<Watcher>(std::move(watch)) : nullptr;
  if (current) ops::add_observer(current);
}

std::string to_string(const NonFinite& found) {
  // A call alone has one name.
  std::string who = found.type;
  if (found.node != found.type) who += fmt::format(" node '{}'", found.node);
  if (found.origins.size() > 1) who += fmt::format(" ({})", fmt::join(found.origins, ", "));
  if (!found.function.empty()) who += " of " + found.function;
  if (!found.graph.empty()) who += fmt::format(" in step {}", found.step);
  return fmt::format("{} made {} of {} inputs: output {}{}{}[{}]", who, counted(found),
                     found.of_infinities ? "infinite" : "finite", found.output, found.output.empty() ? "" : " ",
                     name_of(found.dtype), fmt::join(found.shape.begin(), found.shape.end(), "x"));
}

}  // namespace npu::graph
