// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/interpreter.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace npu::pyacl {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kPatience{5000};  // with callbacks that still run

enum class State { kRuns, kEnds, kEnded };

std::atomic<State> state_of_python{State::kRuns};
std::atomic<pthread_t> ender{};
std::atomic<int> asking{0};    // threads that were let in and do not hold the interpreter yet
std::atomic<int> visitors{0};  // calls from the runtime into Python
thread_local int visits = 0;

/// False when the interpreter is ending, for all threads but the one that ends it and callbacks, which are waited for.
bool may_ask() {
  asking.fetch_add(1);
  const State state = state_of_python.load();
  if (state == State::kRuns || (state == State::kEnds && visits > 0)) return true;
  if (pthread_equal(ender.load(), pthread_self()) != 0) return true;
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
  visitors.fetch_add(1);
  ++visits;
  state_ = PyGILState_Ensure();
  asking.fetch_sub(1);
}

WithInterpreter::~WithInterpreter() {
  if (!held_) return;
  PyGILState_Release(state_);
  --visits;
  visitors.fetch_sub(1);
}

PyObject* end_of_interpreter(PyObject*, PyObject*) {
  ender.store(pthread_self());
  state_of_python.store(State::kEnds);
  PyThreadState* state = PyEval_SaveThread();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while ((asking.load() != 0 || visitors.load() != 0) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(Milliseconds(1));
  }
  state_of_python.store(State::kEnded);
  while (asking.load() != 0) std::this_thread::sleep_for(Milliseconds(1));
  PyEval_RestoreThread(state);
  return Py_NewRef(Py_None);
}

}  // namespace npu::pyacl
