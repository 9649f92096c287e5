// SPDX-License-Identifier: Apache-2.0
// Words for structures of the C interface, which are dicts in Python.
#pragma once

#include <tuple>
#include <vector>

#include "acl/acl.h"
#include "adapters/pyacl/core/dictionary.h"
#include "adapters/pyacl/core/word.h"

namespace npu::pyacl {

constexpr size_t kMostDims = 128;
constexpr size_t kMostGears = 128;

/// As aclmdlIODims lies in memory: a tensor's name and sizes, or sizes that follow each other.
struct Dims {
  char name[128];
  size_t count;
  int64_t dims[kMostDims];
};
/// aclmdlBatch, aclmdlHW: what a model was made for.
struct BatchGears {
  size_t count;
  uint64_t batch[kMostGears];
};
struct ImageGears {
  size_t count;
  uint64_t size[kMostGears][2];
};

PyObject* shown_dims(const Dims& dims);
/// {'name': …, 'dimCount': …, 'dims': […]}; the name may be missing, and the count.
bool read_dims(Call& call, PyObject* dict, Dims* dims);

/// >dims
struct OutDims {
  Dims value{};
  bool take(Call&) { return true; }
  std::tuple<Dims*> given() { return {&value}; }
  PyObject* result() const { return shown_dims(value); }
};
/// dims
struct InDims {
  Dims value{};
  bool take(Call& call) {
    PyObject* argument = call.take();
    return argument == nullptr || read_dims(call, argument, &value);
  }
  std::tuple<const Dims*> given() { return {&value}; }
};
/// >gears: as many dims as the Python argument says, (Dims*, size_t).
struct Gears {
  std::vector<Dims> values;
  bool take(Call& call) {
    size_t count = 0;
    if (!read(call, call.take(), &count)) return false;
    if (count > kMostGears) return call.wrong(PyExc_ValueError, "is more than " + std::to_string(kMostGears));
    values.resize(count);
    return true;
  }
  std::tuple<Dims*, size_t> given() { return {values.data(), values.size()}; }
  PyObject* result() const {
    return shown_list(values.size(), [&](size_t i) { return shown_dims(values[i]); });
  }
};
/// >batch
struct OutBatch {
  BatchGears value{};
  bool take(Call&) { return true; }
  std::tuple<BatchGears*> given() { return {&value}; }
  PyObject* result() const;
};
/// >hw
struct OutImage {
  ImageGears value{};
  bool take(Call&) { return true; }
  std::tuple<ImageGears*> given() { return {&value}; }
  PyObject* result() const;
};
/// >utilization
struct OutUtilization {
  aclrtUtilizationInfo value{};
  bool take(Call&) { return true; }
  std::tuple<aclrtUtilizationInfo*> given() { return {&value}; }
  PyObject* result() const;
};

}  // namespace npu::pyacl
