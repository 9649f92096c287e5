// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/call.h"

#include <cstring>

namespace npu::pyacl {
namespace {

std::string type_name(PyObject* object) {
  const Owned name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  const char* text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text == nullptr ? "an object" : text;
}

std::string repr(PyObject* object) {
  const Owned shown(PyObject_Repr(object));
  const char* text = shown ? PyUnicode_AsUTF8AndSize(shown.get(), nullptr) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text == nullptr ? "a number" : text;
}

}  // namespace

bool Call::right_number() const {
  if (given_ >= function_.least && given_ <= function_.most) return true;
  const std::string range = function_.least == function_.most
                                ? std::to_string(function_.most)
                                : std::to_string(function_.least) + " to " + std::to_string(function_.most);
  PyErr_Format(PyExc_TypeError, "acl.%s(%s) takes %s arguments, %zd were given", function_.name, function_.arguments,
               range.c_str(), given_);
  return false;
}

bool Call::wrong_at(int index, PyObject* kind, const std::string& text) const {
  PyErr_Format(kind, "acl.%s: %s %s", function_.name, function_.argument_name(index).c_str(), text.c_str());
  return false;
}

bool Call::wrong(PyObject* kind, const std::string& text) const { return wrong_at(taken(), kind, text); }

bool Call::wrong_type(PyObject* argument, const char* expected) const {
  return wrong(PyExc_TypeError, "is of type " + type_name(argument) + "; it is " + expected);
}

bool Call::number(PyObject* argument, int64_t low, int64_t high, int64_t* value) const {
  const Owned index(PyNumber_Index(argument));
  if (!index) {
    PyErr_Clear();
    return wrong_type(argument, "an int");
  }
  int outside = 0;
  *value = PyLong_AsLongLongAndOverflow(index.get(), &outside);
  if (outside == 0 && *value >= low && *value <= high) return true;
  return wrong(PyExc_ValueError,
               "is " + repr(index.get()) + "; it is " + std::to_string(low) + " to " + std::to_string(high));
}

bool Call::number(PyObject* argument, uint64_t high, uint64_t* value) const {
  const Owned index(PyNumber_Index(argument));
  if (!index) {
    PyErr_Clear();
    return wrong_type(argument, "an int");
  }
  *value = PyLong_AsUnsignedLongLong(index.get());
  if (PyErr_Occurred() == nullptr && *value <= high) return true;
  PyErr_Clear();
  return wrong(PyExc_ValueError, "is " + repr(index.get()) + "; it is 0 to " + std::to_string(high));
}

bool Call::number(PyObject* argument, double* value) const {
  *value = PyFloat_AsDouble(argument);
  if (PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  return wrong_type(argument, "a number");
}

bool Call::address(PyObject* argument, void** value) const {
  *value = nullptr;
  if (argument == Py_None) return true;
  const Owned index(PyNumber_Index(argument));
  if (!index) {
    PyErr_Clear();
    return wrong_type(argument, "an address, an int");
  }
  const uint64_t address = PyLong_AsUnsignedLongLong(index.get());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return wrong(PyExc_ValueError, "is " + repr(index.get()) + ", which is no address");
  }
  *value = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  return true;
}

bool Call::text(PyObject* argument, Owned* holder, const char** text) const {
  Owned path(PyOS_FSPath(argument));
  if (!path) {
    PyErr_Clear();
    return wrong_type(argument, "a str");
  }
  holder->reset(PyUnicode_Check(path.get()) ? PyUnicode_EncodeFSDefault(path.get()) : path.release());
  char* bytes = nullptr;
  Py_ssize_t length = 0;
  if (!*holder || PyBytes_AsStringAndSize(holder->get(), &bytes, &length) != 0) {
    PyErr_Clear();
    return wrong(PyExc_ValueError, "has characters that are none");
  }
  if (std::strlen(bytes) != static_cast<size_t>(length)) return wrong(PyExc_ValueError, "has a zero in it");
  *text = bytes;
  return true;
}

PyObject* shown_text(const char* text) {
  return text == nullptr ? Py_NewRef(Py_None) : PyUnicode_DecodeFSDefault(text);
}

}  // namespace npu::pyacl
