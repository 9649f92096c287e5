// SPDX-License-Identifier: Apache-2.0
// aclInit and aclFinalize.
#include "acl/call.h"
#include "acl/error_state.h"
#include "acl/include/acl/acl.h"
#include "acl/runtime/config.h"
#include "acl/runtime/dump.h"
#include "anynpu/error.h"
#include "device/context/context.h"
#include "device/process/init.h"
#include "device/process/soc.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclInit(const char* configPath) {
  // Libraries that share a process call it each, and leave aclFinalize to the first.
  return ask("aclInit", Code::kRepeatInitialize, [&] {
    // The file first: a client that is refused may repair it and call again.
    Config config = configPath == nullptr ? Config{} : read_config(configPath);
    if (config.default_device >= 0) device::check_device(config.default_device);
    device::initialize();
    if (config.default_device >= 0) device::set_default_device(config.default_device);
    begin_dumps(std::move(config));
  });
}

aclError aclFinalize() {
  return ask("aclFinalize", Code::kRepeatFinalize, [] { device::finalize(); });
}

// As on a card: clients take any pointer for a failure.
const char* aclGetRecentErrMsg() {
  const char* text = recent_error();
  return *text == '\0' ? nullptr : text;
}
const char* anynpu_recent_reason() { return recent_reason(); }
