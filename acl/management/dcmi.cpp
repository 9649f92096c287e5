// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "acl/call.h"
#include "acl/include/anynpu/registry.h"
#include "acl/include/driver/dcmi_interface_api.h"
#include "acl/management/npu_state.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

constexpr uint64_t kMega = 1 << 20;
constexpr int kMostProcesses = 32;    // that a client has room for
constexpr size_t kAffinityText = 32;  // bytes of a client's text, its end included

int dcmi_code(aclError code) {
  switch (static_cast<Code>(code)) {
    case Code::kOk: return DCMI_OK;
    case Code::kInvalidParam:
    case Code::kRtParamInvalid: return DCMI_ERR_CODE_INVALID_PARAMETER;
    case Code::kRtInvalidDevice: return DCMI_ERR_CODE_DEVICE_NOT_EXIST;
    case Code::kFeatureUnsupported: return DCMI_ERR_CODE_NOT_SUPPORT;
    default: return DCMI_ERR_CODE_INNER_ERR;
  }
}

/// Monitors ask in turn for what an NPU may not have: no error for the log.
template <class F>
int dcmi(const char* function, F&& body) {
  return dcmi_code(ask(function, Code::kFeatureUnsupported, std::forward<F>(body)));
}

/// Raises 107001 for a card, and 107000 for a chip on it, that does not exist.
void check_chip(int card_id, int device_id) {
  device::check_device(card_id);
  if (device_id != 0) fail(Code::kRtParamInvalid, "device_id is {}; a card has one chip, 0", device_id);
}

/// The same for a question about a chip, whose answer goes to `place`.
template <class T, class F>
int of_chip(const char* function, int card_id, int device_id, T* place, const char* name, F&& answer) {
  return dcmi(function, [&] {
    given(place, name);
    check_chip(card_id, device_id);
    answer(*place);
  });
}

template <class T>
int of_hardware(const char* function, int card_id, int device_id, T* place, const char* figure) {
  return of_chip(function, card_id, device_id, place, figure, [&](T&) { refuse_hardware(card_id, figure); });
}

void put_text(std::string_view text, char* to, int64_t room, const char* name) {
  given(to, name);
  if (room <= static_cast<int64_t>(text.size()))
    fail(Code::kRtParamInvalid, "{} has room for {} bytes; the text needs {}", name, room, text.size() + 1);
  *std::copy(text.begin(), text.end(), to) = '\0';
}

void put_list(int* count, int* list, int room) {
  given(count, "the number's address");
  given(list, "the list");
  if (room < 1) fail(Code::kRtParamInvalid, "list_len is {}; give room for one id at least", room);
  *count = device::device_count();
  for (int i = 0; i < std::min(*count, room); ++i) list[i] = i;
}

/// A number of one kind as that of another: they are the same.
template <class To>
int same_number(const char* function, unsigned number, To* to) {
  return dcmi(function, [&] {
    given(to, "the result's address");
    device::check_device(number);
    *to = static_cast<To>(number);
  });
}

int from_number(const char* function, int* card_id, int* device_id, unsigned number) {
  return dcmi(function, [&] {
    given(card_id, "card_id");
    given(device_id, "device_id");
    device::check_device(number);
    *card_id = static_cast<int>(number);
    *device_id = 0;
  });
}

template <class Info>
void put_chip(Info& info) {
  info = {};
  put_chip_names(info);
  info.aicore_cnt = device::soc().ai_cores;
}

