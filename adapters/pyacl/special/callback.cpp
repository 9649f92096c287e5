// SPDX-License-Identifier: Apache-2.0
// Functions of Python that the runtime calls back, in threads of its own or in the one that waits in process_report.
#include <atomic>
#include <cstdint>

#include "adapters/pyacl/core/call.h"
#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

/// What a queued callback holds: a function and its argument.
struct Errand {
  PyObject* function;
  PyObject* data;
};

/// Runs in a thread of the runtime's choice. An exception ends nothing: Python shows it on stderr.
void carry_out(void* errand_of_python) {
  auto* errand = static_cast<Errand*>(errand_of_python);
  const WithInterpreter held;
  if (!held) return;
  const Owned given(PyTuple_New(1));
  const Owned function(errand->function);
  if (given && PyTuple_SetItem(given.get(), 0, errand->data) == 0) {
    const Owned result(PyObject_CallObject(function.get(), given.get()));
    if (!result) PyErr_WriteUnraisable(function.get());
  }
  delete errand;
}

/// Queues with `queue`, and takes the errand back where the library refuses it.
template <class Queue>
PyObject* launched(PyObject* function, PyObject* data, Queue queue) {
  auto* errand = new Errand{Py_NewRef(function), Py_NewRef(data)};
  const int code = [&] {
    const WithoutInterpreter released;
    return queue(errand);
  }();
  if (code != 0) {
    Py_DecRef(errand->function);
    Py_DecRef(errand->data);
    delete errand;
  }
  return shown(code);
}

bool callable(Call& call, PyObject* argument) {
  return PyCallable_Check(argument) != 0 || call.wrong_type(argument, "a function");
}

std::atomic<PyObject*> watcher{nullptr};  // the function of set_exception_info_callback

void tell_watcher(void* info) {
  const WithInterpreter held;
  if (!held) return;
  const Owned function(Py_XNewRef(watcher.load()));
  if (!function) return;
  const Owned result(PyObject_CallFunction(function.get(), "K", reinterpret_cast<uintptr_t>(info)));
  if (!result) PyErr_WriteUnraisable(function.get());
}

}  // namespace

PyObject* rt_launch_callback(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* target = call.take();
  if (!callable(call, target)) return nullptr;
  PyObject* data = call.take();
  int32_t block = 0;
  void* stream = nullptr;
  if (!read(call, call.take(), &block) || !read(call, call.take(), &stream)) return nullptr;
  using Launch = int (*)(void (*)(void*), void*, int, void*);
  return launched(target, data, [&](Errand* errand) {
    return reinterpret_cast<Launch>(function.symbol)(carry_out, errand, block, stream);
  });
}

PyObject* rt_launch_host_func(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* stream = nullptr;
  if (!call.right_number() || !read(call, call.take(), &stream)) return nullptr;
  PyObject* target = call.take();
  if (!callable(call, target)) return nullptr;
  PyObject* data = call.take();
  using Launch = int (*)(void*, void (*)(void*), void*);
  return launched(target, data == nullptr ? Py_None : data,
                  [&](Errand* errand) { return reinterpret_cast<Launch>(function.symbol)(stream, carry_out, errand); });
}

PyObject* rt_set_exception_info_callback(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* target = call.take();
  if (target == Py_None) target = nullptr;
  if (target != nullptr && !callable(call, target)) return nullptr;
  const Owned before(watcher.exchange(Py_XNewRef(target)));
  using Set = int (*)(void (*)(void*));
  const int code = [&] {
    const WithoutInterpreter released;
    return reinterpret_cast<Set>(function.symbol)(target == nullptr ? nullptr : tell_watcher);
  }();
  return shown(code);
}

}  // namespace npu::pyacl::special
