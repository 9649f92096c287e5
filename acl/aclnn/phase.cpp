// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/phase.h"

#include "acl/aclnn/argument_check.h"
#include "acl/aclnn/assign.h"
#include "acl/aclnn/foreach.h"
#include "acl/aclnn/launch.h"
#include "acl/aclnn/memory_check.h"
#include "acl/error_state.h"
#include "base/log.h"
#include "device/context/context.h"
#include "device/process/soc.h"
#include "device/queue/stream.h"
#include "device/trace/recorder.h"
#include "ops/soc_type.h"
#include "ops/vector/conversion/convert.h"

namespace npu::acl {
namespace {

using ops::FieldKind;

[[noreturn]] void refuse_null(const Step& step, const Parameter& p, const ops::OperatorDef& def) {
  fail(Code::kNnNullPointer, "{} is null: {} {}; pass {} {}", p.name, def.name,
       p.mark == Mark::kRead ? "reads it" : "writes it", step.kind == Word::kIntArray ? "an" : "a",
       name_of(step.field->kind));
}

/// The 0-dim view of element `index`.
/// A member's number as a tensor of its own, by the same memory: values may be on the device and change until it runs.
void narrow(Tensor& tensor, size_t index, const char* name) {
  require(tensor.rank() <= 1 && static_cast<int64_t>(index) < tensor.count(),
          "{} is {}; it needs one number per member", name, tensor);
  if (tensor.rank() == 1) tensor.offset += static_cast<int64_t>(index) * tensor.strides[0];
  tensor.shape.resize(0);
  tensor.strides.resize(0);
}

/// One call being built. Remembers what phase 2 has to know about the tensors.
class Builder {
 public:
  Builder(const Row& row, const Plan& plan, std::span<const Argument> arguments)
      : row_(row), plan_(plan), arguments_(arguments) {}

  std::unique_ptr<ops::Operator> build() {
    if (plan_.has_value_rules) check_values(row_, arguments_);
    if (!plan_.foreach) return build_one(0);
    auto all = std::make_unique<Foreach>(*plan_.def);
    const size_t count = foreach_count();
    for (size_t i = 0; i < count; ++i) all->add(build_one(i));
    return all;
  }
  const char* unaddressed() const { return unaddressed_; }
  int device() const { return device_; }
  const char* on_device() const { return on_device_; }

 private:
  std::unique_ptr<ops::Operator> build_one(size_t member) {
    std::unique_ptr<ops::Operator> op = ops::create(*plan_.def);
    // Constants were read from the table once, into a prototype; a call copies them.
    for (const ops::Field* field : plan_.constants) copy_field(*field, *plan_.prototype, *op);
    for (const Step& step : plan_.steps) fill(step, member, *op);
    return op;
  }

  void fill(const Step& step, size_t member, ops::Operator& op) {
    const Parameter& p = row_.parameters[step.parameter];
    const Argument& whole = arguments_[step.parameter];
    const Argument argument = step.spread ? list_member(p.kind, whole, member) : whole;
    // Left out: the field keeps its default. A null list is an empty one.
    if (is_pointer(step.kind) && argument.pointer == nullptr) {
      if (step.required && !is_list(step.kind)) refuse_null(step, p, *plan_.def);
      return;
    }
    check_object(step.kind, argument);
    const ops::Member field = step.field->locate(op);
    step.assign(argument, field);
    if (step.slice || is_number(step, field)) narrow(slice_of(field), step.slice ? member : 0, p.name);
    ops::for_each_tensor(field, [&](Tensor& tensor) { check_tensor(tensor, p); });
  }

  // A tensor of one element that serves every member of a list is a number, whose dtype must not decide the result's.
  bool is_number(const Step& step, const ops::Member& field) const {
    if (!plan_.foreach || step.spread || step.field->kind != FieldKind::kOperand) return false;
    const Tensor& tensor = slice_of(field);
    return tensor.rank() == 1 && tensor.count() == 1;
  }

  static Tensor& slice_of(const ops::Member& field) {
    auto* const* operand = std::get_if<ops::Operand*>(&field);
    return operand != nullptr ? (*operand)->tensor : *std::get<Tensor*>(field);
  }

  static void check_object(Word kind, const Argument& argument) {
    // A pointer is judged before it is read: it may be destroyed, or of another kind.
    switch (kind) {
      case Word::kTensor: live(static_cast<const aclTensor*>(argument.pointer), "aclTensor"); return;
      case Word::kTensorList: live(static_cast<const aclTensorList*>(argument.pointer), "aclTensorList"); return;
      case Word::kScalar: live(static_cast<const aclScalar*>(argument.pointer), "aclScalar"); return;
      case Word::kScalarList: live(static_cast<const aclScalarList*>(argument.pointer), "aclScalarList"); return;
      default: return;  // the arrays check themselves as they are copied
    }
  }

  static bool takes(const Parameter& p, DType dtype) {
    return ops::slot_of(dtype) != DType::kUndefined || (dtype == DType::kInt4 && std::string_view(p.word) == "packed");
  }

