// SPDX-License-Identifier: Apache-2.0
#include "device/queue/stream_table.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "device/process/handle.h"
#include "device/process/init.h"
#include "device/queue/callback.h"

namespace npu::device {
namespace {

using Table = HandleTable<Stream, HandleKind::kStream>;
using Clock = std::chrono::steady_clock;

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

std::atomic<int32_t> next_id{0};

}  // namespace

struct StreamAccess {
  static Stream& open(const StreamOptions& options) {
    Stream* made = nullptr;
    table().create([&](Stream& stream, void* handle) {
      if (stream.progress_ == nullptr) stream.progress_ = &new_progress();
      stream.told_ = nullptr;
      stream.failure_mode_ = FailureMode::kContinue;
      stream.overflow_switch_ = false;
      stream.aborting_ = false;
      stream.closing_ = false;
      stream.owner_ = options.owner;
      stream.is_default_ = options.is_default;
      stream.handle_ = handle;
      stream.id_ = next_id.fetch_add(1, std::memory_order_relaxed);
      stream.device_ = options.device;
      stream.priority_ = options.priority;
      stream.flags_ = options.flags;
      made = &stream;
    });
    return *made;
  }

  // The handle is dead for new calls already. Returns the failure nobody asked for.
  static FailurePtr close(Stream& stream, bool force) {
    if (force) stream.aborting_ = true;
    const uint64_t target = stream.progress_->submitted.load(std::memory_order_acquire);
    std::unique_lock lock(stream.mutex_);
    stream.closing_ = true;
    stream.work_.notify_all();
    while (stream.has_thread_ || stream.progress_->completed.load(std::memory_order_acquire) < target) {
      stream.awaited_ = std::min(stream.awaited_, target);
      stream.done_.wait(lock);
    }
    lock.unlock();
    detail::drop_subscription(stream);
    return stream.clear(nullptr);
  }

  // Current waiters of the stream get the error; afterwards the stream works as a new one.
  static void abort(Stream& stream) {
    stream.refuse_own_task("abort");
    const uint64_t target = stream.progress_->submitted.load(std::memory_order_acquire);
    const auto done = [&] { return stream.progress_->completed.load(std::memory_order_acquire) >= target; };
    {
      std::unique_lock lock(stream.mutex_);
      if (!done()) {
        stream.told_ = std::make_shared<const Failure>(
            Error(Code::kFailure, fmt::format("stream {} of device {} was aborted", stream.id(), stream.device())));
        ++stream.times_told_;
      }
      stream.aborting_ = true;
      stream.work_.notify_all();
      stream.room_.notify_all();
      while (!done()) {
        stream.awaited_ = std::min(stream.awaited_, target);
        stream.done_.wait(lock);
      }
      stream.aborting_ = false;
    }
    stream.clear(nullptr);
  }
  static void wait(Stream& stream, WaitLimit limit) { stream.wait(limit); }
  static void clear(Stream& stream, const FailurePtr& only) { stream.clear(only); }

  static void refuse_close(const Stream& stream) {
    stream.refuse_own_task("destroy");
    if (stream.is_default_) {
      fail(Code::kRtParamInvalid, "stream {} is the default stream of its context and ends with it", stream.handle_);
    }
  }
  static const void* owner(const Stream& stream) { return stream.owner_.load(std::memory_order_relaxed); }
  static bool any_failure() { return Stream::untold_failures_.load(std::memory_order_acquire) != 0; }
};

namespace {

void destroy(void* handle, bool force) {
  check_process();
  if (handle == nullptr) {
    fail(Code::kRtParamInvalid, "the stream handle is null; the default stream ends with its context");
  }
  // First nobody finds the handle any more, then the stream ends, and only then may its place be used again.
  StreamAccess::refuse_close(table().get(handle));
  Stream* stream = table().retire(handle);
  if (stream == nullptr) refuse_handle(HandleKind::kStream, handle);
  const FailurePtr failed = StreamAccess::close(*stream, force);
  table().recycle(handle);
  if (failed && !force) throw Error(failed->error);
}

}  // namespace

Stream& open_stream(const StreamOptions& options) {
  detail::set_drain(drain_streams);
  return StreamAccess::open(options);
}

void destroy_stream(void* handle) { destroy(handle, false); }
void destroy_stream_force(void* handle) { destroy(handle, true); }

void abort_stream(void* handle) {
  check_process();
  StreamAccess::abort(get_stream(handle));
}

Stream* find_stream(const void* handle) { return table().find(handle); }

Stream& get_stream(const void* handle) { return table().get(handle); }

// All streams are waited for, also behind an error: what the client does next may free the memory they use.
void synchronize_streams(int device, WaitLimit limit) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(limit.milliseconds);
  std::optional<Error> refused;
  FailurePtr first;
  table().for_each([&](void*, Stream& stream) {
    if (stream.device() != device) return;
    try {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      StreamAccess::wait(stream, limit.none() ? limit : WaitLimit(std::max<int64_t>(left, 0), limit.option));
    } catch (const Error& error) {
      if (!refused) refused = error;
    }
    if (!first) first = stream.failure();
  });
  if (!first && refused) throw Error(std::move(*refused));
  if (!first) return;
  table().for_each([&](void*, Stream& stream) {
    if (stream.device() == device) StreamAccess::clear(stream, first);
  });
  throw Error(first->error);
}

void refuse_after_failure(int device) {
  if (!StreamAccess::any_failure()) [[likely]]
    return;
  table().for_each([&](void*, const Stream& stream) {
    if (stream.device() != device) return;
    const FailurePtr failed = stream.failure();
    if (failed && !failed->told) throw Error(failed->error);
  });
}

void close_streams(const void* owner) {
  std::vector<std::pair<void*, Stream*>> found;
  table().for_each([&](void* handle, Stream& stream) {
    if (StreamAccess::owner(stream) == owner) found.emplace_back(handle, &stream);
  });
  for (const auto& [handle, stream] : found) {
    if (table().retire(handle) == nullptr) continue;
    StreamAccess::close(*stream, false);
    table().recycle(handle);
  }
}

void drain_streams(int64_t timeout_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  table().for_each([&](void*, Stream& stream) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    try {
      stream.synchronize(std::max<int64_t>(left, 0));
    } catch (const Error&) {  // nobody is left to hear it
    }
  });
}

}  // namespace npu::device
