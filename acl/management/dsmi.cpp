// SPDX-License-Identifier: Apache-2.0
#include "acl/call.h"
#include "acl/include/driver/dsmi_common_interface.h"
#include "acl/management/npu_state.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

constexpr uint64_t kKilo = 1 << 10;

int dsmi_code(aclError code) {
  constexpr int kInvalidDevice = 2, kInvalidValue = 3, kUnsupported = 0xfffe;
  switch (static_cast<Code>(code)) {
    case Code::kOk: return 0;
    case Code::kRtInvalidDevice: return kInvalidDevice;
    case Code::kFeatureUnsupported: return kUnsupported;
    default: return kInvalidValue;
  }
}

/// A question about `device`, whose answer goes to `place`. Monitors ask for what an NPU may not have: no error for the
/// log.
template <class T, class F>
int of_device(const char* function, int64_t device, T* place, F&& answer) {
  return dsmi_code(ask(function, Code::kFeatureUnsupported, [&] {
    given(place, "the result's address");
    device::check_device(device);
    answer(*place);
  }));
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

int dsmi_get_device_count(int* device_count) {
  return of_device("dsmi_get_device_count", 0, device_count, [](int& count) { count = device::device_count(); });
}
int dsmi_list_device(int device_id_list[], int count) {
  return of_device("dsmi_list_device", 0, device_id_list, [&](int&) {
    if (count < 1 || count > device::device_count())
      fail(Code::kRtParamInvalid, "count is {}; there are {} devices", count, device::device_count());
    for (int i = 0; i < count; ++i) device_id_list[i] = i;
  });
}
int dsmi_get_phyid_from_logicid(unsigned int logicid, unsigned int* phyid) {
  return of_device("dsmi_get_phyid_from_logicid", logicid, phyid, [&](unsigned& id) { id = logicid; });
}
int dsmi_get_logicid_from_phyid(unsigned int phyid, unsigned int* logicid) {
  return of_device("dsmi_get_logicid_from_phyid", phyid, logicid, [&](unsigned& id) { id = phyid; });
}
int dsmi_get_chip_info(int device_id, dsmi_chip_info_stru* chip_info) {
  return of_device("dsmi_get_chip_info", device_id, chip_info, [](dsmi_chip_info_stru& info) { put_chip_names(info); });
}
int dsmi_get_device_health(int device_id, unsigned int* phealth) {
  return of_device("dsmi_get_device_health", device_id, phealth, [](unsigned& grade) { grade = 0; });
}
int dsmi_get_hbm_info(int device_id, dsmi_hbm_info_stru* pdevice_hbm_info) {
  return of_device("dsmi_get_hbm_info", device_id, pdevice_hbm_info, [&](dsmi_hbm_info_stru& info) {
    const NpuState state = npu_state(device_id);
    info = {state.capacity / kKilo, 0, state.used / kKilo, 0, 0};
  });
}
int dsmi_get_device_utilization_rate(int device_id, int device_type, unsigned int* putilization_rate) {
  return of_device("dsmi_get_device_utilization_rate", device_id, putilization_rate,
                   [&](unsigned& rate) { rate = utilization(device_id, device_type); });
}
int dsmi_get_device_temperature(int device_id, int* ptemperature) {
  return of_device("dsmi_get_device_temperature", device_id, ptemperature,
                   [&](int&) { refuse_hardware(device_id, "temperature"); });
}
int dsmi_get_device_power_info(int device_id, dsmi_power_info_stru* pdevice_power_info) {
  return of_device("dsmi_get_device_power_info", device_id, pdevice_power_info,
                   [&](dsmi_power_info_stru&) { refuse_hardware(device_id, "power"); });
}
