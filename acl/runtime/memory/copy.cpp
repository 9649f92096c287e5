// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/memory/copy.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "acl/call.h"
#include "acl/include/acl/acl_rt.h"
#include "base/thread_pool.h"
#include "device/context/context.h"
#include "device/memory/hold.h"
#include "device/memory/host.h"
#include "device/memory/memory.h"
#include "device/queue/capture.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;

// Pageable sources up to this size are put aside, so that the caller need not wait for the stream.
constexpr size_t kStaged = 256 << 10;

enum class Side { kHost, kDevice };
struct Sides {
  Side from, to;
};

const char* name_of(int kind) {
  static constexpr const char* kNames[] = {"ACL_MEMCPY_HOST_TO_HOST",
                                           "ACL_MEMCPY_HOST_TO_DEVICE",
                                           "ACL_MEMCPY_DEVICE_TO_HOST",
                                           "ACL_MEMCPY_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_DEFAULT",
                                           "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE",
                                           "ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_INTER_DEVICE_TO_DEVICE"};
  return kNames[kind];
}

Side side_of(const void* address) { return device::is_device_address(address) ? Side::kDevice : Side::kHost; }

Sides sides_of(const Copy& copy) {
  switch (copy.kind) {
    case ACL_MEMCPY_HOST_TO_HOST: return {Side::kHost, Side::kHost};
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: return {Side::kHost, Side::kDevice};
    case ACL_MEMCPY_DEVICE_TO_HOST: return {Side::kDevice, Side::kHost};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE: return {Side::kDevice, Side::kDevice};
    case ACL_MEMCPY_DEFAULT: return {side_of(copy.from), side_of(copy.to)};
    default: fail(Code::kRtParamInvalid, "kind is {}; pass an aclrtMemcpyKind between 0 and 7", copy.kind);
  }
}

}  // namespace

// One system call finds most wild host pointers before they crash the process; page-locked memory is known to be fine.
void check_host(const void* address, size_t bytes, const char* argument) {
  if (device::is_pinned(address, bytes)) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t page = begin & ~uintptr_t{4095};
  if (begin + bytes < begin ||
      (msync(reinterpret_cast<void*>(page), begin - page + bytes, MS_ASYNC) != 0 && errno == ENOMEM))
    fail(Code::kRtParamInvalid, "{}: {} bytes at {} are not all memory of this process; pass a valid host address",
         argument, bytes, address);
}

