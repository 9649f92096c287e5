// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/functions.h"

#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "adapters/tensorflow/golden/dump.h"
#include "adapters/tensorflow/golden/function_copy.h"
#include "adapters/tensorflow/golden/operator.h"

namespace golden = npu::tensorflow::golden;

const char* tfdbg_ascend_load() {
  static std::string reason;
  try {
    golden::declare_operator();
  } catch (const std::exception& e) {
    reason = e.what();
  }
  return reason.empty() ? nullptr : reason.c_str();
}

void tfdbg_ascend_set_on(bool on) { golden::set_on(on); }

bool tfdbg_ascend_is_on() { return golden::is_on(); }

void tfdbg_ascend_set_folder(const char* folder) { golden::set_folder(folder); }

const char* tfdbg_ascend_copy(TFE_Context* context, const char* function, void (*refused)(const char* reason)) {
  thread_local std::string name;
  try {
    name = golden::dumping_copy(context, function);
    return name.c_str();
  } catch (const std::exception& e) {
    refused(e.what());
    return nullptr;
  }
}

void tfdbg_ascend_put(const char* node, int64_t output, int type, const int64_t* shape, size_t rank,
                      const void* elements, size_t bytes) {
  const std::shared_ptr<char[]> copy(new char[bytes]);
  if (bytes > 0) std::memcpy(copy.get(), elements, bytes);
  golden::put(node, output, {static_cast<TF_DataType>(type), {shape, shape + rank}, {copy, copy.get()}, bytes});
}

void tfdbg_ascend_finish() { golden::finish(); }
