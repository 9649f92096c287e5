// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/object.h"

#include <limits>

#include "acl/error_state.h"
#include "ops/matmul/blocked.h"

namespace npu::acl {

void check_reach(const Tensor& t) {
  int64_t last = t.offset;
  for (size_t i = 0; i < t.rank(); ++i) {
    int64_t step = 0;
    const bool fits = !__builtin_mul_overflow(t.strides[i], std::max<int64_t>(t.shape[i] - 1, 0), &step) &&
                      !__builtin_add_overflow(last, step, &last);
    require(fits && last < std::numeric_limits<int64_t>::max() / 64, "stride[{}] is {}: the view leaves 64-bit memory",
            i, t.strides[i]);
  }
}

namespace {

/// Element types that have a name; the sub-byte ones are carried, operators refuse what they cannot compute.
bool known(DType dtype) { return info(dtype).name != "unknown"; }

// Null with a count of 0 is a scalar's or an empty list's.
std::span<const int64_t> span_of(const int64_t* values, uint64_t count, const char* name) {
  if (values == nullptr && count > 0) fail(Code::kNnNullPointer, "{} is null but {} values are announced", name, count);
  return {values, count};
}

void check_sizes(std::span<const int64_t> values, const char* name) {
  for (size_t i = 0; i < values.size(); ++i)
    require(values[i] >= 0, "{}[{}] is {}; it must not be negative", name, i, values[i]);
}

int64_t product(std::span<const int64_t> sizes, const char* name) {
  int64_t n = 1;
  for (const int64_t size : sizes)
    require(!__builtin_mul_overflow(n, size, &n), "{} has more elements than 64 bits can count", name);
  return n;
}

/// Vendor samples give no stride for plain tensors: row-major is meant.
Dims strides_of(const Dims& shape, const int64_t* stride) {
  if (stride == nullptr) return contiguous_strides(shape);
  const std::span given(stride, shape.size());
  check_sizes(given, "stride");
  return Dims(given);
}

bool is_half_word(int64_t n) { return n > 0 && n < (1 << 15); }

/// In place: a tensor is large, and made for every call.
void describe(aclTensor& out, std::span<const int64_t> dims, aclDataType dtype, const int64_t* stride, int64_t offset,
              aclFormat format, std::span<const int64_t> storage, void* data) {
  require(dims.size() <= kMaxRank, "viewDimsNum is {}; tensors have at most {} dimensions", dims.size(), kMaxRank);
  require(storage.size() <= kMaxRank, "storageDimsNum is {}; tensors have at most {} dimensions", storage.size(),
          kMaxRank);
  Tensor& t = out.tensor;
  t.dtype = static_cast<DType>(dtype);
  t.format = static_cast<int32_t>(format);
  require(t.defined() && known(t.dtype), "dataType {} is not an element type of aclDataType", static_cast<int>(dtype));
  check_sizes(dims, "viewDims");
  check_sizes(storage, "storageDims");
  product(dims, "viewDims");
  t.shape = Dims(dims);
  t.strides = strides_of(t.shape, stride);
  require(offset >= 0, "offset is {}; it must not be negative", offset);
  t.offset = offset;
  check_reach(t);
  // Without storageDims the view itself is all there is.
  t.storage_elements = storage.empty() ? offset + t.span() : product(storage, "storageDims");
  t.data = data;
  // Blocks of another width than 32 bytes: the storage's last size says it, and operators see no storage.
  if (format == ACL_FORMAT_FRACTAL_NZ && storage.size() == dims.size() + 2 && is_half_word(storage.back()))
    t.format = ops::blocked_format(storage.back(), t.dtype);
  out.storage = storage.empty() ? Dims{t.storage_elements} : Dims(storage);
}

/// Refuses (161001) a null among the pointers of a call.
void check_given(std::initializer_list<std::pair<const char*, const void*>> pointers) {
  for (const auto& [name, pointer] : pointers)
    if (pointer == nullptr) fail(Code::kNnNullPointer, "{} is null; it must be given", name);
}

/// Into an array that the client frees with delete[].
void hand_out(const Dims& dims, int64_t** values, uint64_t* count) {
  *values = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), *values);
  *count = dims.size();
}

