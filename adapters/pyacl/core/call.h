// SPDX-License-Identifier: Apache-2.0
// One call from Python: its arguments, taken one after the other, and the errors about them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "adapters/pyacl/core/function.h"

namespace npu::pyacl {

class Call {
 public:
  Call(const Function& function, PyObject* const* arguments, Py_ssize_t given)
      : function_(function), arguments_(arguments), given_(given) {}

  /// TypeError unless as many arguments were given as the function takes.
  bool right_number() const;

  /// The next argument; null when it was left out.
  PyObject* take() { return next_ < given_ ? arguments_[next_++] : (++next_, nullptr); }

  /// Sets the error "acl.rt.memcpy: dest_max <text>", about the argument taken last; gives false.
  bool wrong(PyObject* kind, const std::string& text) const;
  bool wrong_type(PyObject* argument, const char* expected) const;

  bool number(PyObject* argument, int64_t low, int64_t high, int64_t* value) const;
  bool number(PyObject* argument, uint64_t high, uint64_t* value) const;
  bool number(PyObject* argument, double* value) const;
  /// An address or a handle; None is null.
  bool address(PyObject* argument, void** value) const;
  /// str, bytes, or an object with a path; `text` lives as long as `holder`.
  bool text(PyObject* argument, Owned* holder, const char** text) const;

  /// Where a copy goes: told by one pair of arguments, checked when the pair with the number of bytes is known.
  void* target = nullptr;
  uint64_t target_bytes = 0;
  int target_at = -1;

  int taken() const { return static_cast<int>(next_) - 1; }
  bool wrong_at(int index, PyObject* kind, const std::string& text) const;

 private:
  const Function& function_;
  PyObject* const* arguments_;
  Py_ssize_t given_;
  Py_ssize_t next_ = 0;
};

/// A number of C from a Python number, whatever its kind.
template <class T>
bool read(const Call& call, PyObject* argument, T* value) {
  if constexpr (std::is_floating_point_v<T>) {
    double wide = 0;
    if (!call.number(argument, &wide)) return false;
    *value = static_cast<T>(wide);
  } else if constexpr (std::is_pointer_v<T>) {
    return call.address(argument, value);
  } else if constexpr (std::is_signed_v<T>) {
    int64_t wide = 0;
    if (!call.number(argument, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), &wide)) return false;
    *value = static_cast<T>(wide);
  } else {
    uint64_t wide = 0;
    if (!call.number(argument, std::numeric_limits<T>::max(), &wide)) return false;
    *value = static_cast<T>(wide);
  }
  return true;
}

/// A Python number from one of C; an address is an int, null is 0.
template <class T>
PyObject* shown(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return PyFloat_FromDouble(value);
  } else if constexpr (std::is_pointer_v<T>) {
    return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(value));
  } else if constexpr (std::is_signed_v<T>) {
    return PyLong_FromLongLong(value);
  } else {
    return PyLong_FromUnsignedLongLong(value);
  }
}

/// Text of the library: bytes that are no UTF-8 are kept as Python keeps them in names of files. None for null.
PyObject* shown_text(const char* text);

}  // namespace npu::pyacl
