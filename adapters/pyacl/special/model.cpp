// SPDX-License-Identifier: Apache-2.0
// Functions of models whose arguments or results are of several kinds.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/core/structure.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

/// aclmdlConfigAttr, as far as the kind of a value goes.
enum class ConfigAttr : int { kPriority = 0, kPath = 2, kModelAddress = 3 };

constexpr int kLastTimeLimit = 1;  // of aclmdlExecConfigAttr; the values after it are as wide as an address

using SetConfig = int (*)(void*, int, const void*, size_t);

/// A text that lives as long as the process: a configuration may keep its address, and be used at any time.
const char* lasting(const char* text) {
  static auto& texts = *new std::set<std::string>;  // guarded by the interpreter
  return text == nullptr ? nullptr : texts.emplace(text).first->c_str();
}

template <class T>
PyObject* set_config(const Function& function, void* handle, int attr, T value) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  return shown(reinterpret_cast<SetConfig>(function.symbol)(handle, attr, bytes.data(), bytes.size()));
}

/// As aclAippInfo lies in memory.
struct AippDims {
  Dims source;
  size_t source_bytes;
  Dims out;
  size_t out_bytes;
};
struct AippInfo {
  int32_t input_format, source_width, source_height;
  int8_t crop;
  int32_t crop_left, crop_top, crop_width, crop_height;
  int8_t resize;
  int32_t resize_width, resize_height;
  int8_t padding;
  int32_t padding_left, padding_right, padding_top, padding_bottom;
  int8_t csc, rbuv_swap, ax_swap, single_line;
  int32_t matrix[9];
  int32_t output_bias[3];
  int32_t input_bias[3];
  int32_t mean[4];
  float least[4];
  float reciprocal[4];
  int32_t source_layout, source_type;
  size_t source_dims, shapes;
  AippDims dims[128];
  void* extend;
};

template <class T, size_t kCount>
void set_all(Dictionary& dict, const char* const (&names)[kCount], const T (&values)[kCount]) {
  for (size_t i = 0; i < kCount; ++i) dict.set_number(names[i], values[i]);
}

void set_switches(Dictionary& dict, const AippInfo& info) {
  dict.set_number("inputFormat", info.input_format);
  dict.set_number("srcImageSizeW", info.source_width);
  dict.set_number("srcImageSizeH", info.source_height);
  dict.set_number("cropSwitch", info.crop);
  dict.set_number("loadStartPosW", info.crop_left);
  dict.set_number("loadStartPosH", info.crop_top);
  dict.set_number("cropSizeW", info.crop_width);
  dict.set_number("cropSizeH", info.crop_height);
  dict.set_number("resizeSwitch", info.resize);
  dict.set_number("resizeOutputW", info.resize_width);
  dict.set_number("resizeOutputH", info.resize_height);
  dict.set_number("paddingSwitch", info.padding);
  dict.set_number("leftPaddingSize", info.padding_left);
  dict.set_number("rightPaddingSize", info.padding_right);
  dict.set_number("topPaddingSize", info.padding_top);
  dict.set_number("bottomPaddingSize", info.padding_bottom);
  dict.set_number("cscSwitch", info.csc);
  dict.set_number("rbuvSwapSwitch", info.rbuv_swap);
  dict.set_number("axSwapSwitch", info.ax_swap);
  dict.set_number("singleLineMode", info.single_line);
}

PyObject* shown_aipp_dims(const AippDims& dims) {
  Dictionary dict;
  dict.set("srcDims", shown_dims(dims.source));
  dict.set_number("srcSize", dims.source_bytes);
  dict.set("aippOutdims", shown_dims(dims.out));
  dict.set_number("aippOutSize", dims.out_bytes);
  return dict.release();
}

