// SPDX-License-Identifier: Apache-2.0
// Host functions in a stream: those the runtime calls itself (host functions) and those that wait for the client's
// thread to come by (aclrtProcessReport).
#pragma once

#include <cstdint>

namespace npu::device {

class Stream;
using HostFunction = void (*)(void* data);

/// Names the thread (pthread_self as a number) that runs the callbacks of `stream`. Raises 100033 when the stream has
/// one already.
void subscribe(uint64_t thread_id, Stream& stream);
/// Ends it; callbacks that are due get a second to run, then they are dropped. Raises 100034 when they were not
/// subscribed.
void unsubscribe(uint64_t thread_id, Stream& stream);

/// Queues `function` for the subscribed thread. With `blocking` later work of the stream waits for it.
/// Raises 100034 when the stream has no thread.
void launch_callback(Stream& stream, HostFunction function, void* data, bool blocking);
/// Runs the callbacks that are due for the calling thread, waiting up to `timeout_ms` (-1: for ever) for the first.
/// Raises 507012 when none came, 107012 when the thread is subscribed to no stream by then (after 1 s for -1).
void process_report(int64_t timeout_ms);

/// Queues `function`, called by the stream's own thread.
void launch_host_function(Stream& stream, HostFunction function, void* data);

/// True when queued work may wait for the calling thread: it runs a task or a callback, or is the callback thread of
/// some stream. Such a thread must not wait for queued work.
bool is_awaited_by_work();

namespace detail {
/// Forgets the subscription of a stream that is being destroyed.
void drop_subscription(const Stream& stream);
}  // namespace detail

}  // namespace npu::device
