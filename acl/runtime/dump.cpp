// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/dump.h"

#include <atomic>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/include/anynpu/dump.h"
#include "acl/notice.h"
#include "base/log.h"
#include "graph/dump/tensor/exception_dump.h"
#include "graph/dump/tensor/tensor_dump.h"

namespace npu::acl {
namespace {

std::atomic<bool> prepared{false};  // aclmdlInitDump

}  // namespace

void begin_dumps(Config config) {
  const auto tell = [](const std::string& text) { tell_once(text); };
  if (config.dump) {
    graph::start_dump(std::move(*config.dump), tell);
    NPU_LOG(kInfo, "DUMP", "operators are dumped to {}", graph::dump_folder());
  }
  if (config.dump_failures) graph::dump_failures(tell);
}

namespace {

void stop_dumps() {
  graph::stop_dump();
  graph::stop_dump_of_failures();
}

/// Clients drop the codes of these functions, and their users would wait for files.
template <class F>
void told(F&& run) {
  try {
    run();
  } catch (const Error& error) {
    tell_once(error.message());
    throw;
  }
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlInitDump() {
  return call("aclmdlInitDump", [] {
    if (prepared.exchange(true))
      fail(Code::kDumpAlreadyRun, "aclmdlInitDump was called before; call aclmdlFinalizeDump first");
  });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return call("aclmdlSetDump", [&] {
    told([&] {
      if (!prepared) fail(Code::kDumpNotRun, "aclmdlInitDump was not called; call it first");
      Config config = read_config(given(dumpCfgPath, "dumpCfgPath"));
      if (!config.dump && !config.dump_failures)
        fail(Code::kInvalidDumpConfig,
             "dumpCfgPath {} asks for no dump; give dump.dump_list for graphs, or dump.dump_op_switch \"on\" for calls "
             "outside of graphs",
             dumpCfgPath);
      stop_dumps();  // the new words count from now on
      begin_dumps(std::move(config));
    });
  });
}

aclError aclmdlFinalizeDump() {
  return call("aclmdlFinalizeDump", [] {
    if (!prepared.exchange(false)) fail(Code::kDumpNotRun, "aclmdlInitDump was not called, so there is no dump to end");
    stop_dumps();
  });
}

aclError anynpu_dump_start(const char* json) {
  return call("anynpu_dump_start", [&] {
    Config config = parse_config(given(json, "json"), "of anynpu_dump_start");
    if (!config.dump && !config.dump_failures)
      fail(Code::kInvalidDumpConfig, "the text asks for no dump; give dump.dump_list or dump.dump_op_switch");
    begin_dumps(std::move(config));
  });
}

void anynpu_dump_stop() { stop_dumps(); }

void anynpu_dump_folder(void (*visit)(const char* folder, void* context), void* context) {
  if (const std::string folder = graph::dump_folder(); visit != nullptr && !folder.empty())
    visit(folder.c_str(), context);
}
