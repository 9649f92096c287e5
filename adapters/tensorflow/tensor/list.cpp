// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/tensor/list.h"

#include <vector>

#include "adapters/tensorflow/host/host.h"
#include "adapters/tensorflow/tensor/dtype.h"

namespace npu::tensorflow {
namespace {

template <class T>
TensorHandle numbers(TF_DataType type, std::span<const T> values, bool scalar) {
  const auto count = static_cast<int64_t>(values.size());
  const TensorPointer tensor(TF_AllocateTensor(type, &count, scalar ? 0 : 1, values.size_bytes()));
  std::copy(values.begin(), values.end(), static_cast<T*>(TF_TensorData(tensor.get())));
  return TensorHandle(checked(TFE_NewTensorHandle, tensor.get()));
}

TensorHandle number(size_t value) {
  const auto small = static_cast<int32_t>(value);
  return numbers<int32_t>(TF_INT32, {&small, 1}, true);
}

TensorHandle element_shape(const anynpu_list_view& view) {
  constexpr int64_t kAny = -1;
  if (view.rank < 0) return numbers<int64_t>(TF_INT64, {&kAny, 1}, true);
  return numbers<int64_t>(TF_INT64, {view.sizes, static_cast<size_t>(view.rank)}, false);
}

/// As many elements, none set.
TensorHandle reserved(TFE_Context* context, const anynpu_list_view& view, const Attribute& type) {
  const TensorHandle shape = element_shape(view), count = number(view.count);
  const std::vector<Attribute> attributes = {type, {"shape_type", type_value(TF_INT64)}};
  TFE_TensorHandle* const inputs[] = {shape.get(), count.get()};
  return std::move(run_on_host(context, "TensorListReserve", nullptr, attributes, inputs, 1).front());
}

TensorHandle with_element(TFE_Context* context, const TensorHandle& list, size_t index, const TensorHandle& item,
                          const Attribute& type) {
  const TensorHandle at = number(index);
  TFE_TensorHandle* const inputs[] = {list.get(), at.get(), item.get()};
  return std::move(run_on_host(context, "TensorListSetItem", nullptr, {&type, 1}, inputs, 1).front());
}

}  // namespace

TensorHandle list_handle(TFE_Context* context, const anynpu_value* list,
                         TensorHandle (*element)(TFE_Context* context, anynpu_value* value)) {
  anynpu_list_view view{};
  view.struct_size = sizeof view;
  if (anynpu_list_inspect(list, &view) != 0)
    throw Failure(TF_UNIMPLEMENTED, "an optional of the NPU cannot be copied to the host; read its value");
  const Attribute type = {"element_dtype",
                          type_value(view.dtype == ACL_DT_UNDEFINED ? TF_VARIANT : data_type(view.dtype))};
  TensorHandle out = reserved(context, view, type);
  for (size_t i = 0; i < view.count; ++i) {
    anynpu_value* raw = nullptr;
    check_engine(anynpu_list_element(list, i, &raw));
    const Value value(raw);
    if (value) out = with_element(context, out, i, element(context, value.get()), type);
  }
  return out;
}

}  // namespace npu::tensorflow
