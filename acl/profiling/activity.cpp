// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/activity.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "acl/profiling/callback.h"
#include "device/trace/clock.h"
#include "device/trace/recorder.h"
#include "device/trace/text.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;
using trace::Level;
using trace::Move;
using trace::Unit;

uint32_t process() {
  static const auto number = static_cast<uint32_t>(getpid());
  return number;
}

const char* unit_name(Unit unit) {
  return unit == Unit::kCube ? "AI_CORE" : unit == Unit::kMixed ? "MIX_AIC" : "AI_VECTOR_CORE";
}

msptiActivityMemcpyKind copy_kind(Move move) {
  switch (move) {
    case Move::kHostToHost: return MSPTI_ACTIVITY_MEMCPY_KIND_HTOH;
    case Move::kHostToDevice: return MSPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    case Move::kDeviceToHost: return MSPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    case Move::kDeviceToDevice: return MSPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    default: return MSPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
  }
}

struct DataType {
  std::string_view name;
  msptiCommunicationDataType type;
  uint64_t bytes;
};
constexpr std::array kDataTypes{DataType{"INT8", MSPTI_ACTIVITY_COMMUNICATION_INT8, 1},
                                DataType{"INT16", MSPTI_ACTIVITY_COMMUNICATION_INT16, 2},
                                DataType{"INT32", MSPTI_ACTIVITY_COMMUNICATION_INT32, 4},
                                DataType{"INT64", MSPTI_ACTIVITY_COMMUNICATION_INT64, 8},
                                DataType{"UINT8", MSPTI_ACTIVITY_COMMUNICATION_UINT8, 1},
                                DataType{"UINT16", MSPTI_ACTIVITY_COMMUNICATION_UINT16, 2},
                                DataType{"UINT32", MSPTI_ACTIVITY_COMMUNICATION_UINT32, 4},
                                DataType{"UINT64", MSPTI_ACTIVITY_COMMUNICATION_UINT64, 8},
                                DataType{"FLOAT16", MSPTI_ACTIVITY_COMMUNICATION_FP16, 2},
                                DataType{"FLOAT", MSPTI_ACTIVITY_COMMUNICATION_FP32, 4},
                                DataType{"FLOAT64", MSPTI_ACTIVITY_COMMUNICATION_FP64, 8},
                                DataType{"DT_BF16", MSPTI_ACTIVITY_COMMUNICATION_BFP16, 2}};

/// Of the first tensor in "shapes|types|formats".
DataType type_of(std::string_view tensors) {
  tensors.remove_prefix(std::min(tensors.find('|') + 1, tensors.size()));
  const std::string_view name = tensors.substr(0, tensors.find_first_of(";|"));
  const auto* const found = std::ranges::find(kDataTypes, name, &DataType::name);
  return found != kDataTypes.end() ? *found : DataType{"", MSPTI_ACTIVITY_COMMUNICATION_INVALID_TYPE, 1};
}

/// As clients call it: records have both phases of a function under its own name.
const char* name_of(const trace::CallRecord& record) {
  const char* const name = trace::text_of(record.name);
  if (record.level != Level::kWorkspace) return name;
  return trace::text_of(trace::number_of(std::string(name) + "GetWorkspaceSize"));
}

/// Null for none, as activities have it.
const char* name_or_null(uint32_t text) { return text == 0 ? nullptr : trace::text_of(text); }

}  // namespace

Activities& activities() {
  static Activities& instance = *new Activities;
  return instance;
}

void Activities::enable(msptiActivityKind kind, bool enabled) {
  const std::lock_guard lock(mutex_);
  enabled_[static_cast<size_t>(kind)] = enabled;
  const bool any = std::ranges::any_of(enabled_, [](const auto& one) { return one.load(); });
  if (any == (lease_ != nullptr)) return;
  if (any) {
    const trace::Moment now = trace::both_clocks();
    offset_ = now.people - now.monotonic;
    lease_ = std::make_unique<TaskLease>(false);
  }
  listen_with_lock();
  if (!any) lease_.reset();
}

