// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/tensor/handle.h"

#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/tensor/dtype.h"
#include "adapters/tensorflow/tensor/list.h"

namespace npu::tensorflow {
namespace {

anynpu_value* value_in(void* data) { return static_cast<anynpu_value*>(data); }

int handle_rank(void* data, TF_Status*) {
  const anynpu_value_view view = inspect(value_in(data));
  return view.kind == ANYNPU_TENSOR ? view.rank : 0;
}

int64_t handle_dim(void* data, int index, TF_Status*) { return inspect(value_in(data)).sizes[index]; }

void handle_release(void* data) { anynpu_value_release(value_in(data)); }

/// Numbers on the host: the engine reads them where TensorFlow has them.
Value shared_numbers(TFE_TensorHandle* handle, aclDataType type) {
  TensorPointer tensor(checked(TFE_TensorHandleResolve, handle));
  std::vector<int64_t> sizes;
  for (int i = 0; i < TF_NumDims(tensor.get()); ++i) sizes.push_back(TF_Dim(tensor.get(), i));
  anynpu_value* value = nullptr;
  check_engine(anynpu_value_tensor(
      type, static_cast<int32_t>(sizes.size()), sizes.data(), TF_TensorData(tensor.get()),
      [](void* context) { TF_DeleteTensor(static_cast<TF_Tensor*>(context)); }, tensor.get(), &value));
  tensor.release();
  return Value(value);
}

Value shared_object(TFE_TensorHandle* handle) {
  auto object = std::make_unique<Object>();
  object->handle.reset(checked(TFE_TensorHandleCopySharingTensor, handle));
  anynpu_value* value = nullptr;
  check_engine(anynpu_value_object(object.get(), [](void* held) { delete static_cast<Object*>(held); }, &value));
  object.release();
  return Value(value);
}

TensorHandle tensor_handle(anynpu_value* value, const anynpu_value_view& view) {
  const TF_DataType type = data_type(view.dtype);
  size_t bytes = bytes_of(type);
  for (int32_t i = 0; i < view.rank; ++i) bytes *= static_cast<size_t>(view.sizes[i]);
  const auto release = [](void*, size_t, void* held) { anynpu_value_release(value_in(held)); };
  const TensorPointer tensor(
      TF_NewTensor(type, view.sizes, view.rank, view.data, bytes, release, anynpu_value_retain(value)));
  return TensorHandle(checked(TFE_NewTensorHandle, tensor.get()));
}

TensorHandle string_handle(const anynpu_value* value, const anynpu_value_view& view) {
  size_t count = 1;
  for (int32_t i = 0; i < view.rank; ++i) count *= static_cast<size_t>(view.sizes[i]);
  const TensorPointer tensor(TF_AllocateTensor(TF_STRING, view.sizes, view.rank, count * sizeof(TF_TString)));
  auto* strings = static_cast<TF_TString*>(TF_TensorData(tensor.get()));
  for (size_t i = 0; i < count; ++i) {
    size_t length = 0;
    const char* text = anynpu_value_string(value, i, &length);
    TF_StringInit(&strings[i]);
    TF_StringCopy(&strings[i], text, length);
  }
  return TensorHandle(checked(TFE_NewTensorHandle, tensor.get()));
}

/// Names of the devices opened; only ever added to.
struct Devices {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> names;
};

Devices& devices() {
  static auto* const all = new Devices;
  return *all;
}

bool is_npu(std::string_view place) {
  if (place.find(":NPU:") == std::string_view::npos) return false;
  const std::shared_lock lock(devices().mutex);
  return devices().names.contains(place);
}

}  // namespace

void add_device(const std::string& name) {
  const std::unique_lock lock(devices().mutex);
  devices().names.insert(name);
}

bool is_only_device() {
  const std::shared_lock lock(devices().mutex);
  return devices().names.size() == 1;
}

Object* object_of(const anynpu_value* value) {
  const anynpu_value_view view = inspect(value);
  return view.kind == ANYNPU_OBJECT ? static_cast<Object*>(view.object) : nullptr;
}

anynpu_value_view inspect(const anynpu_value* value) {
  anynpu_value_view view{};
  view.struct_size = sizeof view;
  check_engine(anynpu_value_inspect(value, &view));
  return view;
}

Value value_of(TFE_TensorHandle* handle, const std::string& device) {
  const char* place = checked(TFE_TensorHandleDeviceName, handle);
  if (place != nullptr && (device == place || is_npu(place)))
    return Value(anynpu_value_retain(value_in(checked(TFE_TensorHandleDevicePointer, handle))));
  const std::optional<aclDataType> type = engine_type(TFE_TensorHandleDataType(handle));
  return type ? shared_numbers(handle, *type) : shared_object(handle);
}

std::vector<Value> values_of(std::span<const TensorHandle> handles, const std::string& device) {
  std::vector<Value> out;
  for (const TensorHandle& handle : handles) out.push_back(value_of(handle.get(), device));
  return out;
}

std::vector<anynpu_value*> pointers(std::span<const Value> values) {
  std::vector<anynpu_value*> out;
  for (const Value& value : values) out.push_back(value.get());
  return out;
}

TensorHandle device_handle(TFE_Context* context, const std::string& device, anynpu_value* value) {
  const anynpu_value_view view = inspect(value);
  const auto* object = view.kind == ANYNPU_OBJECT ? static_cast<Object*>(view.object) : nullptr;
  if (view.kind == ANYNPU_STRINGS || (object != nullptr && !object->kept)) return host_handle(context, value);
  TF_DataType type = object == nullptr ? TF_VARIANT : TFE_TensorHandleDataType(object->handle.get());
  if (view.kind == ANYNPU_TENSOR) type = data_type(view.dtype);
  if (view.kind == ANYNPU_VARIABLE || view.kind == ANYNPU_HANDLE) type = TF_RESOURCE;
  TFE_CustomDeviceTensorHandle methods;
  methods.num_dims = handle_rank;
  methods.dim = handle_dim;
  methods.deallocator = handle_release;
  // On failure TensorFlow calls the deallocator itself.
  return TensorHandle(checked(TFE_NewCustomDeviceTensorHandle, context, device.c_str(), type,
                              static_cast<void*>(anynpu_value_retain(value)), methods));
}

TensorHandle host_handle(TFE_Context* context, anynpu_value* value) {
  const anynpu_value_view view = inspect(value);
  switch (view.kind) {
    case ANYNPU_TENSOR: return tensor_handle(value, view);
    case ANYNPU_STRINGS: return string_handle(value, view);
    case ANYNPU_OBJECT: {
      const auto* object = static_cast<const Object*>(view.object);
      if (object->feed != nullptr) object->feed->retire();
      return TensorHandle(checked(TFE_TensorHandleCopySharingTensor, object->handle.get()));
    }
    case ANYNPU_OTHER: return list_handle(context, value, host_handle);
    case ANYNPU_HANDLE:
      throw Failure(TF_UNIMPLEMENTED, "a stack or an array of the NPU cannot be copied to the host; read its elements");
    default: throw Failure(TF_UNIMPLEMENTED, "a variable of the NPU cannot be copied to the host; read its value");
  }
}

}  // namespace npu::tensorflow
