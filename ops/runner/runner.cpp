// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/runner.h"

#include "device/queue/stream.h"
#include "ops/runner/inside.h"

namespace npu::ops {
namespace {

/// The outputs of one run, with the shapes that the operator tells of them: it writes those that the data decide into
/// the client's tensor, which need not be there any longer when observers ask.
class ToldShapes {
 public:
  explicit ToldShapes(Operator& op) {
    for_each_tensor(op, [&](Tensor& tensor, const Field& field) {
      if (!field.is_result() || !tensor.defined() || tensor.origin == nullptr) return;
      outputs_.push_back({&tensor, tensor.origin, {}});
    });
    for (Told& told : outputs_) {
      told.shape.strides = {kUntold};
      told.output->origin = &told.shape;
    }
  }
  ~ToldShapes() {
    for (const Told& told : outputs_) told.output->origin = told.client;
  }
  ToldShapes(const ToldShapes&) = delete;
  ToldShapes& operator=(const ToldShapes&) = delete;

  /// What was told goes to the client, and into `execution`.
  void pass_on(Execution& execution) {
    for (const Told& told : outputs_) {
      if (told.shape.strides == Dims{kUntold}) continue;
      told.client->shape = told.shape.shape;
      told.client->strides = told.shape.strides;
      for (Seen& seen : execution.outputs) {
        if (seen.tensor.data != told.output->data || seen.tensor.offset != told.output->offset) continue;
        seen.tensor.shape = told.shape.shape;
        seen.tensor.strides = told.shape.strides;
      }
    }
  }

 private:
  static constexpr int64_t kUntold = -1;  // no stride of a tensor
  struct Told {
    Tensor* output;
    Tensor* client;
    Tensor shape;
  };
  std::vector<Told> outputs_;
};

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
  ToldShapes shapes(op);
  op.run();
  shapes.pass_on(execution);
  observation.finished(execution);
}

void detail::run_observed(int device, Operator& op, const Caller& caller) {
  Execution execution = execution_of(device, op, caller);
  Observation observation(execution);
  ToldShapes shapes(op);
  try {
    run_on(device, &op, caller, [&] { op.run(); });
  } catch (const Error& error) {
    execution.parameters = parameters_of(op);
    observation.failed(execution, error);
    throw;
  }
  shapes.pass_on(execution);
  observation.finished(execution);
}

}  // namespace npu::ops
