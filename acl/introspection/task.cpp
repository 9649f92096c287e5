// SPDX-License-Identifier: Apache-2.0
#include "anynpu/task.h"

#include <cstring>
#include <vector>

#include "acl/call.h"
#include "graph/dump/check/task.h"

namespace npu::acl {
namespace {

using Visit = void (*)(const anynpu_task* task, void* context);

void show(const graph::Task& task, Visit visit, void* context) {
  std::vector<const void*> blobs;
  std::vector<size_t> sizes;
  for (const graph::Blob& blob : task.blobs) blobs.push_back(blob.bytes.get()), sizes.push_back(blob.size);
  const anynpu_task out{sizeof out, task.text.c_str(), blobs.size(), blobs.data(), sizes.data()};
  visit(&out, context);
}

graph::Task copy_of(const anynpu_task& from) {
  graph::Task task{from.text, {}};
  for (size_t i = 0; i < from.blob_count; ++i) {
    graph::Blob& blob = task.blobs.emplace_back(from.sizes[i]);
    std::memcpy(blob.bytes.get(), from.blobs[i], blob.size);
  }
  return task;
}

}  // namespace
}  // namespace npu::acl

void anynpu_watch_tasks(npu::acl::Visit visit, void* context, int64_t every) {
  if (visit == nullptr) return npu::graph::watch_tasks({}, 1);
  npu::graph::watch_tasks([visit, context](const npu::graph::Task& task) { npu::acl::show(task, visit, context); },
                          every);
}

aclError anynpu_save_task(const anynpu_task* task, const char* folder, const char* told) {
  return npu::acl::call("anynpu_save_task", [&] {
    npu::graph::save_task(npu::acl::copy_of(*npu::acl::given(task, "task")), npu::acl::given(folder, "folder"),
                          npu::acl::given(told, "told"));
  });
}

aclError anynpu_replay_task(const char* folder, int32_t device, npu::acl::Visit visit, void* context) {
  return npu::acl::call("anynpu_replay_task", [&] {
    const npu::graph::Task task = npu::graph::load_task(npu::acl::given(folder, "folder"));
    npu::acl::show(task, npu::acl::given(visit, "visit"), context);
    npu::acl::show(npu::graph::run_again(task, device), visit, context);
  });
}
