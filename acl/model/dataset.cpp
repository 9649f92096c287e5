// SPDX-License-Identifier: Apache-2.0
// Data sets of models.
#include "acl/model/dataset.h"

#include "acl/call.h"

namespace npu::acl {
namespace {

DatasetEntry& entry_at(const aclmdlDataset* dataset, size_t index) {
  const aclmdlDataset& live = described(dataset, "dataset");
  if (index >= live.entries.size())
    fail(Code::kInvalidParam, "index is {}; the data set has {} buffers", index, live.entries.size());
  return *live.entries[index];
}

}  // namespace

DatasetEntry::~DatasetEntry() {
  if (desc != nullptr) DescriptionPool<aclTensorDesc>::destroy(desc);
}

void DatasetEntry::describe(aclTensorDesc shape) {
  // A client that destroyed what aclmdlGetDatasetTensorDesc gave, which is not its own, gets another.
  if (desc != nullptr && DescriptionPool<aclTensorDesc>::owns(desc))
    *desc = std::move(shape);
  else
    desc = DescriptionPool<aclTensorDesc>::create(std::move(shape));
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclmdlDataset* aclmdlCreateDataset(void) {
  return call_or<aclmdlDataset*>("aclmdlCreateDataset", nullptr,
                                 [] { return DescriptionPool<aclmdlDataset>::create(); });
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return call("aclmdlDestroyDataset", [&] {
    described(dataset, "dataset");
    DescriptionPool<aclmdlDataset>::destroy(dataset);
  });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return call("aclmdlAddDatasetBuffer", [&] {
    aclmdlDataset& live = described(dataset, "dataset");
    live.entries.push_back(std::make_shared<DatasetEntry>(&described(dataBuffer, "dataBuffer")));
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return call_or<size_t>("aclmdlGetDatasetNumBuffers", 0, [&] { return described(dataset, "dataset").entries.size(); });
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return call_or<aclDataBuffer*>("aclmdlGetDatasetBuffer", nullptr, [&] { return entry_at(dataset, index).buffer; });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc, size_t index) {
  return call("aclmdlSetDatasetTensorDesc", [&] {
    const aclTensorDesc& shape = described(tensorDesc, "tensorDesc");
    entry_at(dataset, index).describe(shape);
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return call_or<aclTensorDesc*>("aclmdlGetDatasetTensorDesc", nullptr, [&] { return entry_at(dataset, index).desc; });
}
