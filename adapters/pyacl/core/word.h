// SPDX-License-Identifier: Apache-2.0
// The words that functions.tsv spells arguments with. Each takes Python arguments (none for an output), gives the C
// function its arguments as a tuple, and those with result() give something back.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "adapters/pyacl/core/address.h"
#include "adapters/pyacl/core/call.h"

namespace npu::pyacl {

/// i32, u64, f32, size, ptr …: one number. An argument that is left out is 0, or null.
template <class T>
struct In {
  T value{};
  bool take(Call& call) {
    PyObject* argument = call.take();
    return argument == nullptr || read(call, argument, &value);
  }
  std::tuple<T> given() { return {value}; }
};

/// <ptr: a handle that is given back, too.
struct Kept : In<void*> {
  PyObject* result() const { return shown(value); }
};

/// >i32 …: written by the C function.
template <class T>
struct Out {
  T value{};
  bool take(Call&) { return true; }
  std::tuple<T*> given() { return {&value}; }
  PyObject* result() const { return shown(value); }
};

/// str: text; null when it is left out or None.
struct Text {
  Owned holder;
  const char* value = nullptr;
  bool take(Call& call) {
    PyObject* argument = call.take();
    return argument == nullptr || argument == Py_None || call.text(argument, &holder, &value);
  }
  std::tuple<const char*> given() { return {value}; }
};

/// text: (const char*, size_t) of one str.
struct Measured : Text {
  std::tuple<const char*, size_t> given() {
    return {value, value == nullptr ? 0 : std::char_traits<char>::length(value)};
  }
};

/// cut/u32: a str and how much of it counts.
template <class Count>
struct Cut : Text {
  Count count = 0;
  bool take(Call& call) {
    if (!Text::take(call) || !read(call, call.take(), &count)) return false;
    const size_t length = value == nullptr ? 0 : std::char_traits<char>::length(value);
    return count <= length || call.wrong(PyExc_ValueError, "is " + std::to_string(count) + ", but the text has " +
                                                               std::to_string(length) + " bytes");
  }
  std::tuple<const char*, Count> given() { return {value, count}; }
};

/// An element of a list.
template <class T>
bool read_element(Call& call, PyObject* element, std::vector<T>* values, std::vector<Owned>* holders) {
  T value{};
  if constexpr (std::is_same_v<T, const char*>) {
    holders->emplace_back();
    if (!call.text(element, &holders->back(), &value)) return false;
  } else if (!read(call, element, &value)) {
    return false;
  }
  values->push_back(value);
  return true;
}

/// Reads a list, a tuple or an array of one dimension.
template <class T>
bool read_list(Call& call, PyObject* list, std::vector<T>* values, std::vector<Owned>* holders) {
  const Py_ssize_t size = PyUnicode_Check(list) || PyBytes_Check(list) ? -1 : PySequence_Size(list);
  if (size < 0) {
    PyErr_Clear();
    return call.wrong_type(list, "a list");
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Owned element(PySequence_GetItem(list, i));
    if (!element) {
      PyErr_Clear();
      return call.wrong(PyExc_ValueError, "changed while it was read");
    }
    if (!read_element(call, element.get(), values, holders)) return false;
  }
  return true;
}

template <class T>
struct Values {
  std::vector<T> values;
  std::vector<Owned> holders;
  bool take(Call& call) {
    PyObject* argument = call.take();
    if (argument == nullptr || !read_list(call, argument, &values, &holders)) return argument == nullptr;
    return values.size() <= 0x7FFFFFFF || call.wrong(PyExc_ValueError, "is too long");
  }
};

/// list/i64: (int, const T*).
template <class T>
struct List : Values<T> {
  std::tuple<int, const T*> given() { return {static_cast<int>(this->values.size()), this->values.data()}; }
};

/// array/u32:size: (const T*, count).
template <class T, class Count>
struct Array : Values<T> {
  std::tuple<const T*, Count> given() { return {this->values.data(), static_cast<Count>(this->values.size())}; }
};

/// listed/ptr: (int, T*) of two Python arguments, how many and which; they must agree.
template <class T>
struct Listed : Values<T> {
  bool take(Call& call) {
    int32_t count = 0;
    if (!read(call, call.take(), &count) || !Values<T>::take(call)) return false;
    return static_cast<size_t>(std::max(count, 0)) == this->values.size() ||
           call.wrong(PyExc_ValueError, "has " + std::to_string(this->values.size()) + " elements, " +
                                            std::to_string(count) + " are told");
  }
  std::tuple<int, const T*> given() { return {static_cast<int>(this->values.size()), this->values.data()}; }
};

/// pairs/ptr:ptr: descriptions and buffers, two lists of one length: (int, T*, T*) of Python arguments that follow each
/// other.
struct Pairs {
  Values<void*> first, second;
  bool take(Call& call) {
    if (!first.take(call) || !second.take(call)) return false;
    return first.values.size() == second.values.size() ||
           call.wrong(PyExc_ValueError, "has " + std::to_string(second.values.size()) +
                                            " elements, the list before it " + std::to_string(first.values.size()));
  }
  std::tuple<int, void* const*, void* const*> given() {
    return {static_cast<int>(first.values.size()), first.values.data(), second.values.data()};
  }
};

/// to: (void*, size_t), memory that a copy may write to. Checked by the `from` of the same call.
struct To {
  void* address = nullptr;
  size_t room = 0;
  bool take(Call& call) {
    if (!read(call, call.take(), &address)) return false;
    call.target = address;
    call.target_at = call.taken();
    if (!read(call, call.take(), &room)) return false;
    call.target_bytes = room;
    return true;
  }
  std::tuple<void*, size_t> given() { return {address, room}; }
};

/// from/ (const void*, count), memory that is read. Null and nothing are the library's to refuse.
template <class Count>
struct From {
  void* address = nullptr;
  Count count = 0;
  bool take(Call& call) {
    if (!read(call, call.take(), &address)) return false;
    const int at = call.taken();
    if (!read(call, call.take(), &count)) return false;
    if (address != nullptr && !mapped(address, count)) return nothing_there(call, at, count);
    const uint64_t written = std::min<uint64_t>(call.target_bytes, count);
    if (call.target != nullptr && !mapped(call.target, written)) return nothing_there(call, call.target_at, written);
    return true;
  }
  static bool nothing_there(const Call& call, int at, uint64_t bytes) {
    return call.wrong_at(at, PyExc_ValueError,
                         "is an address where this process has no memory of " + std::to_string(bytes) +
                             " bytes: it was freed, or is none");
  }
  std::tuple<const void*, Count> given() { return {address, count}; }
};

/// read/size: (const void*, count), host memory that is read.
template <class Count>
struct Read : From<Count> {
  bool take(Call& call) {
    const int at = call.taken() + 1;
    if (!From<Count>::take(call)) return false;
    return this->address == nullptr || readable(this->address, this->count) ||
           From<Count>::nothing_there(call, at, this->count);
  }
};

/// cell/u32: the address of one number, which the C function reads and writes.
template <class T>
struct Cell : In<void*> {
  bool take(Call& call) {
    if (!In<void*>::take(call)) return false;
    return value == nullptr || mapped(value, sizeof(T)) || From<size_t>::nothing_there(call, call.taken(), sizeof(T));
  }
  std::tuple<T*> given() { return {static_cast<T*>(value)}; }
};

/// filled/i64, filling:i64: as many numbers as the Python argument says, written by the C function. The first is
/// (T*, size_t), the second (size_t, T*).
template <class T, bool kCountFirst>
struct Filled {
  static constexpr size_t kMost = 1024;
  std::vector<T> values;
  bool take(Call& call) {
    size_t count = 0;
    if (!read(call, call.take(), &count)) return false;
    if (count > kMost) return call.wrong(PyExc_ValueError, "is more than " + std::to_string(kMost));
    values.resize(count);
    return true;
  }
  auto given() {
    if constexpr (kCountFirst) {
      return std::tuple<size_t, T*>(values.size(), values.data());
    } else {
      return std::tuple<T*, size_t>(values.data(), values.size());
    }
  }
  PyObject* result() const {
    Owned list(PyList_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; list && i < values.size(); ++i) {
      if (PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), shown(values[i])) != 0) return nullptr;
    }
    return list.release();
  }
};

}  // namespace npu::pyacl
