// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/shown.h"

#include <cctype>

#include "comm/core/carried.h"
#include "device/memory/memory.h"
#include "device/queue/stream.h"
#include "device/trace/recorder.h"
#include "ops/runner/observer.h"

namespace npu::comm {
namespace {

/// "HcomAllReduce" of "all_reduce", as the vendor's graphs call it.
std::string type_of(std::string_view what) {
  std::string type = "Hcom";
  bool starts = true;
  for (const char c : what) {
    if (c != '_') type += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = c == '_';
  }
  return type;
}

void see(const Call& call, const void* buffer, uint64_t bytes, std::string_view field, std::vector<ops::Seen>& seen) {
  if (bytes == 0) return;
  // Elements of a type that only moves are shown as bytes.
  const bool typed = call.dtype != DType::kUndefined && size_of(call.dtype) == call.element_bytes;
  const DType dtype = typed ? call.dtype : DType::kUInt8;
  const auto count = static_cast<int64_t>(bytes / size_of(dtype));
  seen.push_back({field, make_tensor(device::resolve(const_cast<void*>(buffer), bytes), dtype, {count})});
}

/// One record a link.
void tell(const Carried& carried, const ops::Execution& execution, int64_t start) {
  if (start == 0 || !device::trace::on()) return;
  device::trace::LinkRecord record;
  record.start = start, record.end = device::trace::now();
  record.group = device::trace::number_of(execution.meeting.group), record.number = execution.meeting.number;
  record.device = execution.device, record.stream = execution.stream;
  for (const auto& [ranks, sum] : carried.sums()) {
    record.from = ranks.first, record.to = ranks.second;
    record.bytes = sum.bytes, record.pieces = sum.pieces;
    device::trace::add(record);
  }
}

}  // namespace

void show(const Communicator& communicator, const char* what, std::span<const Shown> all,
          const std::function<void()>& run) {
  ops::Execution execution;
  execution.name.type = type_of(what);
  execution.name.node = fmt::format("hcom_{}", what);
  execution.device = communicator.device();
  execution.computes = std::string_view(what).find("reduce") != std::string_view::npos;  // the others only move
  if (const device::Stream* stream = device::Stream::running())
    execution.stream = stream->id(), execution.number = stream->running_number();
  for (const auto& [call, buffers] : all) {
    see(call, buffers.send, buffers.send_bytes, "sendBuf", execution.inputs);
    see(call, buffers.recv, buffers.recv_bytes, "recvBuf", execution.outputs);
  }
  execution.meeting.group = communicator.group().name;
  execution.meeting.number = communicator.turns();
  ops::Observation observation(execution);
  const int64_t waited = waited_here(), start = device::trace::on() ? device::trace::now() : 0;
  const Carried carried;
  try {
    run();
  } catch (const Error& error) {
    observation.failed(execution, error);
    throw;
  }
  execution.meeting.waited_ns = waited_here() - waited;
  tell(carried, execution, start);
  observation.finished(execution);
}

}  // namespace npu::comm
