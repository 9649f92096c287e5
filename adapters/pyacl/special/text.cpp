// SPDX-License-Identifier: Apache-2.0
// Functions around texts of any length.
#include <cstdint>
#include <string>

#include "adapters/pyacl/core/call.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {

PyObject* app_log(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  int32_t level = 0;
  Owned holder;
  const char* message = nullptr;
  if (!call.right_number() || !read(call, call.take(), &level) || !call.text(call.take(), &holder, &message)) {
    return nullptr;
  }
  using Log = void (*)(int, const char*, const char*, uint32_t, const char*, ...);
  reinterpret_cast<Log>(function.symbol)(level, "acl.app_log", "python", 0, "%s", message);
  return Py_NewRef(Py_None);
}

PyObject* get_compileopt(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  int32_t option = 0;
  uint64_t length = 0;
  if (!call.right_number() || !read(call, call.take(), &option) || !read(call, call.take(), &length)) return nullptr;
  constexpr uint64_t kLongest = 1 << 20;
  if (length > kLongest) {
    call.wrong(PyExc_ValueError, "is more than a mebibyte");
    return nullptr;
  }
  std::string value(length + 1, '\0');
  const int code = reinterpret_cast<int (*)(int, char*, size_t)>(function.symbol)(option, value.data(), length);
  const Owned text(shown_text(value.c_str()));
  return text ? Py_BuildValue("Oi", text.get(), code) : nullptr;
}

}  // namespace npu::pyacl::special
