// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/task_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "acl/profiling/task_label.h"
#include "device/queue/stream.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;
using trace::Labels;
using trace::TaskRecord;

uint32_t number_of_shapes(const std::vector<ops::Seen>& all) {
  Shapes shapes;
  for (const ops::Seen& one : all) shapes.add(one.tensor);
  return trace::number_of(shapes.text());
}

uint64_t bytes_of_all(const std::vector<ops::Seen>& all) {
  uint64_t bytes = 0;
  for (const ops::Seen& one : all) bytes += static_cast<uint64_t>(bytes_of(one.tensor));
  return bytes;
}

/// The tensors of an operator that have memory, with the shapes that it told.
template <class Visit>
void each_tensor(const ops::RanOperator& ran, Visit&& visit) {
  ops::for_each_tensor(ran.op, [&](const Tensor& tensor, const ops::Field& field) {
    if (!ops::has_memory(tensor)) return;
    if (ran.shapes.empty() || !field.is_result()) return visit(tensor, field);
    Tensor told = tensor;
    ran.shapes.correct(told);
    visit(told, field);
  });
}

/// What the labels of an operator's record depend on, and what else its tensors tell.
class Reading {
 public:
  Reading(const ops::RanOperator& ran, bool shapes) : shapes_(shapes) {
    key_.resize(3);
    each_tensor(ran, [this](const Tensor& tensor, const ops::Field& field) { add(tensor, field); });
    key_[0] = reinterpret_cast<uint64_t>(ran.call), key_[1] = reinterpret_cast<uint64_t>(ran.op.def);
    key_[2] = rank_ << 1 | (shapes ? 1 : 0);
  }
  std::span<const uint64_t> key() const { return {key_.data(), key_.size()}; }
  size_t rank() const { return rank_; }  ///< the highest of its inputs
  uint64_t bytes() const { return bytes_; }

 private:
  void add(const Tensor& tensor, const ops::Field& field) {
    const bool reads = ops::reads(field), writes = field.is_result();
    bytes_ += static_cast<uint64_t>(bytes_of(tensor)) * ((reads ? 1 : 0) + (writes ? 1 : 0));
    if (reads) rank_ = std::max(rank_, tensor.rank());
    if (!shapes_) return;
    key_.push_back(static_cast<uint64_t>(tensor.dtype) << 32 | tensor.rank() << 2 | (reads ? 2 : 0) | (writes ? 1 : 0));
    for (const int64_t size : tensor.shape) key_.push_back(static_cast<uint64_t>(size));
  }

  const bool shapes_;
  size_t rank_ = 0;
  uint64_t bytes_ = 0;
  fmt::basic_memory_buffer<uint64_t, 128> key_;  ///< in place, but for long lists of tensors
};

Labels labels_of(const ops::RanOperator& ran, size_t rank, bool shapes) {
  const std::string_view call = ran.call, type = type_of(call, &ran.op, rank);
  Labels labels;
  labels.unit = unit_of(call, &ran.op);
  labels.type = trace::number_of(type);
  // As the vendor's tables name what an aclnn function runs.
  labels.name = trace::number_of(type == call ? std::string(call) : fmt::format("{}_{}", call, type));
  if (!shapes) return labels;
  Shapes inputs, outputs;
  each_tensor(ran, [&](const Tensor& tensor, const ops::Field& field) {
    if (ops::reads(field)) inputs.add(tensor);
    if (field.is_result()) outputs.add(tensor);
  });
  labels.inputs = trace::number_of(inputs.text()), labels.outputs = trace::number_of(outputs.text());
  return labels;
}

/// Where it was queued, of the task that runs; whose operator is written down now.
void tell_launch(TaskRecord& record) {
  trace::TaskScope* const task = trace::TaskScope::current();
  if (task == nullptr) return;
  task->told();
  record.launched = task->launch().time, record.launcher = task->launch().thread, record.call = task->launch().call;
}

class Recorder final : public ops::TaskWriter {
 public:
  void write(const ops::RanOperator& ran) override;
  void write(const ops::Execution& execution, int64_t start) override;
  std::atomic<bool> shapes{false};
};

// Times mean something only where this is short: nothing is spelt but what this thread has not met.
void Recorder::write(const ops::RanOperator& ran) {
  TaskRecord record;
  record.end = trace::now();
  if (!trace::on()) return;
  record.start = ran.start, record.device = ran.device;
  if (const device::Stream* stream = device::Stream::running())
    record.stream = stream->id(), record.number = stream->running_number();
  const Reading reading(ran, shapes.load(std::memory_order_relaxed));
  record.bytes = reading.bytes();
  const Labels* known = trace::known_labels(reading.key());
  const Labels labels = known != nullptr ? *known : labels_of(ran, reading.rank(), shapes);
  if (known == nullptr) trace::keep_labels(reading.key(), labels);
  record.unit = labels.unit, record.type = labels.type, record.name = labels.name;
  record.inputs = labels.inputs, record.outputs = labels.outputs;
  tell_launch(record);
  trace::add(record);
}

void Recorder::write(const ops::Execution& execution, int64_t start) {
  TaskRecord record;
  record.start = start, record.end = trace::now();
  if (!trace::on()) return;
  record.number = execution.number, record.stream = execution.stream, record.device = execution.device;
  record.unit = unit_of(execution.name.type, nullptr);
  const std::string_view type = type_of(execution.name.type, nullptr, 0);
  record.type = trace::number_of(type), record.name = trace::number_of(execution.name.node);
  const bool meets = record.unit == trace::Unit::kCollective;
  record.bytes = bytes_of_all(execution.inputs) + (meets ? 0 : bytes_of_all(execution.outputs));
  record.graph = trace::number_of(meets ? execution.meeting.group : execution.graph);
  record.step = meets ? execution.meeting.number : static_cast<uint32_t>(execution.step);
  record.waited = execution.meeting.waited_ns;
  if (shapes || meets) record.inputs = number_of_shapes(execution.inputs);
  if (shapes) record.outputs = number_of_shapes(execution.outputs);
  if (execution.graph.empty() || execution.stream != 0) tell_launch(record);
  trace::add(record);
}

struct Leases {
  std::mutex mutex;
  int all = 0, with_shapes = 0;
  Recorder recorder;
};
// Never destroyed: tasks may run until the process is gone.
Leases& leases() {
  static Leases& instance = *new Leases;
  return instance;
}

/// Those who come and go are counted; the writer is there while one is.
void count(int change, bool shapes) {
  Leases& all = leases();
  const std::lock_guard lock(all.mutex);
  all.all += change;
  if (shapes) all.with_shapes += change;
  all.recorder.shapes = all.with_shapes > 0;
  ops::set_task_writer(all.all > 0 ? &all.recorder : nullptr);
}

}  // namespace

TaskLease::TaskLease(bool shapes) : shapes_(shapes) { count(1, shapes_); }
TaskLease::~TaskLease() { count(-1, shapes_); }

}  // namespace npu::acl
