// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/interpreter.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace npu::pyacl {
namespace {

std::atomic<bool> ending{false};
std::atomic<pthread_t> ender{};
std::atomic<int> asking{0};  // threads that saw `ending` unset and do not hold the interpreter yet

/// False when the interpreter is ending, for all threads but the one that ends it.
bool may_ask() {
  asking.fetch_add(1);
  if (!ending.load() || pthread_equal(ender.load(), pthread_self()) != 0) return true;
  asking.fetch_sub(1);
  return false;
}

[[noreturn]] void rest() {
  for (;;) pause();
}

}  // namespace

WithoutInterpreter::~WithoutInterpreter() {
  if (!may_ask()) rest();
  PyEval_RestoreThread(state_);
  asking.fetch_sub(1);
}

WithInterpreter::WithInterpreter() : held_(may_ask()) {
  if (!held_) return;
  state_ = PyGILState_Ensure();
  asking.fetch_sub(1);
}

WithInterpreter::~WithInterpreter() {
  if (held_) PyGILState_Release(state_);
}

PyObject* end_of_interpreter(PyObject*, PyObject*) {
  ender.store(pthread_self());
  ending.store(true);
  PyThreadState* state = PyEval_SaveThread();
  while (asking.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
  return Py_NewRef(Py_None);
}

}  // namespace npu::pyacl
