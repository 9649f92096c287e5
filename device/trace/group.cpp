// SPDX-License-Identifier: Apache-2.0
#include "device/trace/group.h"

#include <mutex>

#include "device/trace/recorder.h"

namespace npu::device::trace {
namespace {

struct Groups {
  std::mutex mutex;
  std::vector<GroupRecord> all;
};
// Never destroyed: communicators may be made until the process is gone.
Groups& known() {
  static Groups& instance = *new Groups;
  return instance;
}

}  // namespace

void joined(std::string_view name, std::string_view members, uint32_t rank, uint32_t size, int device) {
  GroupRecord record;
  record.start = record.end = now();
  record.name = number_of(name), record.members = number_of(members);
  record.rank = rank, record.size = size, record.device = device;
  {
    const std::lock_guard lock(known().mutex);
    known().all.push_back(record);
  }
  add(record);
}

std::vector<GroupRecord> groups() {
  const std::lock_guard lock(known().mutex);
  return known().all;
}

void tell_groups() {
  for (const GroupRecord& record : groups()) add(record);
}

}  // namespace npu::device::trace
