// SPDX-License-Identifier: Apache-2.0
// Recording streams and running what was recorded.
#include "device/queue/capture.h"

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