int put_affinity(const char* function, int card_id, int device_id, char* affinity_cpu, int* length) {
  return of_chip(function, card_id, device_id, length, "length", [&](int& size) {
    const std::string text = fmt::format("0-{}", std::max(sysconf(_SC_NPROCESSORS_CONF), 1L) - 1);
    put_text(text, affinity_cpu, kAffinityText, "affinity_cpu");
    size = static_cast<int>(text.size());
  });
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

int dcmi_init() {
  return dcmi("dcmi_init", [] { device::device_count(); });
}
int dcmi_get_dcmi_version(char* dcmi_ver, int buf_size) {
  return dcmi("dcmi_get_dcmi_version", [&] { put_text(anynpu_version(), dcmi_ver, buf_size, "dcmi_ver"); });
}
int dcmi_get_driver_version(char* driver_ver, unsigned int buf_size) {
  return dcmi("dcmi_get_driver_version", [&] { put_text(anynpu_version(), driver_ver, buf_size, "driver_ver"); });
}

int dcmi_get_card_list(int* card_num, int* card_list, int list_len) {
  return dcmi("dcmi_get_card_list", [&] { put_list(card_num, card_list, list_len); });
}
int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len) {
  return dcmi("dcmi_get_card_num_list", [&] { put_list(card_num, card_list, list_len); });
}
int dcmi_get_device_num_in_card(int card_id, int* device_num) {
  return of_chip("dcmi_get_device_num_in_card", card_id, 0, device_num, "device_num", [](int& n) { n = 1; });
}
int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id, int* cpu_id) {
  return of_chip("dcmi_get_device_id_in_card", card_id, 0, device_id_max, "device_id_max", [&](int& n) {
    given(mcu_id, "mcu_id");
    given(cpu_id, "cpu_id");
    n = 1;
    *mcu_id = -1;
    *cpu_id = -1;
  });
}
int dcmi_get_device_type(int card_id, int device_id, dcmi_unit_type* device_type) {
  return of_chip("dcmi_get_device_type", card_id, device_id, device_type, "device_type",
                 [](dcmi_unit_type& type) { type = NPU_TYPE; });
}
int dcmi_get_device_logic_id(int* device_logic_id, int card_id, int device_id) {
  return of_chip("dcmi_get_device_logic_id", card_id, device_id, device_logic_id, "device_logic_id",
                 [&](int& id) { id = card_id; });
}
int dcmi_get_card_id_device_id_from_logicid(int* card_id, int* device_id, unsigned int device_logic_id) {
  return from_number("dcmi_get_card_id_device_id_from_logicid", card_id, device_id, device_logic_id);
}
int dcmi_get_card_id_device_id_from_phyid(int* card_id, int* device_id, unsigned int device_phy_id) {
  return from_number("dcmi_get_card_id_device_id_from_phyid", card_id, device_id, device_phy_id);
}
int dcmi_get_device_phyid_from_logicid(unsigned int logicid, unsigned int* phyid) {
  return same_number("dcmi_get_device_phyid_from_logicid", logicid, phyid);
}
int dcmi_get_device_logicid_from_phyid(unsigned int phyid, unsigned int* logicid) {
  return same_number("dcmi_get_device_logicid_from_phyid", phyid, logicid);
}

