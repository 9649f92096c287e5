// SPDX-License-Identifier: Apache-2.0
// Threads that scripts start for callbacks: acl.util.start_thread, stop_thread.
#include <pthread.h>

#include <cstdint>
#include <mutex>
#include <set>

#include "acl/acl_error.h"
#include "adapters/pyacl/core/call.h"
#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

struct Threads {
  std::mutex mutex;
  std::set<pthread_t> running;  // their numbers are what aclrtSubscribeReport knows threads by
};

/// Lives for ever: a thread may still run when the process ends.
Threads& threads() {
  static Threads& all = *new Threads;
  return all;
}

struct Work {
  PyObject* function;
  PyObject* arguments;  // a tuple of the list
};

/// A Python that ends stops the threads that run in it, which are then unwound to here: nothing of C++ lies between.
void* run_work(void* argument) {
  const Work work = *static_cast<Work*>(argument);
  delete static_cast<Work*>(argument);
  if (Py_IsInitialized() == 0) return nullptr;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* result = PyObject_CallObject(work.function, work.arguments);
  if (result == nullptr) PyErr_WriteUnraisable(work.function);
  Py_DecRef(result == nullptr ? Py_NewRef(Py_None) : result);
  Py_DecRef(work.function);
  Py_DecRef(work.arguments);
  PyGILState_Release(state);
  return nullptr;
}

/// Of two who stop a thread only one waits for it.
bool taken(pthread_t id) {
  const std::lock_guard lock(threads().mutex);
  return threads().running.erase(id) != 0;
}

PyObject* started(Work* work) {
  const std::lock_guard lock(threads().mutex);  // its number is known before anybody can stop it
  pthread_t id{};
  if (pthread_create(&id, nullptr, run_work, work) != 0) {
    Py_DecRef(work->function);
    Py_DecRef(work->arguments);
    delete work;
    return Py_BuildValue("Ki", 0ULL, ACL_ERROR_BAD_ALLOC);
  }
  threads().running.insert(id);
  return Py_BuildValue("Ki", static_cast<unsigned long long>(id), 0);
}

}  // namespace

PyObject* util_start_thread(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* target = call.take();
  if (PyCallable_Check(target) == 0) {
    call.wrong_type(target, "a function");
    return nullptr;
  }
  PyObject* list = call.take();
  if (!PyList_Check(list) && !PyTuple_Check(list)) {
    call.wrong_type(list, "a list");
    return nullptr;
  }
  PyObject* packed = PyTuple_Pack(1, list);
  return packed == nullptr ? nullptr : started(new Work{Py_NewRef(target), packed});
}

PyObject* util_stop_thread(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  uint64_t id = 0;
  if (!call.right_number() || !read(call, call.take(), &id)) return nullptr;
  const bool own = pthread_equal(static_cast<pthread_t>(id), pthread_self()) != 0;
  if (own || !taken(static_cast<pthread_t>(id))) return shown(ACL_ERROR_INVALID_PARAM);
  {
    const WithoutInterpreter released;
    pthread_join(static_cast<pthread_t>(id), nullptr);
  }
  return shown(0);
}

}  // namespace npu::pyacl::special
