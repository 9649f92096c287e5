// SPDX-License-Identifier: Apache-2.0
// From words to a call: invoke<Result, Word…> is the entry of every function of the table whose C function takes what
// these words give.
#pragma once

#include <array>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "adapters/pyacl/core/call.h"
#include "adapters/pyacl/core/interpreter.h"

namespace npu::pyacl {

/// What a C function returns. A code is the last of the results, a value the only one.
struct Code {
  using C = int;
};
template <class T>
struct Value {
  using C = T;
};
struct Nothing {
  using C = void;
};

template <class... Given>
struct Signature;
template <class... T>
struct Signature<std::tuple<T...>> {
  template <class R>
  using Of = R (*)(T...);
};

/// At most five are given back: the values of words, then the code.
class Results {
 public:
  ~Results() {
    for (int i = 0; i < count_; ++i) Py_DecRef(values_[static_cast<size_t>(i)]);
  }
  /// False, with a Python error set, for null.
  bool add(PyObject* value) {
    if (value == nullptr) return false;
    values_[static_cast<size_t>(count_++)] = value;
    return true;
  }
  /// None, the one value, or a tuple.
  PyObject* release() {
    if (count_ == 0) return Py_NewRef(Py_None);
    if (count_ == 1) return values_[static_cast<size_t>(--count_)];
    Owned tuple(PyTuple_New(count_));
    for (int i = 0; tuple && i < count_; ++i) {
      if (PyTuple_SetItem(tuple.get(), i, Py_NewRef(values_[static_cast<size_t>(i)])) != 0) return nullptr;
    }
    return tuple.release();
  }

 private:
  std::array<PyObject*, 8> values_{};
  int count_ = 0;
};

template <class Word>
bool add_result(Results& results, Word& word) {
  if constexpr (requires { word.result(); }) {
    return results.add(word.result());
  } else {
    return true;
  }
}

inline bool add_returned(Results& results, Code, int code) { return results.add(shown(code)); }
template <class T>
bool add_returned(Results& results, Value<T>, T value) {
  if constexpr (std::is_same_v<T, const char*>) {
    return results.add(shown_text(value));
  } else {
    return results.add(shown(value));
  }
}

template <class Result, class... Word>
PyObject* run(const Function& function, Call& call) {
  std::tuple<Word...> words;
  if (!std::apply([&](auto&... word) { return (word.take(call) && ...); }, words)) return nullptr;
  auto given = std::apply([](auto&... word) { return std::tuple_cat(word.given()...); }, words);
  using C = typename Result::C;
  const auto c_function = reinterpret_cast<typename Signature<decltype(given)>::template Of<C>>(function.symbol);
  Results results;
  if constexpr (std::is_void_v<C>) {
    {
      const WithoutInterpreter released;
      std::apply(c_function, given);
    }
    if (!std::apply([&](auto&... word) { return (add_result(results, word) && ...); }, words)) return nullptr;
  } else {
    const C returned = [&] {
      const WithoutInterpreter released;
      return std::apply(c_function, given);
    }();
    if (!std::apply([&](auto&... word) { return (add_result(results, word) && ...); }, words)) return nullptr;
    if (!add_returned(results, Result{}, returned)) return nullptr;
  }
  return results.release();
}

template <class Result, class... Word>
PyObject* invoke(const Function& function, PyObject* const* arguments, Py_ssize_t given) {
  try {
    Call call(function, arguments, given);
    return call.right_number() ? run<Result, Word...>(function, call) : nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

}  // namespace npu::pyacl
