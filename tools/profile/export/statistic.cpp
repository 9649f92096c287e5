// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/statistic.h"

namespace npu::profile {

OperatorSums operator_sums(const Trace& trace) {
  OperatorSums sums;
  for (const auto& [device, tasks] : trace.tasks) {
    Sums found;
    for (const TaskRecord& task : tasks)
      if (computes(task)) found.add(task.type, static_cast<uint32_t>(task.unit), task.end - task.start);
    // Two numbers may stand for one text.
    found.each([&, device = device](uint32_t type, uint32_t unit, const Sum& sum) {
      TaskRecord of_unit;
      of_unit.unit = device::trace::Unit{unit};
      sums[{device, std::string(trace.text(type)), std::string(unit_name(of_unit))}].add(sum);
    });
  }
  return sums;
}

}  // namespace npu::profile