PyObject* shown_aipp(const AippInfo& info) {
  Dictionary dict;
  set_switches(dict, info);
  set_all(dict,
          {"matrixR0C0", "matrixR0C1", "matrixR0C2", "matrixR1C0", "matrixR1C1", "matrixR1C2", "matrixR2C0",
           "matrixR2C1", "matrixR2C2"},
          info.matrix);
  set_all(dict, {"outputBias0", "outputBias1", "outputBias2"}, info.output_bias);
  set_all(dict, {"inputBias0", "inputBias1", "inputBias2"}, info.input_bias);
  set_all(dict, {"meanChn0", "meanChn1", "meanChn2", "meanChn3"}, info.mean);
  set_all(dict, {"minChn0", "minChn1", "minChn2", "minChn3"}, info.least);
  set_all(dict, {"varReciChn0", "varReciChn1", "varReciChn2", "varReciChn3"}, info.reciprocal);
  dict.set_number("srcFormat", info.source_layout);
  dict.set_number("srcDatatype", info.source_type);
  dict.set_number("srcDimNum", info.source_dims);
  dict.set_number("shapeCount", info.shapes);
  const size_t shapes = std::min<size_t>(info.shapes, std::size(info.dims));
  dict.set("outDims", shown_list(shapes, [&](size_t i) { return shown_aipp_dims(info.dims[i]); }));
  return dict.release();
}

}  // namespace

PyObject* mdl_set_config_opt(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* handle = nullptr;
  int32_t attr = 0;
  if (!call.right_number() || !read(call, call.take(), &handle) || !read(call, call.take(), &attr)) return nullptr;
  if (attr == static_cast<int>(ConfigAttr::kPriority)) {
    int32_t priority = 0;
    return read(call, call.take(), &priority) ? set_config(function, handle, attr, priority) : nullptr;
  }
  if (attr == static_cast<int>(ConfigAttr::kPath)) {
    Text path;
    return path.take(call) ? set_config(function, handle, attr, lasting(path.value)) : nullptr;
  }
  void* value = nullptr;  // an address, or a number of bytes: both lie in memory alike
  return read(call, call.take(), &value) ? set_config(function, handle, attr, value) : nullptr;
}

PyObject* mdl_set_exec_config_opt(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* handle = nullptr;
  int32_t attr = 0;
  if (!call.right_number() || !read(call, call.take(), &handle) || !read(call, call.take(), &attr)) return nullptr;
  if (attr <= kLastTimeLimit) {
    int32_t milliseconds = 0;
    return read(call, call.take(), &milliseconds) ? set_config(function, handle, attr, milliseconds) : nullptr;
  }
  void* value = nullptr;
  return read(call, call.take(), &value) ? set_config(function, handle, attr, value) : nullptr;
}

PyObject* mdl_get_first_aipp_info(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  uint32_t model = 0;
  size_t index = 0;
  if (!call.right_number() || !read(call, call.take(), &model) || !read(call, call.take(), &index)) return nullptr;
  const auto info = std::make_unique<AippInfo>();
  const int code = reinterpret_cast<int (*)(uint32_t, size_t, AippInfo*)>(function.symbol)(model, index, info.get());
  const Owned dict(code == 0 ? shown_aipp(*info) : PyDict_New());
  return dict ? Py_BuildValue("Oi", dict.get(), code) : nullptr;
}

PyObject* mdl_create_and_get_op_desc(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  uint32_t device = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint64_t length = 0;
  if (!call.right_number() || !read(call, call.take(), &device) || !read(call, call.take(), &stream)) return nullptr;
  if (!read(call, call.take(), &task) || !call.number(call.take(), 4096, &length)) return nullptr;
  std::string name(length + 1, '\0');
  void* inputs = nullptr;
  void* outputs = nullptr;
  size_t input_count = 0;
  size_t output_count = 0;
  using Get = int (*)(uint32_t, uint32_t, uint32_t, char*, size_t, void**, size_t*, void**, size_t*);
  const int code = reinterpret_cast<Get>(function.symbol)(device, stream, task, name.data(), length, &inputs,
                                                          &input_count, &outputs, &output_count);
  const Owned text(shown_text(name.c_str()));
  return text ? Py_BuildValue("OKKKKi", text.get(), reinterpret_cast<uintptr_t>(inputs), uint64_t{input_count},
                              reinterpret_cast<uintptr_t>(outputs), uint64_t{output_count}, code)
              : nullptr;
}

}  // namespace npu::pyacl::special