namespace {

void check_side(Side side, const void* address, size_t bytes, int kind, const char* argument) {
  if (side == Side::kDevice) return device::check_live(address, bytes, device::kAnyDevice, argument);
  if (side_of(address) == Side::kDevice)
    fail(Code::kRtParamInvalid,
         "{} {} is device memory, but kind is {} ({}), which makes it host memory; pass the kind that "
         "fits",
         argument, address, kind, name_of(kind));
  check_host(address, bytes, argument);
}

void check_capacity(size_t capacity, size_t bytes, const char* capacity_name) {
  if (bytes > capacity)
    fail(Code::kRtParamInvalid, "count is {} bytes, more than {} = {}; copy less or pass the true size of the target",
         bytes, capacity_name, capacity);
}

Sides check(const Copy& copy) {
  given(copy.to, "dst");
  given(copy.from, "src");
  check_capacity(copy.capacity, copy.bytes, "destMax");
  const Sides sides = sides_of(copy);
  if (copy.total() == 0) return sides;
  check_side(sides.to, copy.to, copy.written(), copy.kind, "dst");
  check_side(sides.from, copy.from, copy.read(), copy.kind, "src");
  return sides;
}

constexpr size_t kLargeCopy = 1 << 20;
constexpr int64_t kCopyPart = 512 << 10;

/// Addresses as kernels see them; host addresses come back unchanged. The ranges may overlap. All threads take part in
/// large copies: one alone leaves half of the memory's speed.
void move_bytes(void* to, const void* from, size_t bytes) {
  auto* const target = static_cast<std::byte*>(device::resolve(to, bytes));
  const auto* const source = static_cast<const std::byte*>(device::resolve(from, bytes));
  const bool apart = target + bytes <= source || source + bytes <= target;
  if (bytes < kLargeCopy || !apart) {
    std::memmove(target, source, bytes);
    return;
  }
  parallel_for(static_cast<int64_t>(bytes), kCopyPart, [&](int64_t begin, int64_t end) {
    std::memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
  });
}

void move(const Copy& copy) {
  auto* to = static_cast<std::byte*>(copy.to);
  const auto* from = static_cast<const std::byte*>(copy.from);
  for (size_t row = 0; row < copy.rows; ++row)
    move_bytes(to + row * copy.to_pitch, from + row * copy.from_pitch, copy.bytes);
}

int64_t cost_of(size_t bytes) { return 200 + static_cast<int64_t>(bytes / 8); }

void launch(device::Stream& stream, const char* name, uint32_t flags, size_t bytes, device::TaskBody body) {
  device::Task task;
  task.name = name;
  task.cost_ns = cost_of(bytes);
  task.flags = flags;
  task.body = std::move(body);
  stream.launch(std::move(task));
}

int device_of(const void* address) { return device::find_block(address).device; }

/// Whether the copy shows what is in a device's memory to the host or to another device.
bool shows(const Sides& sides, const Copy& copy) {
  return sides.from == Side::kDevice && (sides.to == Side::kHost || device_of(copy.from) != device_of(copy.to));
}

trace::Move move_of(const Sides& sides) {
  const bool from_host = sides.from == Side::kHost;
  if (sides.to == Side::kHost) return from_host ? trace::Move::kHostToHost : trace::Move::kDeviceToHost;
  return from_host ? trace::Move::kHostToDevice : trace::Move::kDeviceToDevice;
}

/// One side of a recorded copy or fill, whose runs come when the client may have freed the memory: a graph retains what
/// it can, and checks the rest at each run.
struct RecordedSide {
  RecordedSide(Side its_side, const void* its_address, size_t its_bytes, const char* its_argument)
      : side(its_side), address(its_address), bytes(its_bytes), argument(its_argument), hold(its_address) {}
  void check() const {
    if (hold) return device::check_not_freed(hold, argument);
    if (side == Side::kHost) return check_host(address, bytes, argument);
    device::check_live(address, bytes, device::kAnyDevice, argument);
  }
  Side side;
  const void* address;
  size_t bytes;
  const char* argument;
  device::Hold hold;
};

device::TaskBody recorded_move(const Copy& copy, const Sides& sides, trace::Move direction) {
  return [copy, direction, to = RecordedSide(sides.to, copy.to, copy.written(), "dst"),
          from = RecordedSide(sides.from, copy.from, copy.read(), "src")] {
    to.check();
    from.check();
    trace::moves(direction, copy.total());
    move(copy);
  };
}

void launch_move(device::Stream& stream, const Copy& copy, const Sides& sides, uint32_t flags) {
  const trace::Move direction = move_of(sides);
  if (device::captured(stream))
    return launch(stream, "memcpy", flags, copy.total(), recorded_move(copy, sides, direction));
  if (copy.rows != 1) {
    return launch(stream, "memcpy", flags, copy.total(), [copy, direction] {
      trace::moves(direction, copy.total());
      move(copy);
    });
  }
  launch(stream, "memcpy", flags, copy.bytes, [to = copy.to, from = copy.from, bytes = copy.bytes, direction] {
    trace::moves(direction, bytes);
    move_bytes(to, from, bytes);
  });
}

void launch_staged(device::Stream& stream, const Copy& copy) {
  auto aside = std::make_unique_for_overwrite<std::byte[]>(copy.total());
  Copy in = copy, out = copy;
  in.to = aside.get(), in.to_pitch = copy.bytes;
  out.from = aside.get(), out.from_pitch = copy.bytes;
  move(in);
  launch(stream, "memcpy", device::kTaskKernel, copy.total(), [out, aside = std::move(aside)] {
    trace::moves(trace::Move::kHostToDevice, out.total());
    move(out);
  });
}

bool pageable(Side side, const void* address, size_t bytes) {
  return side == Side::kHost && !device::is_pinned(address, bytes);
}

/// The address tells on which side the fill is; of host memory, only the page-locked kind is the device's to write.
Side check_fill(void* to, size_t capacity, size_t bytes) {
  given(to, "devPtr");
  check_capacity(capacity, bytes, "maxCount");
  if (bytes > 0 && side_of(to) == Side::kHost) {
    if (!device::is_pinned(to, bytes))
      fail(Code::kRtParamInvalid,
           "devPtr: the {} bytes at {} are neither device memory nor within one block of page-locked host memory; pass "
           "memory of aclrtMalloc or aclrtMallocHost, and fill ordinary host memory with memset",
           bytes, to);
    return Side::kHost;
  }
  device::check_live(to, bytes, device::kAnyDevice, "devPtr");
  return Side::kDevice;
}

/// Waits for the work a synchronous call comes after. Raises 107002 without a device.
void finish_default_stream() { device::current_context().default_stream->synchronize(); }

/// In this thread; shown as a task of the stream it comes after.
template <class F>
void run_now(const char* name, trace::Move move, size_t bytes, F&& body) {
  if (!trace::on()) return body();
  trace::TaskScope task(trace::launch_here(), true);
  task.moves(move, bytes);
  body();
  const device::Stream& stream = *device::current_context().default_stream;
  task.finish(stream.device(), stream.id(), trace::kNoNumber, name);
}

}  // namespace

