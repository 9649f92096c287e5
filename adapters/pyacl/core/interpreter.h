// SPDX-License-Identifier: Apache-2.0
// Who holds the interpreter, and what becomes of other threads when it ends. A Python that ends ends the threads that
// ask for it afterwards, inside whatever C++ they are in, which would take the process along; here they rest instead.
#pragma once

#include "adapters/pyacl/core/python.h"

namespace npu::pyacl {

/// Lets other Python threads run while it lives. Every call of the library is made under one: it may wait for a
/// callback that needs the interpreter.
class WithoutInterpreter {
 public:
  WithoutInterpreter() : state_(PyEval_SaveThread()) {}
  ~WithoutInterpreter();
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the interpreter for a call from the runtime, in any thread; holds nothing once the interpreter is ending.
class WithInterpreter {
 public:
  WithInterpreter();
  ~WithInterpreter();
  WithInterpreter(const WithInterpreter&) = delete;
  WithInterpreter& operator=(const WithInterpreter&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
  PyGILState_STATE state_{};
};

/// Called at the end of the interpreter, by the thread that ends it: returns when no other thread is about to ask for
/// it.
PyObject* end_of_interpreter(PyObject* self, PyObject* nothing);

}  // namespace npu::pyacl
