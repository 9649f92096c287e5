// SPDX-License-Identifier: Apache-2.0
// Symmetric windows: memory that clients announce so that collectives need no copy of it. Ranks of one host read each
// other's memory in place anyway, so a window changes nothing; a wrong announcement is refused as on hardware.
#include <map>
#include <memory>
#include <mutex>

#include "acl/collective/handle.h"
#include "acl/include/hccl/hccl.h"
#include "base/error.h"
#include "device/memory/memory.h"

namespace npu::acl {
namespace {

constexpr size_t kMostWindows = 1 << 16;

struct Window {
  std::weak_ptr<comm::Communicator> communicator;
  const std::byte* begin = nullptr;
  size_t bytes = 0;
};

struct Table {
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, Window> windows;  // by handle
};

// Never destroyed: clients give windows back while the process ends.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

template <class... Args>
[[noreturn]] void refuse(Format<std::type_identity_t<Args>...> format, Args&&... args) {
  comm::fault(comm::Result::kParameter, format, std::forward<Args>(args)...);
}

void check_memory(const void* begin, size_t bytes, const char* argument) {
  if (bytes == 0) refuse("size is 0; pass the bytes of the window");
  try {
    device::check_live(begin, bytes, device::kAnyDevice, argument);
  } catch (const Error& error) {
    refuse("{}", error.message());
  }
}

uint64_t number_of(HcclCommSymWindow window) { return reinterpret_cast<uint64_t>(window); }

HcclCommSymWindow add(HcclComm comm, const void* begin, size_t bytes) {
  Window window{communicator_of(comm), static_cast<const std::byte*>(begin), bytes};
  const std::lock_guard lock(table().mutex);
  // Those of communicators that ended without a deregistration go first.
  std::erase_if(table().windows, [](const auto& entry) { return entry.second.communicator.expired(); });
  if (table().windows.size() >= kMostWindows)
    refuse("{} windows are registered; deregister some first", table().windows.size());
  const uint64_t number = ++table().last;
  table().windows.emplace(number, std::move(window));
  return reinterpret_cast<HcclCommSymWindow>(number);
}

void remove(HcclCommSymWindow handle) {
  const std::lock_guard lock(table().mutex);
  if (table().windows.erase(number_of(handle)) == 0)
    refuse("winHandle {} is no registered window; pass what HcclCommSymWinRegister gave, once", handle);
}

struct Found {
  HcclCommSymWindow window;
  size_t offset;
};
Found find(HcclComm comm, const void* ptr, size_t bytes) {
  const auto communicator = communicator_of(comm);
  const auto* begin = static_cast<const std::byte*>(ptr);
  const std::lock_guard lock(table().mutex);
  for (const auto& [number, window] : table().windows) {
    if (window.communicator.lock() != communicator || begin < window.begin) continue;
    const auto offset = static_cast<size_t>(begin - window.begin);
    if (offset < window.bytes && bytes <= window.bytes - offset)
      return {reinterpret_cast<HcclCommSymWindow>(number), offset};
  }
  refuse("ptr {} and the {} bytes behind it are not inside one window of this communicator", ptr, bytes);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;  // NOLINT: the C functions below are the door itself

HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag) {
  return acl::hccl("HcclCommSymWinRegister", [&] {
    acl::communicator_of(comm);
    acl::pointer(addr, "addr");
    acl::pointer(winHandle, "winHandle");
    if (flag > 1) acl::refuse("flag is {}; it is 0 or 1 (use the window)", flag);
    acl::check_memory(addr, size, "addr");
    *winHandle = acl::add(comm, addr, size);
  });
}
HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle) {
  return acl::hccl("HcclCommSymWinDeregister", [&] { acl::remove(acl::pointer(winHandle, "winHandle")); });
}
HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset) {
  return acl::hccl("HcclCommSymWinGet", [&] {
    acl::pointer(winHandle, "winHandle");
    acl::pointer(offset, "offset");
    if (size == 0) acl::refuse("size is 0; pass the bytes behind ptr");
    const auto found = acl::find(comm, acl::pointer(ptr, "ptr"), size);
    *winHandle = found.window;
    *offset = found.offset;
  });
}
