// SPDX-License-Identifier: Apache-2.0
// A dict in the making, for structures of C that Python knows as dicts.
#pragma once

#include <initializer_list>
#include <vector>

#include "adapters/pyacl/core/call.h"

namespace npu::pyacl {

class Dictionary {
 public:
  Dictionary() : dict_(PyDict_New()) {}
  /// Takes the value; one that could not be made ends the dict.
  void set(const char* key, PyObject* value) {
    const Owned held(value);
    if (dict_ && (!held || PyDict_SetItemString(dict_.get(), key, held.get()) != 0)) dict_.reset();
  }
  template <class T>
  void set_number(const char* key, T value) {
    set(key, shown(value));
  }
  /// The dict, or null with a Python error set.
  PyObject* release() { return dict_.release(); }

 private:
  Owned dict_;
};

/// A list of `count` elements, of what make(i) gives.
template <class Make>
PyObject* shown_list(size_t count, Make make) {
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* element = make(i);
    if (element == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), element) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace npu::pyacl
