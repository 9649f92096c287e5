// SPDX-License-Identifier: Apache-2.0
// Crops of a batch of pictures: lists of areas, as many as the pictures have together.
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "adapters/pyacl/core/interpreter.h"
#include "adapters/pyacl/core/word.h"
#include "adapters/pyacl/special/entry.h"

namespace npu::pyacl::special {
namespace {

struct Batch {
  void* channel = nullptr;
  void* from = nullptr;
  Values<uint32_t> counts;  // areas of each picture
  void* to = nullptr;
  std::vector<Values<void*>> areas;  // crops, and where they are pasted

  bool read_from(Call& call, size_t lists) {
    if (!read(call, call.take(), &channel) || !read(call, call.take(), &from)) return false;
    if (!counts.take(call) || !read(call, call.take(), &to)) return false;
    const uint64_t all = std::accumulate(counts.values.begin(), counts.values.end(), uint64_t{0});
    for (size_t i = 0; i < lists; ++i) {
      if (!areas.emplace_back().take(call)) return false;
      if (areas.back().values.size() != all) {
        return call.wrong(PyExc_ValueError, "has " + std::to_string(areas.back().values.size()) +
                                                " areas; the pictures have " + std::to_string(all) + " together");
      }
    }
    return true;
  }
  uint32_t pictures() const { return static_cast<uint32_t>(counts.values.size()); }
  /// (dst_batch_pic_descs, ret)
  PyObject* result(int code) const { return Py_BuildValue("Ki", reinterpret_cast<uintptr_t>(to), code); }
};

template <class... T>
int queue(const Function& function, Batch& batch, T... rest) {
  const WithoutInterpreter released;
  using Queue = int (*)(void*, void*, uint32_t*, uint32_t, void*, T...);
  return reinterpret_cast<Queue>(function.symbol)(batch.channel, batch.from, batch.counts.values.data(),
                                                  batch.pictures(), batch.to, rest...);
}

/// The areas' lists, then `rest` more handles, the last of them the stream.
template <size_t kLists, size_t kHandles>
PyObject* cropped(const Function& function, Arguments arguments, Py_ssize_t given) {
  Call call(function, arguments, given);
  Batch batch;
  void* handles[kHandles] = {};
  if (!call.right_number() || !batch.read_from(call, kLists)) return nullptr;
  for (void*& handle : handles) {
    if (!read(call, call.take(), &handle)) return nullptr;
  }
  const int code = [&]<size_t... L, size_t... H>(std::index_sequence<L...>, std::index_sequence<H...>) {
    return queue(function, batch, batch.areas[L].values.data()..., handles[H]...);
  }(std::make_index_sequence<kLists>(), std::make_index_sequence<kHandles>());
  return batch.result(code);
}

}  // namespace

PyObject* media_dvpp_vpc_batch_crop_async(const Function& function, Arguments arguments, Py_ssize_t given) {
  return cropped<1, 1>(function, arguments, given);
}
PyObject* media_dvpp_vpc_batch_crop_resize_async(const Function& function, Arguments arguments, Py_ssize_t given) {
  return cropped<1, 2>(function, arguments, given);
}
PyObject* media_dvpp_vpc_batch_crop_and_paste_async(const Function& function, Arguments arguments, Py_ssize_t given) {
  return cropped<2, 1>(function, arguments, given);
}
PyObject* media_dvpp_vpc_batch_crop_resize_paste_async(const Function& function, Arguments arguments,
                                                       Py_ssize_t given) {
  return cropped<2, 2>(function, arguments, given);
}

}  // namespace npu::pyacl::special