void Activities::listen_with_lock() {
  const bool any = std::ranges::any_of(enabled_, [](const auto& one) { return one.load(); });
  trace::listen(any || callbacks().any() ? this : nullptr);
}

void Activities::listen_as_needed() {
  const std::lock_guard lock(mutex_);
  listen_with_lock();
}

void Activities::began(const char* name, Level level, uint32_t call) {
  if (level == Level::kRuntime) callbacks().enter(name, call);
}

void Activities::enable_domain(const std::string& domain, bool enabled) {
  const std::lock_guard lock(mutex_);
  if (enabled)
    refused_.erase(domain);
  else
    refused_.insert(domain);
}

bool Activities::wants_domain(uint32_t domain) {
  const std::string_view name = domain == 0 ? "default" : trace::text_of(domain);
  const std::lock_guard lock(mutex_);
  return !refused_.contains(name);
}

template <class Activity>
void Activities::add(const Activity& activity) {
  buffers_.add(&activity, sizeof activity);
}

void Activities::heard(const trace::TaskRecord& record) {
  if (record.move != Move::kNone) return add_move(record);
  if (record.unit == Unit::kCollective) return add_collective(record);
  if (record.unit != Unit::kNone && is_enabled(MSPTI_ACTIVITY_KIND_KERNEL)) add_kernel(record);
}

void Activities::add_kernel(const trace::TaskRecord& record) {
  msptiActivityKernel activity{};
  activity.kind = MSPTI_ACTIVITY_KIND_KERNEL;
  activity.start = time(record.start), activity.end = time(record.end);
  activity.ds = {static_cast<uint32_t>(record.device), static_cast<uint32_t>(record.stream)};
  activity.correlationId = record.call;
  activity.type = unit_name(record.unit), activity.name = trace::text_of(record.name);
  add(activity);
}

void Activities::add_collective(const trace::TaskRecord& record) {
  const auto device = static_cast<uint32_t>(record.device), stream = static_cast<uint32_t>(record.stream);
  if (is_enabled(MSPTI_ACTIVITY_KIND_HCCL)) {
    msptiActivityHccl activity{};
    activity.kind = MSPTI_ACTIVITY_KIND_HCCL;
    activity.start = time(record.start), activity.end = time(record.end);
    activity.ds = {device, stream};
    // Bytes in a nanosecond are gigabytes in a second.
    activity.bandWidth =
        static_cast<double>(record.bytes) / static_cast<double>(std::max<int64_t>(record.end - record.start, 1));
    activity.name = trace::text_of(record.name), activity.commName = trace::text_of(record.graph);
    add(activity);
  }
  if (is_enabled(MSPTI_ACTIVITY_KIND_COMMUNICATION)) {
    const DataType type = type_of(trace::text_of(record.inputs));
    msptiActivityCommunication activity{};
    activity.kind = MSPTI_ACTIVITY_KIND_COMMUNICATION;
    activity.dataType = type.type, activity.count = record.bytes / type.bytes;
    activity.ds = {device, stream};
    activity.start = time(record.start), activity.end = time(record.end);
    activity.algType = "", activity.name = trace::text_of(record.name),
    activity.commName = trace::text_of(record.graph);
    activity.correlationId = record.call;
    add(activity);
  }
}

void Activities::add_move(const trace::TaskRecord& record) {
  const auto fill = [&](auto activity, msptiActivityKind kind) {
    if (!is_enabled(kind)) return;
    activity.kind = kind;
    activity.bytes = record.bytes, activity.start = time(record.start), activity.end = time(record.end);
    activity.deviceId = static_cast<uint32_t>(record.device), activity.streamId = static_cast<uint32_t>(record.stream);
    activity.correlationId = record.call;
    activity.isAsync = record.number != trace::kNoNumber ? 1 : 0;
    add(activity);
  };
  if (record.move == Move::kFill) return fill(msptiActivityMemset{}, MSPTI_ACTIVITY_KIND_MEMSET);
  msptiActivityMemcpy copy{};
  copy.copyKind = copy_kind(record.move);
  fill(copy, MSPTI_ACTIVITY_KIND_MEMCPY);
}

