// SPDX-License-Identifier: Apache-2.0
#include "device/context/context.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "device/memory/memory.h"
#include "device/process/handle.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

using Table = HandleTable<Context, HandleKind::kContext>;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

struct Primary {
  std::atomic<void*> handle{nullptr};
  std::atomic<int64_t> set_count{0};
};

constinit std::array<Primary, kMaxDevices> primaries{};
constinit std::atomic<int> default_device{-1};
constinit std::atomic<bool> any_device_set{false};
constinit thread_local void* current = nullptr;
std::mutex change_mutex;  // contexts come and go one at a time

void* open_context(int device, bool primary) {
  detail::start_process();
  Context* made = nullptr;
  void* handle = table().create([&](Context& context, void* self) {
    context = Context{device, primary, nullptr, self};
    made = &context;
  });
  made->default_stream = &open_stream({device, made, true});
  return handle;
}

// The handle ends first, so nobody finds the context while its streams close.
void close_context(void* handle) {
  Context* context = table().retire(handle);
  if (context == nullptr) return;
  close_streams(context);
  table().recycle(handle);
}

void* primary_of(int device) {
  Primary& primary = primaries[static_cast<size_t>(device)];
  if (void* handle = primary.handle.load(std::memory_order_acquire)) return handle;
  std::lock_guard lock(change_mutex);
  void* handle = primary.handle.load(std::memory_order_acquire);
  if (handle == nullptr) {
    handle = open_context(device, true);
    primary.handle.store(handle, std::memory_order_release);
  }
  any_device_set.store(true, std::memory_order_relaxed);
  return handle;
}

void release_device(int device) {
  std::lock_guard lock(change_mutex);
  primaries[static_cast<size_t>(device)].handle.store(nullptr, std::memory_order_release);
  std::vector<void*> handles;
  table().for_each([&](void* handle, const Context& context) {
    if (context.device == device) handles.push_back(handle);
  });
  for (void* handle : handles) close_context(handle);
  release_all(device);
}

}  // namespace

void set_device(int device) {
  check_usable();
  check_device(device);
  current = primary_of(device);
  primaries[static_cast<size_t>(device)].set_count.fetch_add(1, std::memory_order_relaxed);
  NPU_DEVICE_LOG(kInfo, "DRV", device, "set by a thread");
}

void reset_device(int device) {
  check_process();
  check_device(device);
  std::atomic<int64_t>& count = primaries[static_cast<size_t>(device)].set_count;
  int64_t before = count.load(std::memory_order_relaxed);
  while (before > 0 && !count.compare_exchange_weak(before, before - 1)) {
  }
  if (before != 1) return;
  if (bound_device() == device) current = nullptr;
  release_device(device);
  NPU_DEVICE_LOG(kInfo, "DRV", device, "reset");
}

int bound_device() {
  if (current != nullptr) {
    const Context* context = table().find(current);
    return context == nullptr ? -1 : context->device;
  }
  return any_device_set.load(std::memory_order_relaxed) ? default_device.load(std::memory_order_relaxed) : -1;
}

int get_device() {
  check_process();
  if (current == nullptr) {
    if (const int device = bound_device(); device >= 0) return device;
    fail(Code::kRtContextNull, "no device is set in this thread; call aclrtSetDevice first");
  }
  return current_context().device;
}

void set_default_device(int device) {
  if (device != -1) check_device(device);
  default_device.store(device, std::memory_order_relaxed);
}

Context& current_context() {
  if (Context* context = current == nullptr ? nullptr : table().find(current)) [[likely]]
    return *context;
  check_process();
  if (current != nullptr) {
    fail(Code::kRtContextNull,
         "the context of this thread was destroyed, or its device was reset by another thread; "
         "call aclrtSetDevice or aclrtSetCurrentContext");
  }
  const int device = default_device.load(std::memory_order_relaxed);
  if (device < 0) fail(Code::kRtContextNull, "no device is set in this thread; call aclrtSetDevice first");
  check_usable();
  current = primary_of(device);
  return table().get(current);
}

void* create_context(int device) {
  check_usable();
  check_device(device);
  std::lock_guard lock(change_mutex);
  current = open_context(device, false);
  return current;
}

void destroy_context(void* handle) {
  check_process();
  std::lock_guard lock(change_mutex);
  if (table().get(handle).primary) {
    fail(Code::kRtParamInvalid, "context {} is the default context of its device and ends with aclrtResetDevice",
         handle);
  }
  if (current == handle) current = nullptr;
  close_context(handle);
}

void set_current_context(void* handle) {
  check_process();
  current = table().get(handle).handle;
}

bool primary_context_active(int device) {
  check_process();
  check_device(device);
  return primaries[static_cast<size_t>(device)].handle.load(std::memory_order_acquire) != nullptr;
}

void* create_stream(uint32_t priority, uint32_t flags) {
  check_usable();
  if (priority > 7) fail(Code::kRtParamInvalid, "stream priority {} is outside 0 (high) to 7 (low)", priority);
  const Context& context = current_context();
  return open_stream({context.device, &context, false, priority, flags}).handle();
}

Stream& default_stream() { return *current_context().default_stream; }

void synchronize_device(WaitLimit limit) {
  check_process();
  synchronize_streams(current_device(), limit);
}

}  // namespace npu::device
