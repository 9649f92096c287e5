// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/dump.h"

#include <atomic>
#include <cstring>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_dump.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/include/anynpu/dump.h"
#include "acl/notice.h"
#include "base/log.h"
#include "graph/dump/tensor/exception_dump.h"
#include "graph/dump/tensor/file_receiver.h"
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

using ChunkFunction = int32_t (*)(const acldumpChunk*, int32_t);

/// Gives parts of files to a client's function.
class ChunkCaller {
 public:
  explicit ChunkCaller(ChunkFunction function) : function_(function) {}

  void operator()(const graph::FilePart& part) {
    if (part.path.size() >= ACL_DUMP_MAX_FILE_PATH_LENGTH)
      fail(Code::kInvalidDumpConfig, "{}: a path of {} bytes does not fit acldumpChunk; choose a shorter dump_path",
           part.path, part.path.size());
    const size_t length = sizeof(acldumpChunk) + part.bytes.size();
    memory_.resize((length + sizeof(int64_t) - 1) / sizeof(int64_t));
    auto* chunk = reinterpret_cast<acldumpChunk*>(memory_.data());
    std::memset(chunk->fileName, 0, sizeof chunk->fileName);
    part.path.copy(chunk->fileName, part.path.size());
    chunk->bufLen = static_cast<uint32_t>(part.bytes.size());
    chunk->isLastChunk = part.last ? 1 : 0;
    chunk->offset = part.offset;
    chunk->flag = 0;
    std::memcpy(chunk->dataBuf, part.bytes.data(), part.bytes.size());
    if (const int32_t code = function_(chunk, static_cast<int32_t>(length)); code != 0)
      fail(Code::kInvalidDumpConfig, "{}: the function of acldumpRegCallback returned {}", part.path, code);
  }

 private:
  const ChunkFunction function_;
  std::vector<int64_t> memory_;
};

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

aclError acldumpRegCallback(ChunkFunction messageCallback, int32_t flag) {
  return call("acldumpRegCallback", [&] {
    if (messageCallback == nullptr)
      fail(Code::kInvalidParam, "messageCallback is null; give the function that takes the dump's data");
    if (flag != 0) fail(Code::kInvalidParam, "flag is {}; 0 is the only value: nothing goes to the disk", flag);
    if (graph::files_are_received())
      fail(Code::kInvalidParam, "a function is registered already; call acldumpUnregCallback first");
    graph::receive_files(ChunkCaller(messageCallback));
  });
}

aclError acldumpUnregCallback() {
  return call("acldumpUnregCallback", [] {
    if (graph::inside_receiver())
      fail(Code::kInvalidParam, "it was called from inside of the registered function; call it from another place");
    if (!graph::files_are_received())
      fail(Code::kInvalidParam, "no function is registered; call acldumpRegCallback first");
    graph::flush_dump();
    graph::receive_files(nullptr);
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
