// SPDX-License-Identifier: Apache-2.0
#include "acl/channel/data_item.h"

#include <algorithm>
#include <utility>

#include "acl/call.h"
#include "acl/singleop/description.h"

namespace npu::acl {
namespace {

using ItemPool = DescriptionPool<acltdtDataItem>;
using DatasetPool = DescriptionPool<acltdtDataset>;

constexpr size_t kMostDims = 128;

acltdtDataItem item_of(const int64_t* dims, size_t count, aclDataType dtype, void* data, size_t size) {
  if (count > kMostDims) fail(Code::kInvalidParam, "dimNum is {}; there are at most {} dimensions", count, kMostDims);
  if (count > 0) given(dims, "dims");
  if (size > 0) given(data, "data");
  for (size_t i = 0; i < count; ++i)
    if (dims[i] < 0) fail(Code::kInvalidParam, "dims[{}] is {}; sizes are not negative", i, dims[i]);
  acltdtDataItem item;
  item.kind = ACL_TENSOR_DATA_TENSOR;
  item.dims.assign(dims, dims + count);
  item.dtype = dtype, item.data = data, item.size = size;
  return item;
}

/// For getters without a code: `nothing` for a pointer that is no item.
template <class T, class F>
T read(const char* function, const acltdtDataItem* item, T nothing, F&& value) {
  return call_or<T>(function, nothing, [&] { return value(described(item, "dataItem")); });
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

acltdtDataset::acltdtDataset(acltdtDataset&& other) noexcept
    : items(std::exchange(other.items, {})), received(std::exchange(other.received, false)) {}
acltdtDataset::~acltdtDataset() { end_items(); }

void acltdtDataset::end_items() {
  if (received)
    for (const acltdtDataItem* item : items) ItemPool::destroy(item);
  items.clear();
}

void acltdtDataset::receive(std::vector<acltdtDataItem> content) {
  end_items();
  received = true;
  items.reserve(content.size());
  for (acltdtDataItem& item : content) {
    item.received = true;
    items.push_back(ItemPool::create(std::move(item)));
    // Where its own bytes came to lie.
    items.back()->data = items.back()->own.data();
  }
}

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum, aclDataType dataType,
                                     void* data, size_t size) {
  return call_or<acltdtDataItem*>("acltdtCreateDataItem", nullptr, [&] {
    if (tdtType == ACL_TENSOR_DATA_TENSOR) return ItemPool::create(item_of(dims, dimNum, dataType, data, size));
    if (tdtType != ACL_TENSOR_DATA_END_OF_SEQUENCE && tdtType != ACL_TENSOR_DATA_ABNORMAL)
      fail(Code::kInvalidParam, "tdtType is {}; it is 0 (tensor), 1 (end of sequence) or 2 (abnormal)",
           static_cast<int>(tdtType));
    acltdtDataItem mark;
    mark.kind = tdtType;
    return ItemPool::create(std::move(mark));
  });
}
aclError acltdtDestroyDataItem(acltdtDataItem* dataItem) {
  return call("acltdtDestroyDataItem", [&] {
    if (described(dataItem, "dataItem").received)
      fail(Code::kInvalidParam, "the item was received; it ends with its data set (acltdtDestroyDataset)");
    ItemPool::destroy(dataItem);
  });
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetTensorTypeFromItem", dataItem, ACL_TENSOR_DATA_UNDEFINED,
              [](const acltdtDataItem& item) { return item.kind; });
}
aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetDataTypeFromItem", dataItem, ACL_DT_UNDEFINED,
              [](const acltdtDataItem& item) { return item.dtype; });
}
void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem) {
  return read<void*>("acltdtGetDataAddrFromItem", dataItem, nullptr,
                     [](const acltdtDataItem& item) { return item.data; });
}
size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem) {
  return read<size_t>("acltdtGetDataSizeFromItem", dataItem, 0, [](const acltdtDataItem& item) { return item.size; });
}
size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem) {
  return read<size_t>("acltdtGetDimNumFromItem", dataItem, 0,
                      [](const acltdtDataItem& item) { return item.dims.size(); });
}
aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum) {
  return call("acltdtGetDimsFromItem", [&] {
    const acltdtDataItem& item = described(dataItem, "dataItem");
    if (dimNum < item.dims.size())
      fail(Code::kInvalidParam, "dimNum is {}, the item has {} dimensions; ask acltdtGetDimNumFromItem", dimNum,
           item.dims.size());
    if (!item.dims.empty()) std::copy(item.dims.begin(), item.dims.end(), given(dims, "dims"));
  });
}

acltdtDataset* acltdtCreateDataset() {
  return call_or<acltdtDataset*>("acltdtCreateDataset", nullptr, [] { return DatasetPool::create(); });
}
aclError acltdtDestroyDataset(acltdtDataset* dataset) {
  return call("acltdtDestroyDataset", [&] {
    described(dataset, "dataset");
    DatasetPool::destroy(dataset);
  });
}
aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem) {
  return call("acltdtAddDataItem", [&] {
    acltdtDataset& set = described(dataset, "dataset");
    if (set.received)
      fail(Code::kInvalidParam, "the data set has received what is in it; add items to one of acltdtCreateDataset");
    set.items.push_back(&described(dataItem, "dataItem"));
  });
}
acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index) {
  return call_or<acltdtDataItem*>("acltdtGetDataItem", nullptr, [&] {
    const acltdtDataset& set = described(dataset, "dataset");
    if (index >= set.items.size())
      fail(Code::kInvalidParam, "index is {}; the data set has {} items", index, set.items.size());
    return set.items[index];
  });
}
size_t acltdtGetDatasetSize(const acltdtDataset* dataset) {
  return call_or<size_t>("acltdtGetDatasetSize", 0, [&] { return described(dataset, "dataset").items.size(); });
}