void Activities::heard(const trace::CallRecord& record) {
  if (record.level == Level::kRuntime && callbacks().is_subscribed())
    callbacks().leave(trace::text_of(record.name), record.number);
  const auto tell = [&](msptiActivityKind kind, bool is_that) {
    if (!is_that || !is_enabled(kind)) return;
    msptiActivityApi activity{};
    activity.kind = kind;
    activity.start = time(record.start), activity.end = time(record.end);
    activity.pt = {process(), record.thread};
    activity.correlationId = record.number, activity.name = name_of(record);
    add(activity);
  };
  tell(MSPTI_ACTIVITY_KIND_API, record.level != Level::kRuntime);
  tell(MSPTI_ACTIVITY_KIND_ACL_API, record.level == Level::kRuntime);
  tell(MSPTI_ACTIVITY_KIND_NODE_API, record.level == Level::kOperator);
}

void Activities::entered(uint32_t call, const trace::Owners& owners) {
  if (!is_enabled(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == 0) continue;
    msptiActivityExternalCorrelation activity{};
    activity.kind = MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    activity.externalKind = static_cast<msptiExternalCorrelationKind>(i + 1);
    activity.externalId = owners[i], activity.correlationId = call;
    add(activity);
  }
}

void Activities::add_marker(const trace::MarkRecord& record, int64_t moment, msptiActivityFlag flag) {
  if (!is_enabled(MSPTI_ACTIVITY_KIND_MARKER) || !wants_domain(record.domain)) return;
  const bool device = record.device >= 0;
  msptiActivityMarker activity{};
  activity.kind = MSPTI_ACTIVITY_KIND_MARKER;
  activity.flag = device ? static_cast<msptiActivityFlag>(flag << 3) : flag;
  activity.sourceKind = device ? MSPTI_ACTIVITY_SOURCE_KIND_DEVICE : MSPTI_ACTIVITY_SOURCE_KIND_HOST;
  activity.timestamp = time(moment), activity.id = record.number;
  if (device)
    activity.objectId.ds = {static_cast<uint32_t>(record.device), static_cast<uint32_t>(record.stream)};
  else
    activity.objectId.pt = {process(), record.thread};
  activity.name = flag == MSPTI_ACTIVITY_FLAG_MARKER_END ? nullptr : trace::text_of(record.text);
  activity.domain = name_or_null(record.domain);
  add(activity);
}

void Activities::begun(const trace::MarkRecord& record) {
  add_marker(record, record.start, MSPTI_ACTIVITY_FLAG_MARKER_START);
}

void Activities::heard(const trace::MarkRecord& record) {
  const bool moment = record.kind == trace::Mark::kMoment;
  add_marker(record, record.end, moment ? MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS : MSPTI_ACTIVITY_FLAG_MARKER_END);
}

void Activities::heard(const trace::MemoryRecord& record) {
  if (!is_enabled(MSPTI_ACTIVITY_KIND_MEMORY)) return;
  msptiActivityMemory activity{};
  activity.kind = MSPTI_ACTIVITY_KIND_MEMORY;
  activity.memoryOperationType =
      record.is_free ? MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE : MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  activity.memoryKind = MSPTI_ACTIVITY_MEMORY_DEVICE;
  activity.correlationId = record.call;
  activity.start = time(record.start), activity.end = time(record.end);
  activity.address = record.address, activity.bytes = record.bytes;
  activity.processId = process(), activity.deviceId = static_cast<uint32_t>(record.device);
  activity.streamId = MSPTI_INVALID_STREAM_ID;
  add(activity);
}

}  // namespace npu::acl