int dcmi_get_device_chip_info(int card_id, int device_id, dcmi_chip_info* chip_info) {
  return of_chip("dcmi_get_device_chip_info", card_id, device_id, chip_info, "chip_info",
                 [](dcmi_chip_info& info) { put_chip(info); });
}
int dcmi_get_device_chip_info_v2(int card_id, int device_id, dcmi_chip_info_v2* chip_info) {
  return of_chip("dcmi_get_device_chip_info_v2", card_id, device_id, chip_info, "chip_info",
                 [](dcmi_chip_info_v2& info) {
                   put_chip(info);
                   put_name(device::soc().name, info.npu_name);
                 });
}
int dcmi_get_device_health(int card_id, int device_id, unsigned int* health) {
  return of_chip("dcmi_get_device_health", card_id, device_id, health, "health", [](unsigned& grade) { grade = 0; });
}
int dcmi_get_device_errorcode_v2(int card_id, int device_id, int* error_count, unsigned int* error_code_list,
                                 unsigned int list_len) {
  return of_chip("dcmi_get_device_errorcode_v2", card_id, device_id, error_count, "error_count", [&](int& count) {
    given(error_code_list, "error_code_list");
    if (list_len == 0) fail(Code::kRtParamInvalid, "list_len is 0; give room for one code at least");
    count = 0;
  });
}
int dcmi_get_device_boot_status(int card_id, int device_id, dcmi_boot_status* boot_status) {
  return of_chip("dcmi_get_device_boot_status", card_id, device_id, boot_status, "boot_status",
                 [](dcmi_boot_status& status) { status = DCMI_BOOT_STATUS_FINISH; });
}
int dcmi_get_device_hbm_info(int card_id, int device_id, dcmi_hbm_info* hbm_info) {
  return of_chip("dcmi_get_device_hbm_info", card_id, device_id, hbm_info, "hbm_info", [&](dcmi_hbm_info& info) {
    const NpuState state = npu_state(card_id);
    info = {};
    info.memory_size = state.capacity / kMega;
    info.memory_usage = state.used / kMega;
  });
}
int dcmi_get_device_memory_info_v3(int card_id, int device_id, dcmi_get_memory_info_stru* memory_info) {
  return of_chip("dcmi_get_device_memory_info_v3", card_id, device_id, memory_info, "memory_info",
                 [&](dcmi_get_memory_info_stru& info) {
                   const NpuState state = npu_state(card_id);
                   info = {};
                   info.memory_size = state.capacity / kMega;
                   info.memory_available = (state.capacity - std::min(state.capacity, state.used)) / kMega;
                   info.utiliza = state.memory_percent();
                 });
}
int dcmi_get_device_utilization_rate(int card_id, int device_id, int input_type, unsigned int* utilization_rate) {
  return of_chip("dcmi_get_device_utilization_rate", card_id, device_id, utilization_rate, "utilization_rate",
                 [&](unsigned& rate) { rate = utilization(card_id, input_type); });
}
int dcmi_get_device_multi_utilization_rate(int card_id, int device_id, dcmi_multi_utilization_info* util_info) {
  return of_chip("dcmi_get_device_multi_utilization_rate", card_id, device_id, util_info, "util_info",
                 [&](dcmi_multi_utilization_info& info) {
                   const unsigned busy = utilization(card_id, 2);
                   info = {busy, busy, busy, busy, {}};
                 });
}
int dcmi_get_device_resource_info(int card_id, int device_id, dcmi_proc_mem_info* proc_info, int* proc_num) {
  return of_chip("dcmi_get_device_resource_info", card_id, device_id, proc_num, "proc_num", [&](int& count) {
    given(proc_info, "proc_info");
    const NpuState state = npu_state(card_id);
    count = std::min(kMostProcesses, static_cast<int>(state.processes.size()));
    for (int i = 0; i < count; ++i) {
      const NpuProcess& process = state.processes[static_cast<size_t>(i)];
      proc_info[i] = {process.pid, process.used};
    }
  });
}
int dcmi_get_affinity_cpu_info_by_device_id(int card_id, int device_id, char* affinity_cpu, int* length) {
  return put_affinity("dcmi_get_affinity_cpu_info_by_device_id", card_id, device_id, affinity_cpu, length);
}

int dcmi_get_device_temperature(int card_id, int device_id, int* temperature) {
  return of_hardware("dcmi_get_device_temperature", card_id, device_id, temperature, "temperature");
}
int dcmi_get_device_power_info(int card_id, int device_id, int* power) {
  return of_hardware("dcmi_get_device_power_info", card_id, device_id, power, "power");
}
int dcmi_get_device_voltage(int card_id, int device_id, unsigned int* voltage) {
  return of_hardware("dcmi_get_device_voltage", card_id, device_id, voltage, "voltage");
}
int dcmi_get_device_frequency(int card_id, int device_id, dcmi_freq_type, unsigned int* frequency) {
  return of_hardware("dcmi_get_device_frequency", card_id, device_id, frequency, "frequency");
}
int dcmi_get_device_pcie_info_v2(int card_id, int device_id, dcmi_pcie_info_all* pcie_info) {
  return of_hardware("dcmi_get_device_pcie_info_v2", card_id, device_id, pcie_info, "pcie_info");
}

int dcmiv2_init() { return dcmi_init(); }
int dcmiv2_get_device_list(int* device_list, int* device_cnt, int list_len) {
  return dcmi("dcmiv2_get_device_list", [&] { put_list(device_cnt, device_list, list_len); });
}
int dcmiv2_get_affinity_cpu_info_by_device_id(int dev_id, char* affinity_cpu, int* length) {
  return put_affinity("dcmiv2_get_affinity_cpu_info_by_device_id", dev_id, 0, affinity_cpu, length);
}
int dcmiv2_get_affinity_cpu_info_by_dev_id(int dev_id, char* affinity_cpu, int* length) {
  return put_affinity("dcmiv2_get_affinity_cpu_info_by_dev_id", dev_id, 0, affinity_cpu, length);
}
