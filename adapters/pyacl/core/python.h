// SPDX-License-Identifier: Apache-2.0
// Python's C API, as far as every version since 3.10 keeps its promises: the one extension of the wheel runs on all.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <memory>

namespace npu::pyacl {

struct Release {
  void operator()(PyObject* object) const { Py_DecRef(object); }
};
/// A reference that this holder owns.
using Owned = std::unique_ptr<PyObject, Release>;

}  // namespace npu::pyacl