aclnnStatus get_dims(const char* function, const aclTensor* tensor, const char* values_name, int64_t** values,
                     const char* count_name, uint64_t* count, const Dims& (*which)(const aclTensor&)) {
  return guarded(function, [&] {
    check_given({{"tensor", tensor}, {values_name, values}, {count_name, count}});
    hand_out(which(live(tensor, "aclTensor")), values, count);
  });
}

template <class T, class Value>
aclnnStatus get(const char* function, const T* object, const char* kind, const char* argument, const char* value_name,
                Value* value, auto&& read) {
  return guarded(function, [&] {
    check_given({{argument, object}, {value_name, value}});
    *value = static_cast<Value>(read(live(object, kind)));
  });
}

template <class Array, class T>
Array* create_array(const char* name, const T* value, uint64_t size) {
  return guarded_create(name, [&]() -> Array* {
    if (value == nullptr && size > 0) fail(Code::kNnNullPointer, "value is null but {} values are announced", size);
    if (size > std::numeric_limits<uint32_t>::max())
      fail(Code::kNnInvalidParam, "size is {}; it is far too large", size);
    Array array;
    if (size > 0) array.values.assign(value, value + size);
    return ObjectPool<Array>::create(std::move(array));
  });
}

template <class List, class T>
List* create_list(const char* name, const char* kind, const T* const* value, uint64_t size) {
  return guarded_create(name, [&]() -> List* {
    if (value == nullptr && size > 0) fail(Code::kNnNullPointer, "value is null but {} members are announced", size);
    if (size > std::numeric_limits<uint32_t>::max())
      fail(Code::kNnInvalidParam, "size is {}; it is far too large", size);
    List list;
    list.members.reserve(size);
    // Members are judged once, as the list is made, and again where they are used: the client may destroy them between.
    for (uint64_t i = 0; i < size; ++i) list.members.push_back(value[i] == nullptr ? nullptr : &live(value[i], kind));
    return ObjectPool<List>::create(std::move(list));
  });
}

template <class T>
aclnnStatus destroy(const char* name, const char* kind, const T* object) {
  // The usual case needs no frame: only a refusal has a text to keep.
  if (object == nullptr || ObjectPool<T>::destroy(object)) return ACLNN_SUCCESS;
  return guarded(name, [&] { live(object, kind); });
}