  void check_tensor(Tensor& tensor, const Parameter& p) {
    if (!tensor.defined()) return;
    check_kind(tensor, p);
    require(takes(p, tensor.dtype), "{} is {}: no operator computes this dtype; cast it first", p.name, tensor);
    if (!device::soc().has(tensor.dtype)) [[unlikely]]
      ops::refuse_type(tensor.dtype, fmt::format("{} is {}", p.name, tensor), row_.name, Code::kNnInvalidParam);
    // Allowed in phase 1: a repeatable executor may get its addresses later. Phase 2 asks again.
    if (tensor.data == nullptr) {
      if (tensor.count() > 0) unaddressed_ = p.name;
      return;
    }
    note_device(check_memory(tensor, p.name), p.name);
  }

  /// One call has one device: a stream works on the memory of its own.
  void note_device(int device, const char* name) {
    if (device < 0) return;
    require(device_ < 0 || device_ == device, "{} is memory of device {}, {} of device {}; copy one of them over first",
            on_device_, device_, name, device);
    device_ = device;
    on_device_ = name;
  }

  /// The common length of the lists; raises 161002 when they differ.
  size_t foreach_count() const {
    const Parameter* first = nullptr;
    size_t count = 0;
    for (const Step& step : plan_.steps) {
      if (!step.spread) continue;
      const Parameter& p = row_.parameters[step.parameter];
      const size_t size = list_size(p.kind, arguments_[step.parameter]);
      require(first == nullptr || size == count, "lists differ in length: {} has {} members, {} has {}",
              first == nullptr ? "" : first->name, count, p.name, size);
      first = &p;
      count = size;
    }
    return count;
  }

  const Row& row_;
  const Plan& plan_;
  std::span<const Argument> arguments_;
  const char* unaddressed_ = nullptr;
  int device_ = -1;
  const char* on_device_ = nullptr;
};

// A row that fits no operator is a mistake of the tables: the function exists, and says why it cannot be called.
void refuse_row(const Plan& plan) { fail(Code::kNnFindKernel, "{}", plan.problem); }

std::unique_ptr<ops::Operator> copy_for_run(const aclOpExecutor& executor) {
  // Prepared anew, as plans hold addresses.
  std::unique_ptr<ops::Operator> op = clone(*executor.op);
  op->prepare();
  return op;
}

void check_device(const aclOpExecutor& executor, const device::Stream& stream) {
  require(executor.device < 0 || executor.device == stream.device(),
          "{} is memory of device {}, the stream belongs to device {}; use a stream of device {}", executor.on_device,
          executor.device, stream.device(), executor.device);
}

}  // namespace

int phase1(const Row& row, std::span<const Argument> arguments, uint64_t* workspace_size,
           aclOpExecutor** executor) noexcept {
  const device::trace::CallScope traced(row.name, device::trace::Level::kWorkspace);
  return guarded(row.name, [&] {
    NPU_LOG(kDebug, "OP", "called {}", row.name);
    if (workspace_size == nullptr) fail(Code::kNnNullPointer, "workspaceSize is null; pass where to store the size");
    if (executor == nullptr) fail(Code::kNnNullPointer, "executor is null; pass where to store the executor");
    *workspace_size = 0;  // kernels have their own scratch memory
    *executor = nullptr;
    const Plan& plan = row.plan();
    if (!plan.problem.empty()) [[unlikely]]
      refuse_row(plan);
    Builder builder(row, plan, arguments);
    std::unique_ptr<ops::Operator> op = builder.build();
    op->prepare();
    // An executor is made last: a refused call leaves nothing behind.
    *executor = ExecutorPool::create(&row, std::move(op), builder.unaddressed(), builder.device(), builder.on_device());
    if (device::trace::on()) [[unlikely]]
      (*executor)->owners = device::trace::owners_here();
  });
}

int phase2(const Row& row, void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) noexcept {
  const device::trace::CallScope traced(row.name, device::trace::Level::kOperator);
  return guarded(row.name, [&] {
    aclOpExecutor& live = live_executor(executor);
    // Two functions may have rows of one shape, and the client may have mixed up their phases.
    if (live.row != &row)
      fail(Code::kNnBadExecutor, "the executor was made by {}GetWorkspaceSize; pass it to {}", live.row->name,
           live.row->name);
    if (live.unaddressed != nullptr)
      fail(Code::kNnNullPointer, "{} has no device address; create it with one, or set one with aclSetTensorAddr",
           live.unaddressed);
    device::Stream& queue = device::stream_from_handle(stream);
    check_device(live, queue);
    traced.prepared_for(live.owners);
    // A repeatable executor keeps its operator: runs already queued must not see addresses set later.
    if (live.repeatable) return launch(queue, row.name, copy_for_run(live));
    // Taken out of the pool, so that the executor is consumed whatever happens to the launch.
    std::optional<aclOpExecutor> taken = ExecutorPool::take_out(executor);
    if (!taken) live_executor(executor);  // another thread was faster: say so
    launch(queue, row.name, std::move(taken->op));
  });
}

}  // namespace npu::acl
