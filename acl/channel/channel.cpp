// SPDX-License-Identifier: Apache-2.0
// Channels of tensors.
#include "acl/call.h"
#include "acl/channel/queue.h"
#include "acl/include/acl/acl_tdt.h"
#include "acl/singleop/description.h"
#include "device/process/soc.h"

struct acltdtChannelHandle {
  std::shared_ptr<npu::acl::TensorQueue> queue;
};

namespace npu::acl {
namespace {

using ChannelPool = DescriptionPool<acltdtChannelHandle>;

constexpr size_t kUsualCapacity = 128, kLeastCapacity = 2, kMostCapacity = 8192;

acltdtChannelHandle* create(const char* function, uint32_t device, const char* name, size_t capacity) {
  return call_or<acltdtChannelHandle*>(function, nullptr, [&] {
    if (*given(name, "name") == '\0') fail(Code::kInvalidParam, "name is empty; a channel is known by its name");
    device::check_device(static_cast<int>(device));
    if (capacity < kLeastCapacity || capacity > kMostCapacity)
      fail(Code::kInvalidParam, "capacity is {}; it lies between {} and {}", capacity, kLeastCapacity, kMostCapacity);
    return ChannelPool::create(TensorQueue::open(device, name, capacity));
  });
}

/// Held while a call waits: the handle may be destroyed meanwhile.
std::shared_ptr<TensorQueue> queue_of(const acltdtChannelHandle* handle) { return described(handle, "handle").queue; }

/// The items as they travel: with copies of their bytes.
TensorQueue::Content copied(const acltdtDataset& dataset) {
  if (dataset.items.empty())
    fail(Code::kInvalidParam, "the data set has no item; add one, ACL_TENSOR_DATA_END_OF_SEQUENCE ends a sequence");
  TensorQueue::Content out;
  out.reserve(dataset.items.size());
  for (const acltdtDataItem* item : dataset.items) {
    out.push_back(described(item, "an item of the data set"));
    const auto* bytes = static_cast<const std::byte*>(item->data);
    out.back().own.assign(bytes, bytes + item->size);
  }
  return out;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name) {
  return create("acltdtCreateChannel", deviceId, name, kUsualCapacity);
}
acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name, size_t capacity) {
  return create("acltdtCreateChannelWithCapacity", deviceId, name, capacity);
}
aclError acltdtStopChannel(acltdtChannelHandle* handle) {
  return call("acltdtStopChannel", [&] { queue_of(handle)->stop(); });
}
aclError acltdtDestroyChannel(acltdtChannelHandle* handle) {
  return call("acltdtDestroyChannel", [&] {
    described(handle, "handle");
    ChannelPool::destroy(handle);
  });
}
aclError acltdtCleanChannel(acltdtChannelHandle* handle) {
  return call("acltdtCleanChannel", [&] { queue_of(handle)->clear(); });
}
aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size) {
  return call("acltdtQueryChannelSize", [&] {
    given(size, "size");
    *size = queue_of(handle)->size();
  });
}

aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset, int32_t timeout) {
  // Whoever does not wait for ever asks again.
  return ask("acltdtSendTensor", Code::kQueueFull, [&] {
    const std::shared_ptr<TensorQueue> queue = queue_of(handle);
    queue->push(copied(described(dataset, "dataset")), milliseconds(timeout));
  });
}
aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset, int32_t timeout) {
  return ask("acltdtReceiveTensor", Code::kQueueEmpty, [&] {
    const std::shared_ptr<TensorQueue> queue = queue_of(handle);
    acltdtDataset& set = described(dataset, "dataset");
    if (!set.received && !set.items.empty())
      fail(Code::kInvalidParam, "the data set has {} items of yours; receive into an empty one", set.items.size());
    set.receive(queue->pop(milliseconds(timeout)));
  });
}
