// SPDX-License-Identifier: Apache-2.0
// Loading by a configuration, and bundles.
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/model/load.h"
#include "acl/singleop/description.h"
#include "device/context/context.h"

struct aclmdlConfigHandle {
  size_t load_type = 0;
  std::string path;
  const void* model = nullptr;
  size_t model_size = 0;
  npu::acl::GivenMemory memory;
  bool queues = false;
};

namespace npu::acl {
namespace {

constexpr Code kNoBundle{148053};

template <class T>
T read(const void* value, size_t size, aclmdlConfigAttr attr) {
  if (size != sizeof(T))
    fail(Code::kInvalidParam, "valueSize is {}; the value of attribute {} has {} bytes", size, static_cast<int>(attr),
         sizeof(T));
  T out;
  std::memcpy(&out, value, sizeof out);
  return out;
}

void check_priority(int32_t priority) {
  if (priority < 0 || priority > 7)
    fail(Code::kInvalidParam, "the priority is {}; it lies between 0 (high) and 7", priority);
}

size_t checked_load_type(size_t type) {
  if (type < ACL_MDL_LOAD_FROM_FILE || type > ACL_MDL_LOAD_FROM_MEM_WITH_Q)
    fail(Code::kInvalidParam, "the load type is {}; there are 1 to 6 (ACL_MDL_LOAD_FROM_…)", type);
  return type;
}

void set(aclmdlConfigHandle& to, aclmdlConfigAttr attr, const void* value, size_t size) {
  switch (attr) {
    case ACL_MDL_PRIORITY_INT32: return check_priority(read<int32_t>(value, size, attr));  // streams have no order here
    case ACL_MDL_LOAD_TYPE_SIZET: to.load_type = checked_load_type(read<size_t>(value, size, attr)); return;
    case ACL_MDL_PATH_PTR: to.path = given(read<const char*>(value, size, attr), "the path"); return;
    case ACL_MDL_MEM_ADDR_PTR: to.model = read<const void*>(value, size, attr); return;
    case ACL_MDL_MEM_SIZET: to.model_size = read<size_t>(value, size, attr); return;
    case ACL_MDL_WEIGHT_ADDR_PTR: to.memory.weights = read<void*>(value, size, attr); return;
    case ACL_MDL_WEIGHT_SIZET: to.memory.weight_size = read<size_t>(value, size, attr); return;
    case ACL_MDL_WORKSPACE_ADDR_PTR: to.memory.work = read<void*>(value, size, attr); return;
    case ACL_MDL_WORKSPACE_SIZET: to.memory.work_size = read<size_t>(value, size, attr); return;
    case ACL_MDL_INPUTQ_NUM_SIZET:
    case ACL_MDL_OUTPUTQ_NUM_SIZET: to.queues = read<size_t>(value, size, attr) > 0; return;
    case ACL_MDL_INPUTQ_ADDR_PTR:
    case ACL_MDL_OUTPUTQ_ADDR_PTR: to.queues = read<const void*>(value, size, attr) != nullptr; return;
    case ACL_MDL_WORKSPACE_MEM_OPTIMIZE: read<size_t>(value, size, attr); return;  // memory is shared in any case
  }
  fail(Code::kInvalidParam, "attr is {}; there are 0 to {}", static_cast<int>(attr),
       static_cast<int>(ACL_MDL_WORKSPACE_MEM_OPTIMIZE));
}

void check_member(bool there, size_t type, const char* member) {
  if (!there) fail(Code::kInvalidParam, "load type {} needs {}; set it with aclmdlSetConfigOpt", type, member);
}

uint32_t load(const aclmdlConfigHandle& from) {
  const size_t type = from.load_type;
  if (type == 0) fail(Code::kInvalidParam, "no load type is set; set ACL_MDL_LOAD_TYPE_SIZET with aclmdlSetConfigOpt");
  if (type == ACL_MDL_LOAD_FROM_FILE_WITH_Q || type == ACL_MDL_LOAD_FROM_MEM_WITH_Q || from.queues)
    fail(Code::kFeatureUnsupported,
         "models that are fed by queues are not built; load the model without queues and call aclmdlExecute");
  const bool file = type == ACL_MDL_LOAD_FROM_FILE || type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM;
  if (file)
    check_member(!from.path.empty(), type, "ACL_MDL_PATH_PTR");
  else
    check_member(from.model != nullptr && from.model_size > 0, type, "ACL_MDL_MEM_ADDR_PTR and ACL_MDL_MEM_SIZET");
  const ModelBytes bytes = file ? open_model(from.path.c_str()) : copy_model(from.model, from.model_size);
  const bool with_memory = type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
  return with_memory ? load_model(bytes, from.memory) : load_model(bytes);
}

/// Bundles by number; each has one model.
class Bundles {
 public:
  uint32_t add(uint32_t model) {
    const std::lock_guard lock(mutex_);
    models_[++last_] = model;
    return last_;
  }
  uint32_t model(uint32_t bundle) const {
    const std::lock_guard lock(mutex_);
    const auto at = models_.find(bundle);
    if (at == models_.end()) fail(kNoBundle, "there is no bundle {}: it was never loaded, or is unloaded", bundle);
    return at->second;
  }
  void remove(uint32_t bundle) {
    const std::lock_guard lock(mutex_);
    models_.erase(bundle);
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, uint32_t> models_;
  uint32_t last_ = 0;
};

Bundles& bundles() {
  static Bundles& all = *new Bundles;
  return all;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclmdlConfigHandle* aclmdlCreateConfigHandle(void) {
  return call_or<aclmdlConfigHandle*>("aclmdlCreateConfigHandle", nullptr,
                                      [] { return DescriptionPool<aclmdlConfigHandle>::create(); });
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) {
  return call("aclmdlDestroyConfigHandle", [&] {
    described(handle, "handle");
    DescriptionPool<aclmdlConfigHandle>::destroy(handle);
  });
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr, const void* attrValue,
                            size_t valueSize) {
  return call("aclmdlSetConfigOpt",
              [&] { set(described(handle, "handle"), attr, given(attrValue, "attrValue"), valueSize); });
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId) {
  return call("aclmdlLoadWithConfig", [&] {
    given(modelId, "modelId");
    device::current_context();
    *modelId = load(described(handle, "handle"));
  });
}

aclError aclmdlBundleLoadFromFile(const char* modelPath, uint32_t* bundleId) {
  return call("aclmdlBundleLoadFromFile", [&] {
    given(bundleId, "bundleId");
    device::current_context();
    *bundleId = bundles().add(load_model(open_model(modelPath)));
  });
}

aclError aclmdlBundleLoadFromMem(const void* model, size_t modelSize, uint32_t* bundleId) {
  return call("aclmdlBundleLoadFromMem", [&] {
    given(bundleId, "bundleId");
    device::current_context();
    *bundleId = bundles().add(load_model(copy_model(model, modelSize)));
  });
}

aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t* modelNum) {
  return call("aclmdlBundleGetModelNum", [&] {
    bundles().model(bundleId);
    result(modelNum, "modelNum") = 1;
  });
}

aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t* modelId) {
  return call("aclmdlBundleGetModelId", [&] {
    const uint32_t model = bundles().model(bundleId);
    if (index != 0) fail(Code::kInvalidParam, "index is {}; the bundle has 1 model", index);
    result(modelId, "modelId") = model;
  });
}

aclError aclmdlBundleUnload(uint32_t bundleId) {
  return call("aclmdlBundleUnload", [&] {
    unload_model(bundles().model(bundleId));
    bundles().remove(bundleId);
  });
}
