// SPDX-License-Identifier: Apache-2.0
// Running models.
#include <limits>
#include <memory>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/model/job.h"
#include "device/context/context.h"
#include "device/queue/capture.h"
#include "device/queue/stream.h"
#include "device/queue/wait_limit.h"

struct aclmdlExecConfigHandle {
  int32_t stream_timeout = -1;
  int32_t event_timeout = -1;
};

namespace npu::acl {
namespace {

// Nobody knows before: it goes to the stream's thread, so that the caller can queue ahead.
constexpr int64_t kLong = std::numeric_limits<int64_t>::max();

void queue(uint32_t model, const aclmdlDataset* input, aclmdlDataset* output, device::Stream& stream,
           NoMemory no_memory) {
  // A recording would keep the model for as long as it lives, and aclmdlUnload would wait for that.
  device::check_not_captured(stream, "run a model on");
  const auto job =
      std::make_shared<const Job>(model, described(input, "input"), described(output, "output"), no_memory);
  if (stream.device() != job->device())
    fail(Code::kRtParamInvalid, "the stream is of device {} and model {} of device {}", stream.device(), model,
         job->device());
  device::Task task;
  task.name = "aclmdlExecuteAsync";
  task.cost_ns = kLong;
  task.body = [job] { job->run(); };
  stream.launch(std::move(task));
}

int32_t limit_of(const void* value, size_t size) {
  if (size != sizeof(int32_t)) fail(Code::kInvalidParam, "valueSize is {}; a limit is an int32 of 4 bytes", size);
  const int32_t limit = *static_cast<const int32_t*>(value);
  if (limit == 0 || limit < -1) fail(Code::kInvalidParam, "the limit is {}; give milliseconds, or -1 for none", limit);
  return limit;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return call("aclmdlExecute",
              [&] { Job(modelId, described(input, "input"), described(output, "output"), NoMemory::kAllocate).run(); });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream) {
  return call("aclmdlExecuteAsync",
              [&] { queue(modelId, input, output, device::stream_from_handle(stream), NoMemory::kRefuse); });
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream,
                         const aclmdlExecConfigHandle* handle) {
  return call("aclmdlExecuteV2", [&] {
    const aclmdlExecConfigHandle& limits = described(handle, "handle");
    device::Stream& on = device::stream_from_handle(stream);
    queue(modelId, input, output, on, NoMemory::kAllocate);
    on.synchronize(limits.stream_timeout);
  });
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream,
                              const aclmdlExecConfigHandle* handle) {
  return call("aclmdlExecuteAsyncV2", [&] {
    described(handle, "handle");
    queue(modelId, input, output, device::stream_from_handle(stream), NoMemory::kRefuse);
  });
}

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle(void) {
  return call_or<aclmdlExecConfigHandle*>("aclmdlCreateExecConfigHandle", nullptr,
                                          [] { return DescriptionPool<aclmdlExecConfigHandle>::create(); });
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle) {
  return call("aclmdlDestroyExecConfigHandle", [&] {
    described(handle, "handle");
    DescriptionPool<aclmdlExecConfigHandle>::destroy(handle);
  });
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr, const void* attrValue,
                                size_t valueSize) {
  return call("aclmdlSetExecConfigOpt", [&] {
    aclmdlExecConfigHandle& live = described(handle, "handle");
    given(attrValue, "attrValue");
    if (attr == ACL_MDL_STREAM_SYNC_TIMEOUT)
      live.stream_timeout = limit_of(attrValue, valueSize);
    else if (attr == ACL_MDL_EVENT_SYNC_TIMEOUT)
      live.event_timeout = limit_of(attrValue, valueSize);
    else if (attr >= ACL_MDL_WORK_ADDR_PTR && attr <= ACL_MDL_MEC_TIMETHR_SIZET)
      fail(Code::kFeatureUnsupported, "attr is {}, which is reserved; 0 and 1 are the limits of streams and events",
           static_cast<int>(attr));
    else
      fail(Code::kInvalidParam, "attr is {}; there are 0 to 7", static_cast<int>(attr));
  });
}
