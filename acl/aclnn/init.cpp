// SPDX-License-Identifier: Apache-2.0
// aclnnInit and aclnnFinalize. Functions need neither: they are what clients call, and a file of theirs is read.
#include <atomic>

#include "acl/call.h"
#include "acl/include/aclnn/aclnn_base.h"
#include "acl/runtime/config.h"
#include "acl/runtime/dump.h"
#include "graph/dump/tensor/tensor_dump.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

namespace {
std::atomic<bool> begun{false};
}

aclnnStatus aclnnInit(const char* configPath) {
  return ask("aclnnInit", Code::kRepeatInitialize, [&] {
    Config config = configPath == nullptr ? Config{} : read_config(configPath);
    if (graph::dumping()) config.dump.reset();
    begin_dumps(std::move(config));
    if (begun.exchange(true))
      fail(Code::kRepeatInitialize, "aclnnInit was called before; one call per process is enough");
  });
}

aclnnStatus aclnnFinalize() {
  return call("aclnnFinalize", [] {
    if (!begun.exchange(false)) fail(Code::kUninitialized, "aclnnFinalize was called without aclnnInit");
  });
}
