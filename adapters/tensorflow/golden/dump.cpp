// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/dump.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>

#include "adapters/tensorflow/golden/npy.h"
#include "adapters/tensorflow/golden/writer.h"

namespace npu::tensorflow::golden {
namespace {

struct Dump {
  std::mutex mutex;
  std::atomic<bool> on = false;
  std::string folder;
  std::shared_ptr<Writer> writer;
  pid_t owner = 0;  ///< whose threads write: a forked child has none of them
};

// Never destroyed: TensorFlow's threads may run until the process is gone.
Dump& dump() {
  static Dump& instance = *new Dump;
  return instance;
}

void tell(const std::string& reason) {
  dump().on = false;
  const std::string line = "tfdbg_ascend: the dump has ended, a file could not be written: " + reason +
                           "; make room or choose another folder (set_dump_path) and call enable(). What was written "
                           "before is whole, and the computation goes on\n";
  std::fputs(line.c_str(), stderr);
}

std::shared_ptr<Writer> writer_of_process() {
  if (dump().owner != getpid()) {
    if (dump().owner != 0) new std::shared_ptr<Writer>(dump().writer);  // the parent's, whose threads are not here
    dump().writer = std::make_shared<Writer>(tell), dump().owner = getpid();
  }
  return dump().writer;
}

/// What is written of `values`: bfloat16 becomes float32.
void widen(Values& values) {
  if (values.type != TF_BFLOAT16) return;
  auto wide = std::make_shared<std::vector<uint32_t>>(widened(values.elements.get(), values.bytes / sizeof(uint16_t)));
  values.bytes = wide->size() * sizeof(uint32_t);
  values.elements = std::shared_ptr<const void>(wide, wide->data());
}

}  // namespace

void set_on(bool on) {
  const std::lock_guard lock(dump().mutex);
  if (on && dump().writer && dump().owner == getpid() && dump().writer->failed())
    dump().writer.reset(), dump().owner = 0;
  dump().on = on;
}

bool is_on() { return dump().on.load(std::memory_order_relaxed); }

void set_folder(std::string folder) {
  const std::lock_guard lock(dump().mutex);
  dump().folder = std::move(folder);
}

void put(std::string_view node, int64_t output, Values values) {
  if (!is_on() || npy_type(values.type).empty()) return;
  std::string head = npy_header(npy_type(values.type), values.shape);
  widen(values);
  std::shared_ptr<Writer> writer;
  File file{"", file_name(node, output, unique_now()), std::move(head), std::move(values.elements), values.bytes};
  {
    const std::lock_guard lock(dump().mutex);
    file.folder = dump().folder, writer = writer_of_process();
  }
  writer->put(std::move(file));
}

void finish() {
  std::shared_ptr<Writer> writer;
  {
    const std::lock_guard lock(dump().mutex);
    if (dump().owner == getpid()) writer = dump().writer;
  }
  if (writer) writer->drain();
}

}  // namespace npu::tensorflow::golden
