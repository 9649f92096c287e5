// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/record.h"

#include <atomic>
#include <map>
#include <mutex>

#include "acl/call.h"
#include "acl/include/acl/acl_prof.h"
#include "base/hash.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

struct Counters {
  std::atomic<uint64_t> api{0}, compact{0}, additional{0}, bytes{0};
};
Counters counters;

struct Modules {
  std::mutex mutex;
  std::map<uint32_t, MsprofCommandHandle> callbacks;
};
// Never destroyed: clients register from static initialisers and report while the process ends.
Modules& modules() {
  static Modules& instance = *new Modules;
  return instance;
}

void count(std::atomic<uint64_t>& kind, const void* record) {
  given(record, "record");
  kind.fetch_add(1, std::memory_order_relaxed);
}

void count(std::atomic<uint64_t>& kind, const void* record, uint32_t length) {
  if (length == 0) fail(Code::kInvalidParam, "length is 0; pass the size of the record");
  count(kind, record);
  counters.bytes.fetch_add(length, std::memory_order_relaxed);
}

// FNV-1a with a final mix: short texts differ in all bits.
uint64_t hash(const char* text, size_t length) {
  uint64_t h = hash_of({text, length});
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

}  // namespace

RecordCounts record_counts() {
  return {counters.api.load(), counters.compact.load(), counters.additional.load(), counters.bytes.load()};
}

}  // namespace npu::acl

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

uint64_t MsprofGetHashId(const char* text, size_t length) {
  return text == nullptr || length == 0 ? 0 : hash(text, length);
}

uint64_t MsprofSysCycleTime() { return static_cast<uint64_t>(npu::device::trace::now()); }

int32_t MsprofRegisterCallback(uint32_t module, MsprofCommandHandle callback) {
  return call("MsprofRegisterCallback", [&] {
    given(callback, "callback");
    const std::lock_guard lock(modules().mutex);
    modules().callbacks[module] = callback;
  });
}

int32_t MsprofReportApi(uint32_t, const void* record) {
  return call("MsprofReportApi", [&] { count(counters.api, record); });
}
int32_t MsprofReportCompactInfo(uint32_t, const void* record, uint32_t length) {
  return call("MsprofReportCompactInfo", [&] { count(counters.compact, record, length); });
}
int32_t MsprofReportAdditionalInfo(uint32_t, const void* record, uint32_t length) {
  return call("MsprofReportAdditionalInfo", [&] { count(counters.additional, record, length); });
}
