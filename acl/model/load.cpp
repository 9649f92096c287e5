// SPDX-License-Identifier: Apache-2.0
// Loading and unloading models, and the memory they take.
#include "acl/model/load.h"

#include <algorithm>
#include <cstring>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "graph/model/code.h"

namespace npu::acl {
namespace {

using graph::model::Model;

// A client allocates what it is told, and no allocation is of 0 bytes.
constexpr size_t kLeast = 512;

struct Sizes {
  size_t work, weights;
};

Sizes sizes_of(const Model& model) {
  return {std::max(static_cast<size_t>(model.work_bytes), kLeast),
          std::max(static_cast<size_t>(model.weight_bytes), kLeast)};
}

void check_given(const char* what, const void* pointer, size_t size, size_t needed, int device) {
  if (pointer == nullptr)
    fail(graph::model::kNoMemoryGiven, "{} is null and its size is {}; allocate {} bytes with aclrtMalloc", what, size,
         needed);
  if (size < needed)
    fail(graph::model::kNoMemoryGiven, "{} has {} bytes and the model needs {}; aclmdlQuerySize tells how many", what,
         size, needed);
  device::check_live(pointer, size, device, what);
}

/// The client's memory holds what the model would look for in the file.
uint32_t load_with_weights(const ModelBytes& from, const GivenMemory& memory) {
  const int device = device::current_device();
  const auto weights = graph::model::weights_of(from.bytes);
  check_given("weightPtr", memory.weights, memory.weight_size, std::max(weights.size(), kLeast), device);
  auto* copy = static_cast<std::byte*>(device::resolve(memory.weights, memory.weight_size));
  std::memcpy(copy, weights.data(), weights.size());
  // The functions own nothing of the file then: their names and numbers are copies.
  const std::shared_ptr<const void> nobody(std::shared_ptr<void>(), copy);
  Model model = graph::model::read_model(from.bytes, nobody, {copy, weights.size()});
  if (memory.work != nullptr || memory.work_size != 0)
    check_given("workPtr", memory.work, memory.work_size, sizes_of(model).work, device);
  return add_model(std::move(model));
}

void query(const ModelBytes& from, size_t* workSize, size_t* weightSize) {
  const Sizes sizes = sizes_of(graph::model::read_model(from.bytes, from.keeper));
  *workSize = sizes.work;
  *weightSize = sizes.weights;
}

}  // namespace

uint32_t load_model(const ModelBytes& from) { return add_model(graph::model::read_model(from.bytes, from.keeper)); }

uint32_t load_model(const ModelBytes& from, const GivenMemory& memory) {
  if (memory.weights != nullptr || memory.weight_size != 0) return load_with_weights(from, memory);
  Model model = graph::model::read_model(from.bytes, from.keeper);
  if (memory.work != nullptr || memory.work_size != 0)
    check_given("workPtr", memory.work, memory.work_size, sizes_of(model).work, device::current_device());
  return add_model(std::move(model));
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return call("aclmdlLoadFromFile", [&] {
    given(modelId, "modelId");
    device::current_context();
    *modelId = load_model(open_model(modelPath));
  });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return call("aclmdlLoadFromMem", [&] {
    given(modelId, "modelId");
    device::current_context();
    *modelId = load_model(copy_model(model, modelSize));
  });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr, size_t workSize,
                                   void* weightPtr, size_t weightSize) {
  return call("aclmdlLoadFromFileWithMem", [&] {
    given(modelId, "modelId");
    device::current_context();
    *modelId = load_model(open_model(modelPath), {workPtr, workSize, weightPtr, weightSize});
  });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId, void* workPtr,
                                  size_t workSize, void* weightPtr, size_t weightSize) {
  return call("aclmdlLoadFromMemWithMem", [&] {
    given(modelId, "modelId");
    device::current_context();
    *modelId = load_model(copy_model(model, modelSize), {workPtr, workSize, weightPtr, weightSize});
  });
}

aclError aclmdlUnload(uint32_t modelId) {
  return call("aclmdlUnload", [&] { unload_model(modelId); });
}

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return call("aclmdlQuerySize", [&] {
    given(workSize, "workSize");
    given(weightSize, "weightSize");
    query(open_model(fileName), workSize, weightSize);
  });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize, size_t* weightSize) {
  return call("aclmdlQuerySizeFromMem", [&] {
    given(workSize, "workSize");
    given(weightSize, "weightSize");
    query(copy_model(model, modelSize), workSize, weightSize);
  });
}
