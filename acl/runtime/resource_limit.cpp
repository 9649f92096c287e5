// SPDX-License-Identifier: Apache-2.0
// Limits on the number of cores: kept per device and stream, and given back by the documented precedence.
#include <array>
#include <map>
#include <mutex>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "acl/notice.h"
#include "device/context/context.h"
#include "device/process/soc.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::acl {
namespace {

using Limits = std::array<uint32_t, 2>;  // by aclrtDevResLimitType; 0 where none was set

struct Table {
  std::mutex mutex;
  std::map<int, Limits> of_device;
  std::map<const void*, Limits> of_stream;  // by handle, which names no later stream
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

/// The stream whose limits this thread uses; null for none.
constinit thread_local const void* used_stream = nullptr;

uint32_t cores(int type) {
  return type == ACL_RT_DEV_RES_CUBE_CORE ? device::soc().ai_cores : device::soc().vector_cores;
}

int checked(aclrtDevResLimitType type) {
  if (type != ACL_RT_DEV_RES_CUBE_CORE && type != ACL_RT_DEV_RES_VECTOR_CORE)
    fail(Code::kRtParamInvalid, "type is {}; it is 0 (cube cores) or 1 (vector cores)", static_cast<int>(type));
  return type;
}

uint32_t checked(int type, uint32_t value) {
  if (value == 0 || value > cores(type))
    fail(Code::kRtParamInvalid, "value is {}; a limit is 1 to {}, the {} cores of {}", value, cores(type),
         type == ACL_RT_DEV_RES_CUBE_CORE ? "cube" : "vector", device::soc().name);
  tell_once(
      "limits of cores are kept and given back, and slow nothing down: kernels run on the threads that "
      "ANYNPU_THREADS names; set that instead");
  return value;
}

template <class Map, class Key>
uint32_t find(const Map& map, const Key& key, int type) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second[static_cast<size_t>(type)];
}

uint32_t first_set(uint32_t a, uint32_t b, uint32_t c = 0) { return a != 0 ? a : b != 0 ? b : c; }

uint32_t device_limit(int device, int type) {
  const std::lock_guard lock(table().mutex);
  return first_set(find(table().of_device, device, type), cores(type));
}

uint32_t stream_limit(const void* handle, int device, int type) {
  const std::lock_guard lock(table().mutex);
  return first_set(find(table().of_stream, handle, type), find(table().of_device, device, type), cores(type));
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return call("aclrtSetDeviceResLimit", [&] {
    device::check_device(deviceId);
    const int kind = checked(type);
    const uint32_t limit = checked(kind, value);
    const std::lock_guard lock(table().mutex);
    table().of_device[deviceId][static_cast<size_t>(kind)] = limit;
  });
}
aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return call("aclrtGetDeviceResLimit", [&] {
    device::check_device(deviceId);
    result(value, "value") = device_limit(deviceId, checked(type));
  });
}
aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return call("aclrtResetDeviceResLimit", [&] {
    device::check_device(deviceId);
    const std::lock_guard lock(table().mutex);
    table().of_device.erase(deviceId);
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return call("aclrtSetStreamResLimit", [&] {
    const void* handle = device::stream_from_handle(stream).handle();
    const int kind = checked(type);
    const uint32_t limit = checked(kind, value);
    const std::lock_guard lock(table().mutex);
    table().of_stream[handle][static_cast<size_t>(kind)] = limit;
  });
}
aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return call("aclrtGetStreamResLimit", [&] {
    const device::Stream& found = device::stream_from_handle(stream);
    result(value, "value") = stream_limit(found.handle(), found.device(), checked(type));
  });
}
aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return call("aclrtResetStreamResLimit", [&] {
    const void* handle = device::stream_from_handle(stream).handle();
    const std::lock_guard lock(table().mutex);
    table().of_stream.erase(handle);
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return call("aclrtUseStreamResInCurrentThread", [&] { used_stream = device::stream_from_handle(stream).handle(); });
}
aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return call("aclrtUnuseStreamResInCurrentThread", [&] {
    if (device::stream_from_handle(stream).handle() == used_stream) used_stream = nullptr;
  });
}
aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return call("aclrtGetResInCurrentThread", [&] {
    const int kind = checked(type);
    const device::Stream* used = device::find_stream(used_stream);
    result(value, "value") = used != nullptr ? stream_limit(used_stream, used->device(), kind)
                                             : device_limit(device::current_device(), kind);
  });
}
