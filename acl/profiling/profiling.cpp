// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <mutex>

#include "acl/call.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/profiling/option.h"
#include "acl/profiling/session.h"
#include "device/process/soc.h"

struct aclprofConfig {
  npu::acl::CollectionRequest request;
};

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

namespace {

struct Configs {
  std::mutex mutex;
  std::map<const aclprofConfig*, std::unique_ptr<aclprofConfig>> live;
  const aclprofConfig* running = nullptr;
};
// Never destroyed: clients may end profiling while the process ends.
Configs& configs() {
  static Configs& instance = *new Configs;
  return instance;
}

/// With the lock held.
const aclprofConfig& live(const aclprofConfig* config) {
  const auto found = configs().live.find(given(config, "profilerConfig"));
  if (found == configs().live.end())
    fail(Code::kInvalidParam,
         "profilerConfig is no configuration, or has been destroyed; make one by aclprofCreateConfig");
  return *found->second;
}

aclError no_features(const char* function, size_t* size, void** data) {
  return call(function, [&] {
    result(data, "featuresData") = nullptr;
    result(size, "featuresSize") = 0;
  });
}

}  // namespace

aclError aclprofInit(const char* path, size_t length) {
  return call("aclprofInit", [&] { open_profiling({given(path, "profilerResultPath"), length}); });
}

aclError aclprofFinalize() {
  return call("aclprofFinalize", [&] {
    close_profiling();
    const std::lock_guard lock(configs().mutex);
    configs().running = nullptr;
  });
}

aclprofConfig* aclprofCreateConfig(uint32_t* devices, uint32_t count, aclprofAicoreMetrics, aclprofAicoreEvents*,
                                   uint64_t kinds) {
  return call_or<aclprofConfig*>("aclprofCreateConfig", nullptr, [&] {
    auto config = std::make_unique<aclprofConfig>();
    config->request.kinds = kinds;
    if (count > 0) given(devices, "deviceIdList");
    for (uint32_t i = 0; i < count; ++i) {
      device::check_device(devices[i]);
      config->request.devices.push_back(static_cast<int>(devices[i]));
    }
    const std::lock_guard lock(configs().mutex);
    aclprofConfig* const handle = config.get();
    configs().live[handle] = std::move(config);
    return handle;
  });
}

aclError aclprofDestroyConfig(const aclprofConfig* config) {
  return call("aclprofDestroyConfig", [&] {
    const std::lock_guard lock(configs().mutex);
    configs().live.erase(&live(config));
  });
}

aclError aclprofStart(const aclprofConfig* config) {
  return call("aclprofStart", [&] {
    const std::lock_guard lock(configs().mutex);
    start_collection(live(config).request);
    configs().running = config;
  });
}

aclError aclprofStop(const aclprofConfig* config) {
  return call("aclprofStop", [&] {
    const std::lock_guard lock(configs().mutex);
    live(config);
    if (configs().running != nullptr && configs().running != config)
      fail(Code::kInvalidParam, "the collection that runs began with another configuration; pass that one");
    stop_collection();
    configs().running = nullptr;
  });
}

aclError aclprofWarmup(const aclprofConfig* config) {
  return call("aclprofWarmup", [&] {
    const std::lock_guard lock(configs().mutex);
    live(config);
  });
}

aclError aclprofRegisterDeviceCallback() {
  return call("aclprofRegisterDeviceCallback", [] { let_later_devices_join(); });
}

aclError aclprofSetConfig(aclprofConfigType type, const char* config, size_t length) {
  return ask("aclprofSetConfig", Code::kProfModulesUnsupported, [&] {
    fail(Code::kProfModulesUnsupported,
         "setting {} ('{}') is of a sampler of the chip or the machine, which a device in software has not; leave it "
         "out",
         type, std::string_view(given(config, "config"), length));
  });
}

aclError aclprofGetSupportedFeatures(size_t* size, void** data) {
  return no_features("aclprofGetSupportedFeatures", size, data);
}
aclError aclprofGetSupportedFeaturesV2(size_t* size, void** data) {
  return no_features("aclprofGetSupportedFeaturesV2", size, data);
}
