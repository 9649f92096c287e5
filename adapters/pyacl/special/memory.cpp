// SPDX-License-Identifier: Apache-2.0
// Addresses of arrays and bytes, and back: acl.util.
#include <algorithm>
#include <cstdint>
#include <string>

#include "acl/acl_rt.h"
#include "adapters/pyacl/core/address.h"
#include "adapters/pyacl/core/call.h"
#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 48;

/// What an array tells of itself in the way that numpy has published: {'data': (address, …), 'strides': …}.
Owned interface_of(const Call& call, PyObject* array) {
  Owned interface(PyObject_GetAttrString(array, "__array_interface__"));
  if (interface && PyDict_Check(interface.get())) return interface;
  PyErr_Clear();
  call.wrong_type(array, "a numpy.ndarray");
  return nullptr;
}

PyObject* data_of(const Call& call, PyObject* array) {
  const Owned interface = interface_of(call, array);
  PyObject* data = interface ? PyDict_GetItemString(interface.get(), "data") : nullptr;
  PyObject* address = data != nullptr && PyTuple_Check(data) ? PyTuple_GetItem(data, 0) : nullptr;
  if (address != nullptr) return Py_NewRef(address);
  if (PyErr_Occurred() == nullptr) call.wrong_type(array, "an array with memory of its own");
  return nullptr;
}

/// Row after row, as 'strides' being None says.
bool contiguous(PyObject* array) {
  const Owned interface(PyObject_GetAttrString(array, "__array_interface__"));
  PyObject* strides = interface ? PyDict_GetItemString(interface.get(), "strides") : nullptr;
  PyErr_Clear();
  return strides == nullptr || strides == Py_None;
}

/// numpy's numbers of its types, and how the interface above spells them.
const char* spelling(int64_t type) {
  constexpr const char* kNames[] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8",
                                    "<u8", "<i8", "<u8", "<f4", "<f8", "",    "<c8", "<c16"};
  if (type == 23) return "<f2";
  return type >= 0 && type < 16 ? kNames[type] : "";
}

bool read_shape(const Call& call, PyObject* argument, uint64_t* elements) {
  if (!PyTuple_Check(argument) && !PyList_Check(argument)) return call.wrong_type(argument, "a tuple of ints");
  *elements = 1;
  for (Py_ssize_t i = 0; i < PySequence_Size(argument); ++i) {
    const Owned element(PySequence_GetItem(argument, i));
    uint64_t size = 0;
    if (!element || !call.number(element.get(), kMostElements, &size)) return false;
    if (__builtin_mul_overflow(*elements, size, elements) || *elements > kMostElements) {
      return call.wrong(PyExc_ValueError, "is of more elements than there is memory for");
    }
  }
  return true;
}

/// An array of memory that somebody else owns, by numpy's own protocol.
PyObject* array_over(void* address, PyObject* shape, const std::string& type) {
  const Owned sizes(PySequence_Tuple(shape));
  const Owned types(PyImport_ImportModule("types"));
  const Owned numpy(PyImport_ImportModule("numpy"));
  if (!sizes || !types || !numpy) return nullptr;
  const Owned interface(Py_BuildValue("{s:O,s:s,s:(Ki),s:i}", "shape", sizes.get(), "typestr", type.c_str(), "data",
                                      reinterpret_cast<uintptr_t>(address), 0, "version", 3));
  const Owned holder(interface ? PyObject_CallMethod(types.get(), "SimpleNamespace", nullptr) : nullptr);
  if (!holder || PyObject_SetAttrString(holder.get(), "__array_interface__", interface.get()) != 0) return nullptr;
  return PyObject_CallMethod(numpy.get(), "asarray", "O", holder.get());
}

bool nothing_there(const Call& call, int at, uint64_t bytes) {
  return call.wrong_at(at, PyExc_ValueError,
                       "is an address where this process has no memory of " + std::to_string(bytes) +
                           " bytes: it was freed, or is none");
}

bool is_device_memory(const void* address) {
  aclrtPtrAttributes attributes{};
  return aclrtPointerGetAttributes(address, &attributes) == 0 &&
         attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

PyObject* util_numpy_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* array = call.take();
  Owned address(data_of(call, array));
  if (address && !contiguous(array) &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "acl.util.numpy_to_ptr: the rows of the array do not follow each other in memory; a copy from its "
                   "address takes other elements. acl.util.numpy_contiguous_to_ptr gives one that follows",
                   1) != 0) {
    return nullptr;
  }
  return address.release();
}

PyObject* util_numpy_contiguous_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* array = call.take();
  if (!interface_of(call, array)) return nullptr;
  Owned rows(Py_NewRef(array));
  if (!contiguous(array)) {
    const Owned numpy(PyImport_ImportModule("numpy"));
    rows.reset(numpy ? PyObject_CallMethod(numpy.get(), "ascontiguousarray", "O", array) : nullptr);
    if (!rows) return nullptr;
  }
  const Owned address(data_of(call, rows.get()));
  return address ? Py_BuildValue("OO", address.get(), rows.get()) : nullptr;
}

PyObject* util_ptr_to_numpy(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* address = nullptr;
  if (!call.right_number() || !read(call, call.take(), &address)) return nullptr;
  PyObject* shape = call.take();
  uint64_t elements = 0;
  int64_t type = 0;
  if (!read_shape(call, shape, &elements)) return nullptr;
  if (!read(call, call.take(), &type)) return nullptr;
  const std::string name = spelling(type);
  if (name.empty()) {
    call.wrong(PyExc_ValueError, "is no number of a type of numpy's that this function knows: 0 to 12, 14, 15 and 23");
    return nullptr;
  }
  const uint64_t bytes = elements * std::stoul(name.substr(2));
  if (address == nullptr || (!is_device_memory(address) && !readable(address, bytes))) {
    nothing_there(call, 0, bytes);
    return nullptr;
  }
  if (is_device_memory(address)) {
    call.wrong_at(0, PyExc_ValueError, "is in device memory, which the host does not read; copy it with acl.rt.memcpy");
    return nullptr;
  }
  return array_over(address, shape, name);
}

PyObject* util_bytes_to_ptr(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  if (!call.right_number()) return nullptr;
  PyObject* bytes = call.take();
  if (!PyBytes_Check(bytes)) {
    call.wrong_type(bytes, "bytes");
    return nullptr;
  }
  return shown(static_cast<void*>(PyBytes_AsString(bytes)));
}

PyObject* util_ptr_to_bytes(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* address = nullptr;
  uint64_t bytes = 0;
  if (!call.right_number() || !read(call, call.take(), &address)) return nullptr;
  if (!call.number(call.take(), PY_SSIZE_T_MAX, &bytes)) return nullptr;
  const bool of_device = is_device_memory(address);
  if (bytes > 0 && !of_device && !readable(address, bytes)) {
    nothing_there(call, 0, bytes);
    return nullptr;
  }
  Owned copy(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
  if (!copy || bytes == 0) return copy.release();
  char* into = PyBytes_AsString(copy.get());
  const int code = [&] {
    const WithoutInterpreter released;
    if (of_device) return aclrtMemcpy(into, bytes, address, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    std::copy_n(static_cast<const char*>(address), bytes, into);
    return 0;
  }();
  if (code == 0) return copy.release();
  nothing_there(call, 0, bytes);
  return nullptr;
}

}  // namespace npu::pyacl::special
