// SPDX-License-Identifier: Apache-2.0
// A function of the module: one line of functions.tsv.
#pragma once

#include <span>
#include <string>

#include "adapters/pyacl/core/python.h"

namespace npu::pyacl {

struct Function;
/// Reads the arguments, calls the library, gives the results; null with a Python error set.
using Entry = PyObject* (*)(const Function& function, PyObject* const* arguments, Py_ssize_t given);

struct Function {
  const char* name;       ///< "rt.memcpy", below `acl`
  const char* c_name;     ///< "aclrtMemcpy"; "" for what is of this module alone
  const char* arguments;  ///< their names: "dst, dest_max, src, count, kind"
  const char* results;    ///< "ret", "ptr, ret", "" for None
  int least;              ///< arguments that must be given …
  int most;               ///< … and may be
  Entry entry;
  void* symbol = nullptr;   ///< the C function, once it was found
  PyMethodDef method = {};  ///< what Python keeps a pointer to; its text is never freed

  const char* base() const;                    ///< "memcpy"
  std::string argument_name(int index) const;  ///< "dest_max"
};

/// The lines of one module of the table; made by generate/.
struct Part {
  const char* module;  ///< "rt"; "" for `acl` itself
  std::span<Function> functions;
};
std::span<const Part> parts();

}  // namespace npu::pyacl
