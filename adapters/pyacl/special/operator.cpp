// SPDX-License-Identifier: Apache-2.0
// Lists of lists: ranges of shapes, attributes of operators.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/core/word.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

bool read_lists(Call& call, PyObject* argument, Lists* lists) {
  const Py_ssize_t size = PyUnicode_Check(argument) || PyBytes_Check(argument) ? -1 : PySequence_Size(argument);
  if (size < 0) {
    PyErr_Clear();
    return call.wrong_type(argument, "a list of lists");
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Owned element(PySequence_GetItem(argument, i));
    std::vector<Owned> holders;
    if (!element || !read_list(call, element.get(), &lists->emplace_back(), &holders)) return false;
  }
  return true;
}

}  // namespace

PyObject* set_tensor_shape_range(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* desc = nullptr;
  Lists lists;
  if (!call.right_number() || !read(call, call.take(), &desc) || !read_lists(call, call.take(), &lists)) return nullptr;
  std::vector<std::array<int64_t, 2>> ranges;
  for (const auto& list : lists) {
    if (list.size() != 2) {
      call.wrong(PyExc_ValueError, "has a range of " + std::to_string(list.size()) + " numbers; it is [least, most]");
      return nullptr;
    }
    ranges.push_back({list[0], list[1]});
  }
  using Set = int (*)(void*, size_t, std::array<int64_t, 2>*);
  const int code = reinterpret_cast<Set>(function.symbol)(desc, ranges.size(), ranges.data());
  return shown(code);
}

PyObject* op_set_attr_list_list_int(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  void* attr = nullptr;
  Text name;
  Lists lists;
  if (!call.right_number() || !read(call, call.take(), &attr) || !name.take(call)) return nullptr;
  if (!read_lists(call, call.take(), &lists)) return nullptr;
  std::vector<int> sizes;
  std::vector<const int64_t*> values;
  for (const auto& list : lists) {
    sizes.push_back(static_cast<int>(list.size()));
    values.push_back(list.data());
  }
  using Set = int (*)(void*, const char*, int, const int*, const int64_t* const*);
  const int code = reinterpret_cast<Set>(function.symbol)(attr, name.value, static_cast<int>(lists.size()),
                                                          sizes.data(), values.data());
  return shown(code);
}

}  // namespace npu::pyacl::special
