// SPDX-License-Identifier: Apache-2.0
// Recording streams and running what was recorded.
#include "device/queue/capture.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "base/json.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

constexpr size_t kLongestName = 512;  // as the vendor's page limits it

device::CaptureMode capture_mode(aclmdlRICaptureMode mode) {
  const int value = static_cast<int>(mode);
  if (value < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || value > ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    fail(Code::kRtParamInvalid, "mode is {}; it is 0 (global), 1 (thread local) or 2 (relaxed)", value);
  return static_cast<device::CaptureMode>(value);
}

void write_json(aclmdlRI recording, const char* path) {
  Json tasks = Json::array();
  for (const std::string& name : device::task_names(recording)) tasks.push_back({{"id", tasks.size()}, {"name", name}});
  const Json all = {{"modelRI", device::graph_id(recording)}, {"tasks", tasks}};
  std::ofstream out(path, std::ios::trunc);
  out << all.dump(1, InvalidUtf8::kReplace) << "\n";
  out.close();
  if (!out) fail(Code::kRtParamInvalid, "path is {}: {}; name a file that can be written", path, std::strerror(errno));
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return call("aclmdlRICaptureBegin",
              [&] { device::begin_capture(device::stream_from_handle(stream), capture_mode(mode)); });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return call("aclmdlRICaptureEnd", [&] {
    aclmdlRI& made = result(modelRI, "modelRI");
    made = nullptr;
    made = device::end_capture(device::stream_from_handle(stream));
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return call("aclmdlRICaptureGetInfo", [&] {
    given(status, "status");
    given(modelRI, "modelRI");
    const device::CaptureInfo info = device::capture_info(device::stream_from_handle(stream));
    *status = static_cast<aclmdlRICaptureStatus>(info.status);
    *modelRI = info.graph;
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return call("aclmdlRICaptureThreadExchangeMode", [&] {
    const device::CaptureMode wanted = capture_mode(*given(mode, "mode"));
    *mode = static_cast<aclmdlRICaptureMode>(device::exchange_capture_mode(wanted));
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return call("aclmdlRIExecuteAsync", [&] { device::execute_graph(modelRI, device::stream_from_handle(stream)); });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return call("aclmdlRIExecute", [&] {
    if (timeout != -1 && timeout <= 0)
      fail(Code::kRtParamInvalid, "timeout is {}; pass milliseconds, or -1 for no limit", timeout);
    device::Stream& stream = *device::current_context().default_stream;
    device::execute_graph(modelRI, stream);
    stream.synchronize(timeout);
  });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return call("aclmdlRIAbort", [&] { device::abort_graph(modelRI); });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return call("aclmdlRISetName", [&] { device::set_graph_name(modelRI, given(name, "name")); });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return call("aclmdlRIGetName", [&] {
    given(name, "name");
    if (maxLen == 0) fail(Code::kRtParamInvalid, "maxLen is 0; pass the bytes that name has room for");
    const std::string all = device::graph_name(modelRI);
    const size_t length = std::min({all.size(), size_t{maxLen} - 1, kLongestName});
    std::memcpy(name, all.data(), length);
    name[length] = '\0';
  });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return call("aclmdlRICaptureTaskGrpBegin", [&] { device::begin_task_group(device::stream_from_handle(stream)); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return call("aclmdlRICaptureTaskGrpEnd", [&] {
    give_made(handle, "handle", [&] { return device::end_task_group(device::stream_from_handle(stream)); });
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return call("aclmdlRICaptureTaskUpdateBegin",
              [&] { device::begin_update(device::stream_from_handle(stream), handle); });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return call("aclmdlRICaptureTaskUpdateEnd", [&] { device::end_update(device::stream_from_handle(stream)); });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return call("aclmdlRIDestroy", [&] { device::destroy_graph(modelRI); });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return call("aclmdlRIGetId", [&] { result(modelRIId, "modelRIId") = device::graph_id(modelRI); });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  return call("aclmdlRIDebugJsonPrint", [&] {
    if (flags > 1) fail(Code::kRtParamInvalid, "flags is {}; it is 0, or 1 for all that is known", flags);
    write_json(modelRI, given(path, "path"));
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return call("aclmdlRIDebugPrint", [&] {
    std::fputs(device::describe_graph(modelRI).c_str(), stdout);
    std::fflush(stdout);
  });
}
