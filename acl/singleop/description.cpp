// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/description.h"

#include <cstring>

#include "acl/call.h"
#include "acl/include/acl/acl_base.h"
#include "base/half.h"

int64_t aclTensorDesc::count() const {
  int64_t n = 1;
  for (const int64_t d : dims) {
    // Sizes come one by one and unchecked: their product may leave 64 bits.
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return -1;
  }
  return n;
}

bool aclTensorDesc::unknown_rank() const { return dims.size() == 1 && dims[0] == npu::acl::kUnknownRank; }

namespace npu::acl {
namespace {

// More than any tensor has, so that a count which was never set does not read memory at random.
constexpr int kMaxDims = 128;

std::vector<int64_t> read_dims(int count, const int64_t* dims) {
  if (count < 0 || count > kMaxDims)
    fail(Code::kInvalidParam, "numDims is {}; it must lie between 0 and {}", count, kMaxDims);
  if (count > 0) given(dims, "dims");
  for (int i = 0; i < count; ++i)
    if (dims[i] < kUnknownRank)
      fail(Code::kInvalidParam, "dims[{}] is {}; sizes are not negative (-1: known later, -2: unknown rank)", i,
           dims[i]);
  return {dims, dims + count};
}

std::vector<std::pair<int64_t, int64_t>> read_ranges(size_t count, const int64_t (*ranges)[2]) {
  if (count > kMaxDims) fail(Code::kInvalidParam, "dimsCount is {}; there are at most {} sizes", count, kMaxDims);
  if (count > 0) given(ranges, "dimsRange");
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i < count; ++i) {
    const auto [least, most] = std::pair(ranges[i][0], ranges[i][1]);
    if (least < 0 || (most != -1 && most < least))
      fail(Code::kInvalidParam, "dimsRange[{}] is {} to {}; give the least and the most size, -1 for no most", i, least,
           most);
    out.emplace_back(least, most);
  }
  return out;
}

int64_t dimension(const aclTensorDesc& desc, size_t index) {
  if (index >= desc.dims.size())
    fail(Code::kInvalidParam, "index is {}; the description has {} dimensions", index, desc.dims.size());
  return desc.dims[index];
}

std::pair<int64_t, int64_t> range(const aclTensorDesc& desc, size_t index) {
  const int64_t size = dimension(desc, index);
  if (index < desc.ranges.size()) return desc.ranges[index];
  return size < 0 ? std::pair<int64_t, int64_t>(0, -1) : std::pair(size, size);
}

/// What was described so far is how the tensor lies, where nothing else was said of that.
aclTensorDesc& with_storage(aclTensorDesc* desc) {
  aclTensorDesc& d = described(desc, "desc");
  if (d.storage_format == ACL_FORMAT_UNDEFINED) d.storage_format = d.format;
  if (d.storage_dims.empty()) d.storage_dims = d.dims;
  return d;
}

// A getter has no error code: sizes that are not known yet count as nothing.
size_t elements(const aclTensorDesc& desc) {
  const int64_t n = desc.count();
  return n < 0 ? 0 : static_cast<size_t>(n);
}

// For getters that have no error code: they answer their "nothing" value for a pointer that is no description.
template <class T>
const T* find(const T* pointer) {
  return pointer != nullptr && DescriptionPool<T>::owns(pointer) ? pointer : nullptr;
}

template <class T>
aclError destroy(const char* function, const T* pointer, const char* argument) {
  return call(function, [&] {
    // Judged first: destroying twice is told to the client, and harms nothing.
    described(pointer, argument);
    DescriptionPool<T>::destroy(pointer);
  });
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

size_t aclDataTypeSize(aclDataType dataType) { return size_of(static_cast<DType>(dataType)); }
float aclFloat16ToFloat(aclFloat16 value) { return Half::to_float(value); }
aclFloat16 aclFloatToFloat16(float value) { return Half::from_float(value); }

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return call_or<aclDataBuffer*>("aclCreateDataBuffer", nullptr,
                                 [&] { return DescriptionPool<aclDataBuffer>::create(data, size); });
}
aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return destroy("aclDestroyDataBuffer", dataBuffer, "dataBuffer");
}
aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return call("aclUpdateDataBuffer", [&] { described(dataBuffer, "dataBuffer") = {data, size}; });
}
void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  const aclDataBuffer* buffer = find(dataBuffer);
  return buffer == nullptr ? nullptr : buffer->data;
}
size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  const aclDataBuffer* buffer = find(dataBuffer);
  return buffer == nullptr ? 0 : buffer->size;
}
// The vendor's older getter: what does not fit 32 bits is cut.
uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format) {
  return call_or<aclTensorDesc*>("aclCreateTensorDesc", nullptr, [&] {
    aclTensorDesc desc;
    desc.dtype = static_cast<DType>(dataType);
    desc.dims = read_dims(numDims, dims);
    desc.format = format;
    return DescriptionPool<aclTensorDesc>::create(std::move(desc));
  });
}
void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  if (desc == nullptr) return;
  std::vector<aclTensorDesc*> others;
  if (const aclTensorDesc* first = find(desc)) others = first->others;
  destroy("aclDestroyTensorDesc", desc, "desc");
  for (const aclTensorDesc* other : others) DescriptionPool<aclTensorDesc>::destroy(other);
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  return d == nullptr ? ACL_DT_UNDEFINED : static_cast<aclDataType>(d->dtype);
}
aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  return d == nullptr ? ACL_FORMAT_UNDEFINED : static_cast<aclFormat>(d->format);
}
size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  return d == nullptr ? 0 : elements(*d);
}
size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  return d == nullptr ? 0 : elements(*d) * size_of(d->dtype);
}
size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  if (d == nullptr) return 0;
  // The vendor's marker, which clients compare with; the list itself says -2 once.
  return d->unknown_rank() ? ACL_UNKNOWN_RANK : d->dims.size();
}
int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  return call_or<int64_t>("aclGetTensorDescDim", -1, [&] { return dimension(described(desc, "desc"), index); });
}
aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return call("aclGetTensorDescDimV2", [&] { result(dimSize, "dimSize") = dimension(described(desc, "desc"), index); });
}
aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum, int64_t* dimRange) {
  return call("aclGetTensorDescDimRange", [&] {
    if (dimRangeNum < 2)
      fail(Code::kInvalidParam, "dimRangeNum is {}; a range is two numbers, the least and the most size", dimRangeNum);
    const auto [least, most] = range(described(desc, "desc"), index);
    result(dimRange, "dimRange") = least;
    dimRange[1] = most;
  });
}
void* aclGetTensorDescAddress(const aclTensorDesc* desc) {
  return call_or<void*>("aclGetTensorDescAddress", nullptr, [&]() -> void* {
    described(desc, "desc");
    fail(Code::kFeatureUnsupported,
         "a description knows no address: tensors inside a model share memory that later operators write again; dump "
         "the model to read them (aclmdlSetDump), or ask the data buffer (aclGetDataBufferAddr)");
  });
}
const char* aclGetTensorDescName(aclTensorDesc* desc) {
  const aclTensorDesc* d = find(desc);
  return d == nullptr ? "" : d->name.c_str();
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  // No name is an empty one.
  call("aclSetTensorDescName", [&] { described(desc, "desc").name = name == nullptr ? "" : name; });
}
aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return call("aclSetTensorFormat", [&] { described(desc, "desc").storage_format = format; });
}
aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return call("aclSetTensorShape", [&] { described(desc, "desc").storage_dims = read_dims(numDims, dims); });
}
aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return call("aclSetTensorStorageFormat", [&] { described(desc, "desc").storage_format = format; });
}
aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return call("aclSetTensorStorageShape", [&] { described(desc, "desc").storage_dims = read_dims(numDims, dims); });
}
aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return call("aclSetTensorOriginFormat", [&] { with_storage(desc).format = format; });
}
aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return call("aclSetTensorOriginShape", [&] {
    std::vector<int64_t> sizes = read_dims(numDims, dims);
    with_storage(desc).dims = std::move(sizes);
  });
}
aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount, int64_t dimsRange[][2]) {
  return call("aclSetTensorShapeRange", [&] {
    aclTensorDesc& d = described(desc, "desc");
    if (dimsCount != d.dims.size() && !d.unknown_rank())
      fail(Code::kInvalidParam, "dimsCount is {}; the description has {} dimensions, each has a range", dimsCount,
           d.dims.size());
    d.ranges = read_ranges(dimsCount, dimsRange);
  });
}
// Members of a list are told by their places: the name says nothing more.
aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return call("aclSetTensorDynamicInput", [&] {
    given(dynamicInputName, "dynamicInputName");
    described(desc, "desc");
  });
}
aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return call("aclSetTensorPlaceMent", [&] {
    if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT)
      fail(Code::kInvalidParam, "memType is {}; it is 0 (device), 1 or 2 (host)", static_cast<int>(memType));
    described(desc, "desc").placement = memType;
  });
}
aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return call("aclSetTensorConst", [&] {
    aclTensorDesc& d = described(desc, "desc");
    const auto* bytes = static_cast<const std::byte*>(given(dataBuffer, "dataBuffer"));
    if (length == 0) fail(Code::kInvalidParam, "length is 0; pass the bytes of the values");
    // Copied, as the client may free its values at once.
    d.constant.assign(bytes, bytes + length);
  });
}
