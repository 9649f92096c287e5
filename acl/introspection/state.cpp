// SPDX-License-Identifier: Apache-2.0
#include "anynpu/state.h"

#include <string>

#include "base/error.h"
#include "device/memory/capacity.h"
#include "device/process/soc.h"
#include "device/process/status_page.h"

namespace npu::acl {
namespace {

void show(const device::ProcessStatus& process, void (*visit)(const anynpu_usage*, void*), void* context) {
  anynpu_usage out{};
  out.struct_size = sizeof(out);
  out.pid = process.pid;
  out.process = process.name.c_str();
  out.soc = process.soc.c_str();
  out.device_count = process.device_count;
  out.device = -1;
  if (process.devices.empty()) visit(&out, context);
  for (const device::DeviceStatus& status : process.devices) {
    out.device = status.device;
    out.capacity = status.capacity;
    out.used = status.used;
    out.high_water = status.high_water;
    out.tasks = status.tasks;
    out.busy_ns = status.busy_ns;
    visit(&out, context);
  }
}

}  // namespace
}  // namespace npu::acl

extern "C" {

void anynpu_each_usage(void (*visit)(const anynpu_usage* usage, void* context), void* context) {
  for (const auto& process : npu::device::read_status_pages()) npu::acl::show(process, visit, context);
}

void anynpu_configured(void (*visit)(const anynpu_configuration* configuration, void* context), void* context) {
  anynpu_configuration out{};
  out.struct_size = sizeof(out);
  out.machine_memory = npu::device::machine_memory();
  out.problem = "";
  std::string problem;
  try {
    out.soc = npu::device::soc().name;
    out.device_count = npu::device::device_count();
    out.capacity = npu::device::device_capacity();
  } catch (const npu::Error& error) {
    problem = error.message();
    out.problem = problem.c_str();
  }
  visit(&out, context);
}

}  // extern "C"
