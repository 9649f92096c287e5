// SPDX-License-Identifier: Apache-2.0
// Address ranges that clients announce to the collectives. Nothing here needs to know them: what counts is that a wrong
// announcement is refused as on hardware.
#include <mutex>

#include "acl/collective/handle.h"
#include "acl/include/hccl/hccl.h"
#include "device/memory/range_map.h"
#include "device/memory/virtual.h"

namespace npu::acl {
namespace {

struct Part {
  size_t bytes = 0;
};
// Active parts belong to a range, so that a range in use cannot be taken back.
struct Range {
  size_t bytes = 0;
  device::RangeMap<Part> active;
};
struct Table {
  std::mutex mutex;
  device::RangeMap<Range> ranges;
};

// Never destroyed: clients take ranges back while the process ends.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

// The communicator is asked for only to refuse a handle that is none: ranges are of the process.
const std::byte* checked(HcclComm comm, const void* address, const char* argument) {
  communicator_of(comm);
  return static_cast<const std::byte*>(pointer(address, argument));
}

template <class... Args>
[[noreturn]] void refuse(Format<std::type_identity_t<Args>...> format, Args&&... args) {
  comm::fault(comm::Result::kParameter, format, std::forward<Args>(args)...);
}

void check_zero(uint64_t value, const char* argument) {
  if (value != 0) refuse("{} is {}; it must be 0", argument, value);
}

void set(const std::byte* begin, size_t bytes) {
  const std::lock_guard lock(table().mutex);
  if (bytes == 0 || !device::is_reserved_range(begin, bytes))
    refuse("baseVirPtr {} and the {} bytes behind it are not inside one range of aclrtReserveMemAddress",
           static_cast<const void*>(begin), bytes);
  if (table().ranges.overlaps(begin, bytes))
    refuse("baseVirPtr {}: the range overlaps one that was set; call HcclCommUnsetMemoryRange on that first",
           static_cast<const void*>(begin));
  table().ranges[begin].bytes = bytes;
}

void unset(const std::byte* begin) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().ranges.find(begin);
  if (found == table().ranges.end())
    refuse("baseVirPtr {} is not the start of a range that was set", static_cast<const void*>(begin));
  if (!found->second.active.empty())
    refuse("baseVirPtr {}: {} parts of the range are active; call HcclCommDeactivateCommMemory on them first",
           static_cast<const void*>(begin), found->second.active.size());
  table().ranges.erase(found);
}

void activate(const std::byte* begin, size_t bytes, aclrtDrvMemHandle handle) {
  const std::lock_guard lock(table().mutex);
  const auto range = table().ranges.covering(begin, bytes);
  if (range == table().ranges.end())
    refuse("virPtr {} and the {} bytes behind it are not inside a range of HcclCommSetMemoryRange",
           static_cast<const void*>(begin), bytes);
  // By the handle too: another mapping at the same address would be other memory.
  if (!device::is_mapping(begin, bytes, handle))
    refuse("virPtr {}: handle {} is not mapped there with {} bytes; call aclrtMapMem first",
           static_cast<const void*>(begin), handle, bytes);
  if (range->second.active.overlaps(begin, bytes))
    refuse("virPtr {}: the memory is active already", static_cast<const void*>(begin));
  range->second.active[begin].bytes = bytes;
}

// By its start only, as the client passes no size.
void deactivate(const std::byte* begin) {
  const std::lock_guard lock(table().mutex);
  const auto range = table().ranges.holding(begin);
  if (range == table().ranges.end() || range->second.active.erase(begin) == 0)
    refuse("virPtr {} is not the start of active memory", static_cast<const void*>(begin));
}

}  // namespace
}  // namespace npu::acl

using namespace npu;  // NOLINT: the C functions below are the door itself

HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment, uint64_t flags) {
  return acl::hccl("HcclCommSetMemoryRange", [&] {
    const std::byte* begin = acl::checked(comm, baseVirPtr, "baseVirPtr");
    acl::check_zero(alignment, "alignment");
    acl::check_zero(flags, "flags");
    acl::set(begin, size);
  });
}
HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr) {
  return acl::hccl("HcclCommUnsetMemoryRange", [&] { acl::unset(acl::checked(comm, baseVirPtr, "baseVirPtr")); });
}
HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                      uint64_t flags) {
  return acl::hccl("HcclCommActivateCommMemory", [&] {
    const std::byte* begin = acl::checked(comm, virPtr, "virPtr");
    acl::check_zero(offset, "offset");
    acl::check_zero(flags, "flags");
    acl::activate(begin, size, handle);
  });
}
HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr) {
  return acl::hccl("HcclCommDeactivateCommMemory", [&] { acl::deactivate(acl::checked(comm, virPtr, "virPtr")); });
}