/// Members that were destroyed one by one before are skipped.
template <class List, class T>
aclnnStatus destroy_list(const char* name, const char* kind, const List* list) {
  if (list == nullptr) return ACLNN_SUCCESS;
  return guarded(name, [&] {
    // Copied before the list is destroyed, whose memory another thread may then be given.
    std::vector<const T*> members = live(list, kind).members;
    if (!ObjectPool<List>::destroy(list)) return;
    // Of two threads that destroy one list, one destroys the members.
    for (const T* member : members)
      if (member != nullptr) ObjectPool<T>::destroy(member);
  });
}

}  // namespace
}  // namespace npu::acl

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                           void* tensorData) {
  return guarded_create("aclCreateTensor", [&]() -> aclTensor* {
    // Made in its place and described there; a refused description gives the place back.
    aclTensor* made = ObjectPool<aclTensor>::create();
    try {
      describe(*made, span_of(viewDims, viewDimsNum, "viewDims"), dataType, stride, offset, format,
               span_of(storageDims, storageDimsNum, "storageDims"), tensorData);
    } catch (...) {
      ObjectPool<aclTensor>::destroy(made);
      throw;
    }
    return made;
  });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                          uint64_t storageDimsNum, void* tensorDataAddr) {
  return guarded("aclInitTensor", [&] {
    check_given({{"tensor", tensor}});
    live(tensor, "aclTensor");
    // Described apart: a refused call leaves the tensor as it was.
    aclTensor made;
    describe(made, span_of(viewDims, viewDimsNum, "viewDims"), dataType, stride, offset, format,
             span_of(storageDims, storageDimsNum, "storageDims"), tensorDataAddr);
    *tensor = made;
  });
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  return guarded_create("aclCreateScalar", [&]() -> aclScalar* {
    if (value == nullptr) npu::fail(npu::Code::kNnNullPointer, "value is null; pass the address of a host number");
    return ObjectPool<aclScalar>::create(npu::Scalar(value, static_cast<npu::DType>(dataType)));
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return create_array<aclIntArray>("aclCreateIntArray", value, size);
}
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return create_array<aclBoolArray>("aclCreateBoolArray", value, size);
}
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return create_array<aclFloatArray>("aclCreateFloatArray", value, size);
}
aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return create_list<aclTensorList>("aclCreateTensorList", "aclTensor", value, size);
}
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return create_list<aclScalarList>("aclCreateScalarList", "aclScalar", value, size);
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) { return destroy("aclDestroyTensor", "aclTensor", tensor); }
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return destroy("aclDestroyScalar", "aclScalar", scalar); }
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return destroy("aclDestroyIntArray", "aclIntArray", array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy("aclDestroyBoolArray", "aclBoolArray", array);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy("aclDestroyFloatArray", "aclFloatArray", array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return destroy_list<aclTensorList, aclTensor>("aclDestroyTensorList", "aclTensorList", array);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return destroy_list<aclScalarList, aclScalar>("aclDestroyScalarList", "aclScalarList", array);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return get_dims("aclGetViewShape", tensor, "viewDims", viewDims, "viewDimsNum", viewDimsNum,
                  [](const aclTensor& t) -> const npu::Dims& { return t.tensor.shape; });
}
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  return get_dims("aclGetStorageShape", tensor, "storageDims", storageDims, "storageDimsNum", storageDimsNum,
                  [](const aclTensor& t) -> const npu::Dims& { return t.storage; });
}
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  return get_dims("aclGetViewStrides", tensor, "stridesValue", stridesValue, "stridesNum", stridesNum,
                  [](const aclTensor& t) -> const npu::Dims& { return t.tensor.strides; });
}
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return get("aclGetViewOffset", tensor, "aclTensor", "tensor", "offset", offset,
             [](const aclTensor& t) { return t.tensor.offset; });
}
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return get("aclGetFormat", tensor, "aclTensor", "tensor", "format", format,
             [](const aclTensor& t) { return t.tensor.format & 0xFFFF; });
}
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return get("aclGetDataType", tensor, "aclTensor", "tensor", "dataType", dataType,
             [](const aclTensor& t) { return t.tensor.dtype; });
}
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return get("aclGetRawTensorAddr", tensor, "aclTensor", "tensor", "addr", addr,
             [](const aclTensor& t) { return t.tensor.data; });
}
aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return guarded("aclSetRawTensorAddr", [&] {
    check_given({{"tensor", tensor}});
    live(tensor, "aclTensor");
    tensor->tensor.data = addr;
  });
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return get("aclGetIntArraySize", array, "aclIntArray", "array", "size", size,
             [](const aclIntArray& a) { return a.values.size(); });
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return get("aclGetFloatArraySize", array, "aclFloatArray", "array", "size", size,
             [](const aclFloatArray& a) { return a.values.size(); });
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return get("aclGetBoolArraySize", array, "aclBoolArray", "array", "size", size,
             [](const aclBoolArray& a) { return a.values.size(); });
}
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return get("aclGetTensorListSize", tensorList, "aclTensorList", "tensorList", "size", size,
             [](const aclTensorList& l) { return l.members.size(); });
}
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return get("aclGetScalarListSize", scalarList, "aclScalarList", "scalarList", "size", size,
             [](const aclScalarList& l) { return l.members.size(); });
}
