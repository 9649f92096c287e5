// SPDX-License-Identifier: Apache-2.0
// Every refusal is an Error: a code of acl/include/acl/acl_error.h, the sentence the user reads, and where it was
// raised. Rooms throw it; the door (acl/) catches it, returns the code and keeps the sentence for aclGetRecentErrMsg.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace npu {

/// aclError / aclnnStatus numbers that our own code raises. The full list with names is acl/include/acl/acl_error.h.
enum class Code : int32_t {
  kOk = 0,                             ///< success
  kInvalidParam = 100000,              ///< an argument is null, out of range or does not fit the others
  kUninitialized = 100001,             ///< not before aclInit or after aclFinalize, and not in a forked child
  kRepeatInitialize = 100002,          ///< aclInit, with no aclFinalize since the last
  kInvalidFile = 100003,               ///< a file given to aclInit cannot be read
  kParseFile = 100006,                 ///< what a file or a client's message holds is damaged or no JSON
  kInvalidDumpConfig = 100009,         ///< a dump is asked for in words that it does not know, or of no folder
  kOpNotFound = 100024,                ///< an operator's name is not known here, and nobody else runs it
  kUnsupportedDataType = 100026,       ///< an operator of that name has no form for the element type
  kRepeatSubscribe = 100033,           ///< the stream has a thread for callbacks already
  kStreamNotSubscribed = 100034,       ///< the stream has none
  kRepeatFinalize = 100037,            ///< aclFinalize a second time
  kProfAlreadyRun = 100042,            ///< aclprofStart, with no aclprofStop since the last
  kProfNotRun = 100043,                ///< not before aclprofStart
  kDumpAlreadyRun = 100044,            ///< aclmdlInitDump, with no aclmdlFinalizeDump since the last
  kDumpNotRun = 100045,                ///< not before aclmdlInitDump
  kRtParamInvalid = 107000,            ///< kInvalidParam of the runtime: flags, sizes, ranges of memory
  kRtInvalidDevice = 107001,           ///< there is no device of that number
  kRtContextNull = 107002,             ///< the thread has no context: no device was set
  kRtStreamContext = 107003,           ///< a task would wait for its own stream
  kRtEventTimestamp = 107006,          ///< the event keeps no time, or has none yet
  kRtEventTimestampReversal = 107007,  ///< the second event came first
  kRtThreadSubscribe = 107012,         ///< the thread asks for callbacks and is subscribed to no stream
  kRtInvalidHandle = 107017,           ///< unknown, or destroyed
  kRtWaitTimeout = 107019,             ///< an operator's wait, or one for queued work to leave memory, was too long
  kNnNullPointer = 161001,             ///< an operator's argument is null that must not be
  kNnInvalidParam = 161002,            ///< an operator's arguments do not fit: shapes, types, attributes (require)
  kBadAlloc = 200000,                  ///< the host's memory is used up
  kProfModulesUnsupported = 200007,    ///< profiling is asked for what this device has not
  kFeatureUnsupported = 207000,        ///< not built, or not offered by the SoC
  kMemoryAllocation = 207001,          ///< the device's memory is used up
  kOverLimit = 207012,                 ///< too many live handles of one kind
  kQueueEmpty = 207013,                ///< nothing came through a channel in time
  kQueueFull = 207014,                 ///< a channel had no room in time
  kNnRuntime = 361001,                 ///< the client failed in what it was asked to run
  kInternal = 500000,                  ///< a fault of ours: a promise between two rooms is broken
  kFailure = 500001,                   ///< what was waited for was stopped
  kRtInternal = 507000,                ///< the system refused a resource, or a collective failed
  kReportTimeout = 507012,             ///< no callback came in time
  kAicoreException = 507015,           ///< a task failed; told where its stream is synchronised
  kStreamSyncTimeout = 507046,         ///< a stream, or a device, was not done in time
  kEventSyncTimeout = 507047,          ///< an event was not reached in time
  kNnInner = 561000,                   ///< phase 1 or 2 met an exception that is no Error
  kNnFindKernel = 561003,              ///< a row of the tables cannot be called
  kNnCreateExecutor = 561101,          ///< no room for one more executor or tensor object
  kNnBadExecutor = 561103,             ///< an executor that is null, destroyed, or another function's
};

class Error : public std::exception {
 public:
  Error(Code code, std::string message, std::source_location place = std::source_location::current())
      : code_(code), message_(std::move(message)), place_(place) {}
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::source_location& place() const { return place_; }
  const char* what() const noexcept override;

 private:
  Code code_;
  std::string message_;
  std::source_location place_;
};

/// A format string that remembers the line it stands on.
template <class... Args>
struct Format {
  fmt::format_string<Args...> text;
  std::source_location place;
  template <class S>
  consteval Format(const S& s, std::source_location where = std::source_location::current())  // NOLINT: implicit
      : text(s), place(where) {}
};

namespace detail {
[[noreturn, gnu::cold]] void raise(Code code, fmt::string_view text, fmt::format_args arguments,
                                   const std::source_location& place);
}  // namespace detail

/// Raises Error(code, text). Say what was got and what to do: "mat1 is 3x4, mat2 is 5x6: inner sizes differ (4 and 5)".
template <class... Args>
[[noreturn]] void fail(Code code, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  detail::raise(code, format.text, fmt::make_format_args(args...), format.place);
}

/// Refuses a bad operator argument (161002) unless `condition` holds.
template <class... Args>
void require(bool condition, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    detail::raise(Code::kNnInvalidParam, format.text, fmt::make_format_args(args...), format.place);
}

}  // namespace npu
