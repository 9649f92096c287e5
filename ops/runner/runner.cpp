// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/runner.h"

#include "device/queue/stream.h"
#include "device/trace/recorder.h"
#include "ops/runner/inside.h"

namespace npu::ops {
namespace {

/// What was told of outputs, for `execution`.
void correct_outputs(const ToldShapes& shapes, Execution& execution) {
  for (Seen& seen : execution.outputs) shapes.correct(seen.tensor);
}

int64_t start_of_operator() {
  const device::trace::TaskScope* const task = device::trace::TaskScope::current();
  return task != nullptr ? task->start_of_operator() : device::trace::now();
}

/// Has an operator written down at the end of the scope, whether it failed or not.
class Written {
 public:
  Written(int device, Operator& op, const Caller& caller, const ToldShapes& shapes)
      : writer_(caller.call == nullptr ? nullptr : detail::writer.load()),
        ran_{op, caller.call, device, writer_ == nullptr ? 0 : start_of_operator(), shapes} {}
  ~Written() {
    if (writer_ != nullptr) writer_->write(ran_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

 private:
  TaskWriter* const writer_;
  const RanOperator ran_;
};

void run_written(int device, Operator& op, const Caller& caller, const ToldShapes& shapes) {
  const Written written(device, op, caller, shapes);
  run_on(device, &op, caller, [&] { op.run(); });
}

Execution execution_of(int device, Operator& op, const Caller& caller) {
  Execution execution;
  caller.describe(caller.context, execution.name);
  execution.device = device;
  if (const device::Stream* stream = device::Stream::running()) {
    execution.stream = stream->id();
    execution.number = stream->running_number();
  }
  execution.cost_ns = op.cost();
  execution.op = &op;
  execution.computes = may_overflow(op);
  see_tensors(op, execution);
  see_numbers(op, execution);
  return execution;
}

}  // namespace

void InsideScope::run(Operator& op) {
  const Execution* const node = current_->node_;
  const InsideScope closed(nullptr);
  Execution execution;
  execution.name = node->name, execution.device = node->device;
  execution.op = &op, execution.within = node;
  see_tensors(op, execution);
  Observation observation(execution);
  const ToldShapes shapes;
  op.run();
  correct_outputs(shapes, execution);
  observation.finished(execution);
}

void detail::run_observed(int device, Operator& op, const Caller& caller) {
  const ToldShapes shapes;
  if (observers.load(std::memory_order_relaxed) == 0) return run_written(device, op, caller, shapes);
  Execution execution = execution_of(device, op, caller);
  Observation observation(execution);
  try {
    run_written(device, op, caller, shapes);
  } catch (const Error& error) {
    execution.parameters = parameters_of(op);
    observation.failed(execution, error);
    throw;
  }
  correct_outputs(shapes, execution);
  observation.finished(execution);
}

}  // namespace npu::ops