void copy_now(const Copy& copy) {
  device::check_safe("a synchronous copy");
  const Sides sides = check(copy);
  if (copy.total() == 0) return;
  if (sides.from == Side::kDevice || sides.to == Side::kDevice) finish_default_stream();
  if (shows(sides, copy)) device::refuse_after_failure(device_of(copy.from));
  const auto body = [&] { move(copy); };
  if (sides.from == Side::kHost && sides.to == Side::kHost) return body();
  run_now("memcpy", move_of(sides), copy.total(), body);
}

void copy_in_stream(const Copy& copy, device::Stream& stream) {
  const Sides sides = check(copy);
  if (copy.total() == 0) return;
  const bool written_late = pageable(sides.to, copy.to, copy.written());
  const bool read_late = pageable(sides.from, copy.from, copy.read());
  const uint32_t flags = shows(sides, copy) ? device::kTaskShows : device::kTaskKernel;
  if (!written_late && !read_late) return launch_move(stream, copy, sides, flags);
  device::check_safe("a copy of pageable host memory");
  // The runs of a graph read or write the host memory as it is then; an update of its tasks passes what it is now.
  const bool recorded = device::captured(stream), updating = device::updating(stream);
  if (!written_late && (updating || (copy.total() <= kStaged && !recorded))) return launch_staged(stream, copy);
  launch_move(stream, copy, sides, flags | device::kTaskHostCopy);
  if (recorded) return;
  stream.synchronize();
}

void fill_now(void* to, size_t capacity, int32_t value, size_t bytes) {
  device::check_safe("a synchronous fill");
  const Side side = check_fill(to, capacity, bytes);
  if (bytes == 0) return;
  const auto body = [&] { std::memset(device::resolve(to, bytes), value, bytes); };
  if (side == Side::kHost) return body();
  finish_default_stream();
  run_now("memset", trace::Move::kFill, bytes, body);
}

void fill_in_stream(void* to, size_t capacity, int32_t value, size_t bytes, device::Stream& stream) {
  const Side side = check_fill(to, capacity, bytes);
  if (bytes == 0) return;
  const auto body = [to, value, bytes] {
    trace::moves(trace::Move::kFill, bytes);
    std::memset(device::resolve(to, bytes), value, bytes);
  };
  if (!device::captured(stream)) return launch(stream, "memset", device::kTaskKernel, bytes, body);
  launch(stream, "memset", device::kTaskKernel, bytes, [body, filled = RecordedSide(side, to, bytes, "devPtr")] {
    filled.check();
    body();
  });
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return call("aclrtMemcpy", [&] { copy_now({dst, destMax, src, count, kind}); });
}
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return call("aclrtMemcpyAsync",
              [&] { copy_in_stream({dst, destMax, src, count, kind}, device::stream_from_handle(stream)); });
}
aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream) {
  return call("aclrtMemcpyAsyncWithCondition",
              [&] { copy_in_stream({dst, destMax, src, count, kind}, device::stream_from_handle(stream)); });
}
aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return call("aclrtMemset", [&] { fill_now(devPtr, maxCount, value, count); });
}
aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return call("aclrtMemsetAsync",
              [&] { fill_in_stream(devPtr, maxCount, value, count, device::stream_from_handle(stream)); });
}
