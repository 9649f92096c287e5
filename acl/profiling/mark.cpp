// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/mark.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/context/context.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;
using trace::MarkRecord;

/// A range that has begun, as the host and as the stream saw it; the stream's tasks run in order.
struct Range {
  MarkRecord host;
  std::shared_ptr<MarkRecord> seen = {};
  aclrtStream stream = nullptr;
};

struct Ranges {
  std::mutex mutex;
  std::map<uint64_t, Range> open;
  std::map<uint64_t, std::shared_ptr<MarkRecord>> steps;
};
// Never destroyed: clients may end ranges while the process ends.
Ranges& ranges() {
  static Ranges& instance = *new Ranges;
  return instance;
}

std::atomic<uint64_t> last_number{0};

device::Stream* stream_of(aclrtStream handle) {
  return handle == nullptr ? nullptr : &device::stream_from_handle(handle);
}

MarkRecord begin_record(const MarkedText& marked, uint64_t number) {
  MarkRecord record;
  record.number = number, record.kind = marked.kind;
  record.text = trace::number_of(marked.text), record.domain = trace::number_of(marked.domain);
  record.thread = trace::thread_number();
  record.start = trace::now();
  return record;
}

MarkRecord on(const device::Stream& stream, MarkRecord record) {
  record.device = stream.device(), record.stream = stream.id();
  return record;
}

/// Runs in the stream, and is no task of its own in what is recorded.
template <class F>
void launch(device::Stream& stream, F&& body) {
  device::Task task;
  task.name = "mark";
  task.flags = device::kTaskAlways;
  task.body = [body = std::forward<F>(body)]() mutable {
    if (trace::TaskScope* const here = trace::TaskScope::current()) here->told();
    if (trace::on()) body();
  };
  stream.launch(std::move(task));
}

void begin_here(MarkRecord& record) {
  record.start = trace::now();
  trace::begin(record);
}

void end_here(MarkRecord record) {
  if (record.start == 0) return;  // nobody recorded when the stream came to its beginning
  record.end = trace::now();
  trace::add(record);
}

}  // namespace

void mark_moment(const MarkedText& marked, aclrtStream handle) {
  if (!trace::on()) return;
  device::Stream* const stream = stream_of(handle);
  MarkRecord record = begin_record(marked, ++last_number);
  record.kind = trace::Mark::kMoment;
  record.end = record.start;
  trace::add(record);
  if (stream == nullptr) return;
  launch(*stream, [record = on(*stream, record)]() mutable {
    record.start = record.end = trace::now();
    trace::add(record);
  });
}

uint64_t begin_range(const MarkedText& marked, aclrtStream handle) {
  const uint64_t number = ++last_number;
  if (!trace::on()) return number;
  device::Stream* const stream = stream_of(handle);
  Range range{begin_record(marked, number)};
  trace::begin(range.host);
  if (stream != nullptr) {
    range.stream = handle;
    range.seen = std::make_shared<MarkRecord>(on(*stream, range.host));
    range.seen->start = 0;
    launch(*stream, [seen = range.seen] { begin_here(*seen); });
  }
  const std::lock_guard lock(ranges().mutex);
  ranges().open.emplace(number, std::move(range));
  return number;
}

bool end_range(uint64_t number) {
  Range range;
  {
    const std::lock_guard lock(ranges().mutex);
    auto found = ranges().open.extract(number);
    if (found.empty()) return false;
    range = std::move(found.mapped());
  }
  if (!trace::on()) return true;
  range.host.thread = trace::thread_number();
  end_here(range.host);
  device::Stream* const stream = range.stream == nullptr ? nullptr : device::find_stream(range.stream);
  if (stream != nullptr) launch(*stream, [seen = range.seen] { end_here(*seen); });
  return true;
}

void mark_step(bool ends, uint64_t step, aclrtStream handle) {
  device::Stream& stream = device::stream_from_handle(handle);
  if (!trace::on()) return;
  std::shared_ptr<MarkRecord> seen;
  {
    const std::lock_guard lock(ranges().mutex);
    std::shared_ptr<MarkRecord>& known = ranges().steps[step];
    if (!known) known = std::make_shared<MarkRecord>();
    seen = known;
    if (ends) ranges().steps.erase(step);
  }
  if (ends) return launch(stream, [seen] { end_here(*seen); });
  *seen = on(stream, begin_record({"step", "", trace::Mark::kStep}, step));
  seen->start = 0;
  launch(stream, [seen] { begin_here(*seen); });
}

void mark_module(std::string_view path, trace::Phase phase) {
  if (!trace::on()) return;
  MarkRecord record = begin_record({path, trace::kModuleDomain, trace::Mark::kMoment}, static_cast<uint64_t>(phase));
  record.end = record.start;
  trace::add(record);
}

}  // namespace npu::acl
