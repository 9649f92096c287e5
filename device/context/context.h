// SPDX-License-Identifier: Apache-2.0
// Which device a thread works on. Each device has a default (primary) context with a default stream, made by the first
// set_device; clients may create more. One context is current per thread.
#pragma once

#include <cstdint>

#include "device/process/init.h"
#include "device/queue/stream_table.h"

namespace npu::device {

struct Context {
  int device = -1;
  bool primary = false;
  Stream* default_stream = nullptr;
  void* handle = nullptr;
};

/// Makes the device's default context current for this thread and counts the call. Raises 107001 for a bad number.
void set_device(int device);
/// Undoes one set_device. At zero: all work ends, and every context, stream and block of the device is released; their
/// handles are refused from then on. Raises 107001 for a bad number; a reset too many does nothing.
void reset_device(int device);
/// Device of the thread. Raises 107002 when none is set; with a default device configured, only as long as no thread of
/// the process has set one (start-up code asks first and then sets).
int get_device();

/// The device for threads that never set one (acl_default.json); -1 for none. Work on such threads makes it current.
void set_default_device(int device);

/// The context that work of this thread goes to: the current one, else that of the default device.
/// Raises 107002: no device set, or the context was destroyed or reset.
Context& current_context();
inline int current_device() { return current_context().device; }
/// The same device number without raising or binding anything; -1 when the thread has none.
int bound_device();

/// A further context on `device`, current for this thread at once.
void* create_context(int device);
/// Ends the context with its streams, after their work. Raises 107017 for a bad handle, 107000 for a default context.
void destroy_context(void* handle);
void set_current_context(void* handle);

/// Whether the default context of `device` exists.
bool primary_context_active(int device);

/// A stream in the current context. Raises 107000 for a priority above 7.
void* create_stream(uint32_t priority = 0, uint32_t flags = 0);
/// The default stream of the current context.
Stream& default_stream();
/// The stream of `handle`; null means the default stream of the current context. Raises 107017 with a text for garbage
/// or destroyed handles, 107002 when null is given and no device is set.
inline Stream& stream_from_handle(void* handle) {
  check_process();
  return handle == nullptr ? default_stream() : get_stream(handle);
}
/// Waits for all streams of the current device, as synchronize_streams does (queue/stream_table.h).
void synchronize_device(WaitLimit limit = -1);

}  // namespace npu::device
