// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/launch.h"

#include <utility>

#include "acl/aclnn/recorded_memory.h"
#include "device/queue/capture.h"
#include "ops/runner/runner.h"
#include "ops/runner/turn.h"

namespace npu::acl {
namespace detail {
// In a queue of the client's own a failure that is told at once would stop the queue and drop what follows.
NPU_SETTING(std::string, task_queue, "TASK_QUEUE_ENABLE", "1",
            "torch-npu's own queue of launches; importing torch_npu sets 0 (off) unless it is set. Without it a kernel "
            "that ran at once and failed says so in the call that launched it, else at the next synchronisation.");
}  // namespace detail

namespace {

/// Set while this thread hands over a kernel: what becomes true when the kernel runs, and fails, meanwhile.
/// Of the thread, as only what runs in the launching thread, before launch returns, can still be told there.
constinit thread_local bool* failed_here = nullptr;

class HandingOver {
 public:
  // Restored afterwards: a kernel that runs at once may itself hand over another one.
  explicit HandingOver(bool& failed) : outer_(std::exchange(failed_here, &failed)) {}
  ~HandingOver() { failed_here = outer_; }
  HandingOver(const HandingOver&) = delete;
  HandingOver& operator=(const HandingOver&) = delete;

 private:
  bool* outer_;
};

void describe(const void* name, device::TaskName& task) { task.node = task.type = static_cast<const char*>(name); }

/// A call within a graph. It runs after the client's objects are gone, so it retains its memory, and shapes that depend
/// on the data cannot be reported.
class RecordedCall {
 public:
  RecordedCall(int device, const char* name, std::unique_ptr<ops::Operator> op)
      : device_(device), name_(name), op_(std::move(op)), shape_(std::make_unique<Tensor>()) {
    memory_.add(*op_);
    ops::for_each_tensor(*op_, [&](Tensor& tensor, const ops::Field&) {
      // A capture outlives the client's objects, so no origin may point at them.
      if (tensor.origin != nullptr) tensor.origin = shape_.get();
    });
  }
  void operator()() {
    memory_.check();
    // No strides are -1: whatever else stands there afterwards was written by the operator.
    shape_->strides = {-1};
    run_on_device(device_, name_, *op_);
    require(shape_->strides == Dims{-1},
            "{} has an output whose shape depends on the data; a graph cannot tell it, call it outside of the capture",
            name_);
  }

 private:
  int device_;
  const char* name_;
  RecordedMemory memory_;
  std::unique_ptr<ops::Operator> op_;
  std::unique_ptr<Tensor> shape_;  // where outputs write their final shapes
};

/// Its failure is that of a collective, with the code of one: it has ended the communicator, not only the task.
void launch_turn(device::Stream& stream, const char* name, std::unique_ptr<ops::Operator> op) {
  ops::TakesTurns& turns = *ops::turns_of(*op);
  turns.queue(stream, name, [op = std::shared_ptr(std::move(op)), name, device = stream.device()] {
    ops::run_on(device, *op, {describe, name, name});
  });
}

}  // namespace

void run_on_device(int device, const char* name, ops::Operator& op) {
  try {
    ops::run_on(device, op, {describe, name, name});
  } catch (const Error& error) {
    if (failed_here != nullptr) *failed_here = true;
    // Clients know one code for work that failed in a stream, whatever went wrong.
    throw Error(Code::kAicoreException, error.message(), error.place());
  }
}

void launch_kernel(device::Stream& stream, device::Task&& task) {
  bool failed = false;
  {
    const HandingOver scope(failed);
    stream.launch(std::move(task));
  }
  // Synchronising raises the failure here, and so takes it out of the stream: it is not told twice.
  if (failed && detail::task_queue() == "0") stream.synchronize();
}

void launch(device::Stream& stream, const char* name, std::unique_ptr<ops::Operator> op) {
  if (ops::turns_of(*op) != nullptr) [[unlikely]]
    return launch_turn(stream, name, std::move(op));
  device::Task task;
  task.name = name;
  task.cost_ns = op->cost();
  if (device::captured(stream)) [[unlikely]] {
    task.body = RecordedCall(stream.device(), name, std::move(op));
  } else {
    task.body = [op = std::move(op), name, device = stream.device()] { run_on_device(device, name, *op); };
  }
  launch_kernel(stream, std::move(task));
}

}  // namespace npu::acl
