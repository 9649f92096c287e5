// SPDX-License-Identifier: Apache-2.0
// The module `acl`: functions of the table whose C function the library has. A name without one is no attribute; asked
// for, it is told what is missing.
#include <cstring>
#include <string>

#include "adapters/pyacl/core/function.h"
#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/core/library.h"

namespace npu::pyacl {
namespace {

PyObject* dispatch(PyObject* self, PyObject* const* arguments, Py_ssize_t given) {
  const auto* function = static_cast<const Function*>(PyCapsule_GetPointer(self, nullptr));
  return function == nullptr ? nullptr : function->entry(*function, arguments, given);
}

/// The module's __getattr__: names that are not there.
PyObject* missing(PyObject* self, PyObject* name) {
  const auto* part = static_cast<const Part*>(PyCapsule_GetPointer(self, nullptr));
  const char* asked = part == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(name, nullptr);
  if (asked == nullptr) return nullptr;
  const std::string module = std::string("acl") + (*part->module == '\0' ? "" : ".") + part->module;
  for (const Function& function : part->functions) {
    if (std::strcmp(function.base(), asked) != 0) continue;
    return PyErr_Format(PyExc_AttributeError, "module '%s' has no attribute '%s': %s", module.c_str(), asked,
                        why_not(function.c_name).c_str());
  }
  return PyErr_Format(PyExc_AttributeError, "module '%s' has no attribute '%s'", module.c_str(), asked);
}

PyMethodDef missing_method = {"__getattr__", missing, METH_O, "Says why a name is not there."};
PyMethodDef end_method = {"end_of_interpreter", end_of_interpreter, METH_NOARGS, "Lets other threads rest."};

bool add(PyObject* module, const char* name, PyMethodDef* method, const void* self, PyObject* module_name) {
  const Owned capsule(PyCapsule_New(const_cast<void*>(self), nullptr, nullptr));
  const Owned callable(capsule ? PyCFunction_NewEx(method, capsule.get(), module_name) : nullptr);
  return callable && PyModule_AddObjectRef(module, name, callable.get()) == 0;
}

bool add_function(PyObject* module, Function& function, PyObject* module_name) {
  const std::string results = *function.results == '\0' ? "None" : function.results;
  // Threads may call it when the process ends, so nobody destroys it.
  const auto& help = *new std::string(std::string(function.base()) + "(" + function.arguments + ") -> " + results +
                                      (*function.c_name == '\0' ? "" : "\n\n") + function.c_name);
  function.method.ml_name = function.base();
  function.method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dispatch));
  function.method.ml_flags = METH_FASTCALL;
  function.method.ml_doc = help.c_str();
  return add(module, function.base(), &function.method, &function, module_name);
}

bool fill(PyObject* module, const Part& part) {
  const Owned name(PyModule_GetNameObject(module));
  if (!name || !add(module, "__getattr__", &missing_method, &part, name.get())) return false;
  for (Function& function : part.functions) {
    const bool of_library = *function.c_name != '\0';
    if (of_library) function.symbol = c_function(function.c_name);
    if (of_library && function.symbol == nullptr) continue;
    if (!add_function(module, function, name.get())) return false;
  }
  return true;
}

bool add_part(PyObject* acl, const Part& part) {
  if (*part.module == '\0') return fill(acl, part);
  PyObject* module = PyImport_AddModule((std::string("acl.") + part.module).c_str());  // borrowed
  return module != nullptr && fill(module, part) && PyModule_AddObjectRef(acl, part.module, module) == 0;
}

/// Python runs these last in, first out: what a script registers later still finds all threads alive.
bool watch_end() {
  const Owned atexit(PyImport_ImportModule("atexit"));
  const Owned end(atexit ? PyCFunction_NewEx(&end_method, nullptr, nullptr) : nullptr);
  const Owned result(end ? PyObject_CallMethod(atexit.get(), "register", "O", end.get()) : nullptr);
  return result != nullptr;
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "acl",
                          "AscendCL for Python, on the software NPU: names follow the C interface, results are tuples "
                          "that end with its code.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace npu::pyacl

PyMODINIT_FUNC PyInit_acl() {
  using namespace npu::pyacl;  // NOLINT: this is the module itself
  Owned acl(PyModule_Create(&definition));
  for (const Part& part : parts()) {
    if (!acl || !add_part(acl.get(), part)) return nullptr;
  }
  return acl && watch_end() ? acl.release() : nullptr;
}
