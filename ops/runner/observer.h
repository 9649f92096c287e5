// SPDX-License-Identifier: Apache-2.0
// Who sees tasks run: dumps, statistics, checks of results. An observer sees each task before and after it runs, on the
// thread that runs it; it reads and changes nothing. Without observers a task costs one load more.
//
// The records of profiles are a case of their own: times mean something only where little is done beside the tasks. A
// TaskWriter hears of a task once, when it has run, and an operator is shown to it as it is: nothing of an Execution is
// put together but for observers.
//
// Where tasks come from they are shown: operators in streams (run_on, runner.h), nodes of graphs (graph/run), the calls
// of collectives (comm/collective). A task that only arranges what others compute (a loop, a branch) is not shown; the
// nodes inside are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/operator.h"
#include "ops/runner/overflow.h"
#include "ops/runner/reading.h"
#include "ops/vector/loop/told_shape.h"

namespace npu::ops {

/// A tensor that a task reads or writes.
struct Seen {
  std::string_view field;  ///< the operator's name for it; "" of a graph's node, which counts them
  Tensor tensor;
};

/// What an operator was given beside tensors, by the names of its fields.
using Parameters = std::vector<std::pair<std::string, std::string>>;
Parameters parameters_of(Operator& op);

/// What a fused node stands for: the operators of its parts, which nobody has prepared or runs. The `data` of their
/// tensors is the number of a place and no address; `given` and `results` say which place is which memory.
struct Parts {
  struct Place {
    Tensor place, memory;
  };
  std::vector<std::unique_ptr<Operator>> operators;  ///< in order
  std::vector<Place> given, results;
};

/// Of a collective: who meets.
struct Meeting {
  std::string group;      ///< the communicator's name
  uint32_t number = 0;    ///< of its collectives, the same on all ranks; of messages, how many came before
  int64_t waited_ns = 0;  ///< for other ranks; known once it has run, while the process is profiled
};

/// A task that runs.
struct Execution {
  device::TaskName name;
  std::vector<std::string> origins;  ///< the client's nodes that a fused one stands for
  std::string graph;                 ///< the one that runs, as its dumped text is called; "" outside of graphs
  int64_t step = 0;                  ///< of that graph, from 0: a run of it, or a turn of the loop in it that trains
  int device = 0;
  int32_t stream = 0;   ///< 0 where it runs in no stream: a graph, in the thread that asked for it
  uint64_t number = 0;  ///< of the task in its stream; of the node in its graph, from 1
  int64_t cost_ns = 0;  ///< the operator's own estimate, 0 without one
  std::vector<Seen> inputs;
  std::vector<double> numbers;  ///< host numbers of floating types that the client gave; none of a graph's node
  std::vector<Seen> outputs;    ///< before it runs their elements mean nothing, nor does a shape that the data decide

  Meeting meeting = {};               ///< of a collective
  Operator* op = nullptr;             ///< what runs, with its parameters; null of a graph's node, and of a collective
  const Execution* within = nullptr;  ///< the node that runs it; for observers that look inside
  std::function<Parts()> parts = {};  ///< of a fused node; raises the reason where its parts are no operators

  // Known once it has run.
  bool computes = true;  ///< false where it only moves elements: what is infinite in its results was so before
  std::vector<FoundOverflow> overflows = {};  ///< on a device that saturates
  Parameters parameters = {};                 ///< where it failed
};

/// Whether it moves or sums data of several ranks; such tasks are named so where they are shown (comm/collective).
inline bool is_collective(std::string_view type) { return type.starts_with("Hcom"); }
inline bool is_collective(const Execution& execution) { return is_collective(execution.name.type); }

/// What an observer keeps of one task while that runs.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void finished(const Execution& /*execution*/) {}
  virtual void failed(const Execution& /*execution*/, const Error& /*error*/) {}
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the task runs; null when it is of no interest. Must neither throw nor run tasks, and may be called from
  /// several threads at once, as finished() and failed() may.
  virtual std::unique_ptr<Watch> start(const Execution& execution) = 0;
  /// Whether it sees the operators inside of a graph's node too, between the start and the end of the node.
  virtual bool looks_inside() const { return false; }
};

/// An operator that has run, or failed, in a stream.
struct RanOperator {
  Operator& op;
  /// The call, which is the type, too. Lives as long as the process, so that who writes down need not look at it twice.
  const char* call;
  int device;
  int64_t start;             ///< by the clock of records (device/trace)
  const ToldShapes& shapes;  ///< of outputs, where the data decide them
};

/// The same of a graph's node.
struct RanNode {
  std::string_view name, type, graph;
  int64_t step;
  int device;
  uint64_t number;
  int64_t start;
  Reading& reading;
};

/// Must not throw, and may be called from several threads at once.
class TaskWriter {
 public:
  virtual ~TaskWriter() = default;
  virtual void write(const RanOperator& ran) = 0;
  virtual void write(const RanNode& ran) = 0;
  /// A collective; a graph's node where observers look on, too.
  virtual void write(const Execution& execution, int64_t start) = 0;
};

/// From now on `observer` sees all tasks of the process; those that run already it does not.
void add_observer(std::shared_ptr<Observer> observer);
/// Ends it. Tasks that it has seen start are shown to the end, so it may be called for a moment longer.
void remove_observer(const Observer& observer);
/// From now on, null for nobody. Lives as long as the process.
void set_task_writer(TaskWriter* writer);

namespace detail {
extern std::atomic<int32_t> onlookers;  // observers, and the writer
extern std::atomic<int32_t> observers;
extern std::atomic<TaskWriter*> writer;
}  // namespace detail
/// Whether anybody looks on.
inline bool observed() { return detail::onlookers.load(std::memory_order_relaxed) != 0; }

/// Who writes down while nobody else looks on; null otherwise.
inline TaskWriter* only_writer() {
  return detail::observers.load(std::memory_order_relaxed) == 0 ? detail::writer.load() : nullptr;
}

/// One task in the eyes of all observers, of the thread that makes it, and written down where it is no operator. Its
/// maker calls finished() or failed(), at most one of them, with the same `execution`, which gets the overflows that
/// happen meanwhile.
class Observation {
 public:
  explicit Observation(Execution& execution);
  void finished(const Execution& execution);
  void failed(const Execution& execution, const Error& error);

 private:
  std::vector<std::shared_ptr<Observer>> observers_;  ///< kept while it runs
  std::vector<std::unique_ptr<Watch>> watches_;
  OverflowWitness witness_;
  TaskWriter* const writer_;  ///< null for an operator: its runner has it written down
  const int64_t start_;
};

/// Whether an operator reads what is in a field, before it writes it or without.
inline bool reads(const Field& field) { return field.role != FieldRole::kOut && field.role != FieldRole::kOptionalOut; }
/// Tensors that were left out, and those of a phase 1 without addresses, are not shown.
inline bool has_memory(const Tensor& tensor) {
  return tensor.defined() && (tensor.data != nullptr || tensor.count() == 0);
}
/// Whether anybody looks inside of nodes.
bool observed_inside();
/// The tensors of an operator that have memory; of a list of calls, those of all members.
void see_tensors(Operator& op, Execution& execution);
/// Its host numbers.
void see_numbers(Operator& op, Execution& execution);

}  // namespace npu::ops
