// SPDX-License-Identifier: Apache-2.0
// HcclGroupStart, HcclGroupEnd: a thread's calls between them are queued at the end.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "acl/collective/handle.h"
#include "acl/include/hccl/hccl.h"
#include "device/context/context.h"

namespace npu::acl {
namespace {

struct Messages {
  // The handle, not the communicator: whether it is still alive is asked when the messages go.
  HcclComm handle;
  aclrtStream stream;
  std::vector<comm::Message> list;
};

struct Group {
  // Groups nest, and only the outermost end sends.
  int depth = 0;
  std::vector<std::function<void()>> work;
  std::vector<Messages> messages;
};
// Of the thread: another thread's calls are no part of the group.
thread_local Group group;

void send(const Messages& messages) {
  comm::exchange(*communicator_of(messages.handle), device::stream_from_handle(messages.stream), messages.list);
}

}  // namespace

void in_group(std::function<void()> work) {
  // Outside of a group a call is done at once.
  if (group.depth == 0) return work();
  group.work.push_back(std::move(work));
}

void message_in_group(HcclComm handle, aclrtStream stream, const comm::Message& message) {
  if (group.depth == 0) return send({handle, stream, {message}});
  // Messages of a group are exchanged together, by communicator and stream: sent one by one, two ranks that both send
  // first would wait for each other.
  const auto same = [&](const Messages& each) { return each.handle == handle && each.stream == stream; };
  auto at = std::ranges::find_if(group.messages, same);
  if (at == group.messages.end()) at = group.messages.insert(at, {handle, stream, {}});
  at->list.push_back(message);
}

void begin_group() { ++group.depth; }

void end_group() {
  if (group.depth == 0)
    comm::fault(comm::Result::kParameter, "no group was begun in this thread; call HcclGroupStart before");
  if (--group.depth > 0) return;
  // Taken out first: work that fails leaves no group behind, and later calls are not queued for an end that never
  // comes.
  const Group ended = std::exchange(group, {});
  // Collectives in the order of the calls, then the messages of each communicator and stream at once.
  for (const std::function<void()>& work : ended.work) work();
  for (const Messages& messages : ended.messages) send(messages);
}

}  // namespace npu::acl

using namespace npu;  // NOLINT: the C functions below are the door itself

HcclResult HcclGroupStart() {
  return acl::hccl("HcclGroupStart", [] { acl::begin_group(); });
}

HcclResult HcclGroupEnd() {
  return acl::hccl("HcclGroupEnd", [] { acl::end_group(); });
}
