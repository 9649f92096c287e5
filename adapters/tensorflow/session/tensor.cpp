// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/session/tensor.h"

#include <cstring>

#include "adapters/tensorflow/tensor/dtype.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {
namespace {

size_t count_of(int rank, const int64_t* sizes) {
  size_t count = 1;
  for (int i = 0; i < rank; ++i) count *= static_cast<size_t>(sizes[i]);
  return count;
}

TensorPointer text_tensor(const anynpu_session_tensor& from) {
  const size_t count = count_of(from.rank, from.sizes);
  TensorPointer tensor(TF_AllocateTensor(TF_STRING, from.sizes, from.rank, count * sizeof(TF_TString)));
  auto* texts = static_cast<TF_TString*>(TF_TensorData(tensor.get()));
  for (size_t i = 0; i < count; ++i) {
    TF_StringInit(&texts[i]);
    TF_StringCopy(&texts[i], from.texts[i], from.lengths[i]);
  }
  return tensor;
}

TensorPointer number_tensor(const anynpu_session_tensor& from) {
  const auto type = static_cast<TF_DataType>(from.dtype);
  const size_t bytes = count_of(from.rank, from.sizes) * bytes_of(type);
  TensorPointer tensor(TF_AllocateTensor(type, from.sizes, from.rank, bytes));
  if (bytes > 0) std::memcpy(TF_TensorData(tensor.get()), from.data, bytes);
  return tensor;
}

}  // namespace

Value fed(const anynpu_session_tensor& tensor, const std::string& device) {
  const TensorPointer copy = tensor.texts == nullptr ? number_tensor(tensor) : text_tensor(tensor);
  const TensorHandle handle(checked(TFE_NewTensorHandle, copy.get()));
  return value_of(handle.get(), device);
}

Fetched::Fetched(std::vector<Value> values) : values_(std::move(values)) {
  for (const Value& value : values_) tensors_.push_back(read(value.get()));
}

anynpu_session_tensor Fetched::read(const anynpu_value* value) {
  const anynpu_value_view view = inspect(value);
  if (view.kind == ANYNPU_TENSOR) return {data_type(view.dtype), view.rank, view.sizes, view.data, nullptr, nullptr};
  if (view.kind == ANYNPU_OBJECT) return read_object(object_of(value)->handle.get());
  if (view.kind != ANYNPU_STRINGS)
    throw Failure(TF_INVALID_ARGUMENT,
                  "a fetch is a variable or a list, which only the NPU understands; fetch its value");
  auto all = std::make_unique<Texts>();
  for (size_t i = 0; i < count_of(view.rank, view.sizes); ++i)
    all->texts.push_back(anynpu_value_string(value, i, &all->lengths.emplace_back()));
  return texts(view.rank, view.sizes, std::move(all));
}

anynpu_session_tensor Fetched::read_object(TFE_TensorHandle* handle) {
  const TF_DataType type = TFE_TensorHandleDataType(handle);
  if (type == TF_RESOURCE || type == TF_VARIANT)
    throw Failure(TF_INVALID_ARGUMENT,
                  "a fetch is the handle of a resource or a variant, which is no tensor of numbers or texts; fetch "
                  "what it holds");
  const TensorPointer& tensor = held_.emplace_back(checked(TFE_TensorHandleResolve, handle));
  auto& sizes = *sizes_.emplace_back(std::make_unique<std::vector<int64_t>>());
  for (int i = 0; i < TF_NumDims(tensor.get()); ++i) sizes.push_back(TF_Dim(tensor.get(), i));
  const int rank = TF_NumDims(tensor.get());
  if (type != TF_STRING) return {type, rank, sizes.data(), TF_TensorData(tensor.get()), nullptr, nullptr};
  auto all = std::make_unique<Texts>();
  const auto* strings = static_cast<const TF_TString*>(TF_TensorData(tensor.get()));
  for (size_t i = 0; i < count_of(rank, sizes.data()); ++i) {
    all->texts.push_back(TF_StringGetDataPointer(&strings[i]));
    all->lengths.push_back(TF_StringGetSize(&strings[i]));
  }
  return texts(rank, sizes.data(), std::move(all));
}

anynpu_session_tensor Fetched::texts(int rank, const int64_t* sizes, std::unique_ptr<Texts> all) {
  const Texts& kept = *texts_.emplace_back(std::move(all));
  return {TF_STRING, rank, sizes, nullptr, kept.texts.data(), kept.lengths.data()};
}

}  // namespace npu::tensorflow
