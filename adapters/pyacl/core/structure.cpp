// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/structure.h"

#include <algorithm>
#include <cstring>

namespace npu::pyacl {

PyObject* shown_dims(const Dims& dims) {
  char name[sizeof dims.name + 1] = {};
  std::memcpy(name, dims.name, sizeof dims.name);
  const size_t count = std::min(dims.count, kMostDims);
  Dictionary dict;
  dict.set("name", shown_text(name));
  dict.set_number("dimCount", count);
  dict.set("dims", shown_list(count, [&](size_t i) { return shown(dims.dims[i]); }));
  return dict.release();
}

bool read_dims(Call& call, PyObject* dict, Dims* dims) {
  PyObject* sizes = PyDict_Check(dict) ? PyDict_GetItemString(dict, "dims") : nullptr;
  if (sizes == nullptr) return call.wrong_type(dict, "a dict with 'dims', and perhaps 'name' and 'dimCount'");
  std::vector<int64_t> values;
  std::vector<Owned> holders;
  if (!read_list(call, sizes, &values, &holders)) return false;
  if (values.size() > kMostDims) return call.wrong(PyExc_ValueError, "has more than 128 dims");
  if (PyObject* told = PyDict_GetItemString(dict, "dimCount")) {
    uint64_t count = 0;
    if (!call.number(told, UINT64_MAX, &count)) return false;
    if (count != values.size()) {
      return call.wrong(PyExc_ValueError, "says dimCount " + std::to_string(count) + ", but has " +
                                              std::to_string(values.size()) + " dims");
    }
  }
  if (PyObject* told = PyDict_GetItemString(dict, "name")) {
    Owned holder;
    const char* name = nullptr;
    if (!call.text(told, &holder, &name)) return false;
    std::strncpy(dims->name, name, sizeof dims->name - 1);
  }
  dims->count = values.size();
  std::copy(values.begin(), values.end(), dims->dims);
  return true;
}

PyObject* OutBatch::result() const {
  const size_t count = std::min(value.count, kMostGears);
  Dictionary dict;
  dict.set_number("batchCount", count);
  dict.set("batch", shown_list(count, [&](size_t i) { return shown(value.batch[i]); }));
  return dict.release();
}

PyObject* OutImage::result() const {
  const size_t count = std::min(value.count, kMostGears);
  Dictionary dict;
  dict.set_number("hwCount", count);
  dict.set("hw", shown_list(count, [&](size_t i) {
             return shown_list(2, [&, i](size_t side) { return shown(value.size[i][side]); });
           }));
  return dict.release();
}

PyObject* OutUtilization::result() const {
  Dictionary dict;
  dict.set_number("cube_utilization", value.cubeUtilization);
  dict.set_number("vector_utilization", value.vectorUtilization);
  dict.set_number("aicpu_utilization", value.aicpuUtilization);
  dict.set_number("memory_utilization", value.memoryUtilization);
  dict.set_number("utilization_extend", 0);
  return dict.release();
}

}  // namespace npu::pyacl
