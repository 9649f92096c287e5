// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/task_recorder.h"

#include <fmt/format.h>

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

/// The tensors of an operator that have memory, with the shapes that it told.
ops::Reading reading_of(const ops::RanOperator& ran) {
  ops::Reading reading;
  ops::for_each_tensor(ran.op, [&](const Tensor& tensor, const ops::Field& field) {
    if (!ops::has_memory(tensor)) return;
    const ops::Reading::Use use{ops::reads(field), field.is_result()};
    if (ran.shapes.empty() || !use.writes) return reading.add(tensor, use);
    Tensor told = tensor;
    ran.shapes.correct(told);
    reading.add(told, use);
  });
  return reading;
}

void spell_shapes(const ops::Reading& reading, Labels& labels) {
  Shapes inputs, outputs;
  reading.each([&](DType dtype, std::span<const uint64_t> shape, ops::Reading::Use use) {
    if (use.reads) inputs.add(dtype, shape);
    if (use.writes) outputs.add(dtype, shape);
  });
  labels.inputs = trace::number_of(inputs.text()), labels.outputs = trace::number_of(outputs.text());
}

/// Those of `key`, by which this thread keeps them; `spell` fills them in where it has not met it.
template <class Spell>
Labels labels_of(std::span<const uint64_t> key, Spell&& spell) {
  if (const Labels* known = trace::known_labels(key)) return *known;
  Labels labels;
  spell(labels);
  trace::keep_labels(key, labels);
  return labels;
}

void tell_labels(TaskRecord& record, const Labels& labels) {
  record.unit = labels.unit, record.type = labels.type, record.name = labels.name;
  record.inputs = labels.inputs, record.outputs = labels.outputs;
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
  void write(const ops::RanNode& ran) override;
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
  ops::Reading reading = reading_of(ran);
  record.bytes = reading.bytes();
  const bool with_shapes = shapes;
  const auto call = reinterpret_cast<uint64_t>(ran.call), def = reinterpret_cast<uint64_t>(ran.op.def);
  tell_labels(record, labels_of(reading.key(call, def, with_shapes), [&](Labels& labels) {
                const std::string_view type = type_of(ran.call, &ran.op, reading.rank(), reading.casts());
                labels.unit = unit_of(ran.call, &ran.op), labels.type = trace::number_of(type);
                // As the vendor's tables name what an aclnn function runs.
                labels.name = trace::number_of(type == ran.call ? ran.call : fmt::format("{}_{}", ran.call, type));
                if (with_shapes) spell_shapes(reading, labels);
              }));
  tell_launch(record);
  trace::add(record);
}

void Recorder::write(const ops::RanNode& ran) {
  TaskRecord record;
  record.start = ran.start, record.end = trace::now();
  if (!trace::on()) return;
  record.number = ran.number, record.device = ran.device, record.step = static_cast<uint32_t>(ran.step);
  record.bytes = ran.reading.bytes();
  const bool with_shapes = shapes;
  tell_labels(record, labels_of(ran.reading.key(trace::number_of(ran.type), 0, with_shapes), [&](Labels& labels) {
                labels.unit = unit_of(ran.type, nullptr);
                labels.type = trace::number_of(type_of(ran.type, nullptr, 0));
                if (with_shapes) spell_shapes(ran.reading, labels);
              }));
  record.name = trace::number_of(ran.name), record.graph = trace::number_of(ran.graph);
  if (ran.graph.empty()) tell_launch(record);
  trace::add(record);
}

void Recorder::write(const ops::Execution& execution, int64_t start) {
  ops::Reading reading;
  for (const ops::Seen& one : execution.inputs) reading.add(one.tensor, {true, false});
  const uint64_t given = reading.bytes();
  for (const ops::Seen& one : execution.outputs) reading.add(one.tensor, {false, true});
  if (!ops::is_collective(execution))
    return write(ops::RanNode{execution.name.node, execution.name.type, execution.graph, execution.step,
                              execution.device, execution.number, start, reading});
  TaskRecord record;
  record.start = start, record.end = trace::now();
  if (!trace::on()) return;
  record.number = execution.number, record.stream = execution.stream, record.device = execution.device;
  Labels labels;
  spell_shapes(reading, labels);
  labels.unit = trace::Unit::kCollective;
  labels.type = trace::number_of(execution.name.type), labels.name = trace::number_of(execution.name.node);
  if (!shapes) labels.outputs = 0;
  tell_labels(record, labels);
  record.bytes = given, record.graph = trace::number_of(execution.meeting.group);
  record.step = execution.meeting.number, record.waited = execution.meeting.waited_ns;
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
