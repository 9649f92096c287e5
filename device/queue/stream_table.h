// SPDX-License-Identifier: Apache-2.0
// All streams of the process, by handle: they open, close and are waited for together. Which context a thread works on,
// and so whose stream a null handle is, is known above (context/context.h).
#pragma once

#include <cstdint>

#include "device/queue/stream.h"

namespace npu::device {

/// What a stream is from its opening to its end.
struct StreamOptions {
  int device = -1;
  const void* owner = nullptr;  ///< the context it ends with
  bool is_default = false;      ///< and not before
  uint32_t priority = 0;
  uint32_t flags = 0;
};
Stream& open_stream(const StreamOptions& options);
/// Ends the streams of `owner`, after their work; errors that nobody asked for are dropped.
void close_streams(const void* owner);

/// Ends the stream after its work; a failed task's error that nobody asked for is raised after that. Raises 107017 for
/// a bad handle, 107000 for null (a default stream lives as long as its context).
void destroy_stream(void* handle);
/// Ends the stream; work that has not started is dropped, events recorded on it complete.
void destroy_stream_force(void* handle);

/// Drops work that has not started and waits for the task that runs; tasks that wait give up. Threads that wait for the
/// stream raise 500001; events recorded on it complete. The stream may be used again, without an error. Raises 107017
/// for a bad handle and for null.
void abort_stream(void* handle);

/// The stream of `handle` if it is alive, null otherwise.
Stream* find_stream(const void* handle);
/// The stream of `handle`. Raises 107017 with a text for garbage or destroyed handles, and for null.
Stream& get_stream(const void* handle);

/// Waits for all streams of `device`. Raises the first error found, for all streams that share it, or 507046 after
/// `limit`; streams with an error of their own keep it.
void synchronize_streams(int device, WaitLimit limit);
/// Waits for every stream of the process, at most `timeout_ms` in total; errors are dropped.
void drain_streams(int64_t timeout_ms);
/// Raises the error of a task on any stream of `device` that no synchronisation has told: copies that belong to no
/// stream ask before they show what is in the device's memory.
void refuse_after_failure(int device);

}  // namespace npu::device
