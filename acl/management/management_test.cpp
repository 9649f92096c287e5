// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "acl/include/driver/dcmi_interface_api.h"
#include "acl/include/driver/dsmi_common_interface.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/process/soc.h"
#include "device/process/status_page.h"

namespace npu::acl {
namespace {

constexpr size_t kBytes = size_t{64} << 20;

/// This process uses 64 MB of NPU 0.
class ManagementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device::set_device(0);
    memory_ = device::allocate(0, kBytes);
    ASSERT_EQ(dcmi_init(), DCMI_OK);
  }
  void TearDown() override { device::deallocate(memory_); }

 private:
  void* memory_ = nullptr;
};

TEST_F(ManagementTest, EveryNpuIsACardOfOneChip) {
  int count = 0, list[64] = {-1, -1}, one = -1, mcu = 0, cpu = 0;
  ASSERT_EQ(dcmi_get_card_list(&count, list, 64), DCMI_OK);
  EXPECT_EQ(count, device::device_count());
  EXPECT_EQ(list[count - 1], count - 1);
  EXPECT_EQ(dcmi_get_device_num_in_card(count - 1, &one), DCMI_OK);
  EXPECT_EQ(one, 1);
  EXPECT_EQ(dcmi_get_device_id_in_card(0, &one, &mcu, &cpu), DCMI_OK);
  EXPECT_EQ(mcu, -1);
  dcmi_unit_type type = INVALID_TYPE;
  EXPECT_EQ(dcmi_get_device_type(0, 0, &type), DCMI_OK);
  EXPECT_EQ(type, NPU_TYPE);
  int card = -1, chip = -1, logic = -1;
  EXPECT_EQ(dcmi_get_card_id_device_id_from_logicid(&card, &chip, 1), DCMI_OK);
  EXPECT_EQ(card, 1);
  EXPECT_EQ(chip, 0);
  EXPECT_EQ(dcmi_get_device_logic_id(&logic, 1, 0), DCMI_OK);
  EXPECT_EQ(logic, 1);
}

TEST_F(ManagementTest, AListHasNoMoreThanItsRoom) {
  int count = 0, list[2] = {-1, -1};
  ASSERT_EQ(dcmi_get_card_num_list(&count, list, 1), DCMI_OK);
  EXPECT_EQ(count, device::device_count());
  EXPECT_EQ(list[0], 0);
  EXPECT_EQ(list[1], -1);
  EXPECT_EQ(dcmi_get_card_num_list(&count, list, 0), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(dcmi_get_card_num_list(nullptr, list, 1), DCMI_ERR_CODE_INVALID_PARAMETER);
}

TEST_F(ManagementTest, ChipsAreNamedAsTheSoc) {
  dcmi_chip_info_v2 info;
  std::memset(&info, 7, sizeof(info));
  ASSERT_EQ(dcmi_get_device_chip_info_v2(0, 0, &info), DCMI_OK);
  EXPECT_STREQ(reinterpret_cast<char*>(info.chip_type), "Ascend");
  EXPECT_EQ(std::string("Ascend") + reinterpret_cast<char*>(info.chip_name), device::soc().name);
  EXPECT_STREQ(reinterpret_cast<char*>(info.npu_name), device::soc().name);
  EXPECT_EQ(info.aicore_cnt, device::soc().ai_cores);
}

TEST_F(ManagementTest, MemoryIsThatOfTheProcesses) {
  dcmi_hbm_info hbm{};
  ASSERT_EQ(dcmi_get_device_hbm_info(0, 0, &hbm), DCMI_OK);
  EXPECT_GE(hbm.memory_usage, kBytes >> 20);
  EXPECT_GT(hbm.memory_size, hbm.memory_usage);
  dcmi_get_memory_info_stru memory{};
  ASSERT_EQ(dcmi_get_device_memory_info_v3(0, 0, &memory), DCMI_OK);
  EXPECT_LE(memory.memory_available, hbm.memory_size - (kBytes >> 20));
  dsmi_hbm_info_stru older{};
  ASSERT_EQ(dsmi_get_hbm_info(0, &older), 0);
  EXPECT_EQ(older.memory_size >> 10, hbm.memory_size);
  EXPECT_GE(older.memory_usage, kBytes >> 10);

  dcmi_proc_mem_info processes[32] = {};
  int count = 0;
  ASSERT_EQ(dcmi_get_device_resource_info(0, 0, processes, &count), DCMI_OK);
  uint64_t ours = 0;
  for (int i = 0; i < count; ++i) ours += processes[i].proc_id == getpid() ? processes[i].proc_mem_usage : 0;
  EXPECT_GE(ours, kBytes);
}

TEST_F(ManagementTest, CoresAreBusyForTheTimeOfTheirTasks) {
  std::atomic<bool> ends = false;
  std::thread task([&] {
    for (auto last = std::chrono::steady_clock::now(); !ends;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto now = std::chrono::steady_clock::now();
      device::counters(0).busy_ns += static_cast<uint64_t>(std::chrono::nanoseconds(now - last).count());
      last = now;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // past what an earlier question found
  unsigned busy = 0, memory = 101, older = 0;
  EXPECT_EQ(dcmi_get_device_utilization_rate(0, 0, 2, &busy), DCMI_OK);
  EXPECT_EQ(dsmi_get_device_utilization_rate(0, 13, &older), 0);
  dcmi_multi_utilization_info all{};
  EXPECT_EQ(dcmi_get_device_multi_utilization_rate(0, 0, &all), DCMI_OK);
  ends = true;
  task.join();
  EXPECT_GE(busy, 10u);  // of 100, where this thread runs at all
  EXPECT_LE(busy, 100u);
  EXPECT_GE(older, 10u);
  EXPECT_GE(all.npu_util, 10u);
  EXPECT_EQ(dcmi_get_device_utilization_rate(0, 0, 6, &memory), DCMI_OK);
  EXPECT_LE(memory, 100u);
  EXPECT_EQ(dcmi_get_device_utilization_rate(0, 0, 5, &memory), DCMI_ERR_CODE_NOT_SUPPORT);
}

TEST_F(ManagementTest, WhatOnlyHardwareHasIsNotSupported) {
  int number = -1;
  unsigned figure = 0;
  dsmi_power_info_stru power{};
  EXPECT_EQ(dcmi_get_device_temperature(0, 0, &number), DCMI_ERR_CODE_NOT_SUPPORT);
  EXPECT_EQ(dcmi_get_device_power_info(0, 0, &number), DCMI_ERR_CODE_NOT_SUPPORT);
  EXPECT_EQ(dcmi_get_device_voltage(0, 0, &figure), DCMI_ERR_CODE_NOT_SUPPORT);
  EXPECT_EQ(dcmi_get_device_frequency(0, 0, DCMI_FREQ_HBM, &figure), DCMI_ERR_CODE_NOT_SUPPORT);
  EXPECT_EQ(dsmi_get_device_temperature(0, &number), 0xfffe);
  EXPECT_EQ(dsmi_get_device_power_info(0, &power), 0xfffe);
  EXPECT_EQ(number, -1);
}

TEST_F(ManagementTest, HealthAndVersionAreKnown) {
  unsigned health = 9, codes[4];
  int errors = -1;
  EXPECT_EQ(dcmi_get_device_health(0, 0, &health), DCMI_OK);
  EXPECT_EQ(health, 0u);
  EXPECT_EQ(dcmi_get_device_errorcode_v2(0, 0, &errors, codes, 4), DCMI_OK);
  EXPECT_EQ(errors, 0);
  dcmi_boot_status status = DCMI_BOOT_STATUS_UNINIT;
  EXPECT_EQ(dcmi_get_device_boot_status(0, 0, &status), DCMI_OK);
  EXPECT_EQ(status, DCMI_BOOT_STATUS_FINISH);
  char version[32], little[2];
  EXPECT_EQ(dcmi_get_dcmi_version(version, sizeof(version)), DCMI_OK);
  EXPECT_NE(std::string(version).find('.'), std::string::npos);
  EXPECT_EQ(dcmi_get_driver_version(little, sizeof(little)), DCMI_ERR_CODE_INVALID_PARAMETER);
  char cpus[32] = {};
  int length = 0;
  EXPECT_EQ(dcmiv2_get_affinity_cpu_info_by_device_id(0, cpus, &length), DCMI_OK);
  EXPECT_EQ(std::string(cpus).rfind("0-", 0), 0u);
  EXPECT_EQ(static_cast<size_t>(length), std::strlen(cpus));
}

TEST_F(ManagementTest, WhatDoesNotExistHasACode) {
  unsigned figure = 7;
  int number = 7;
  for (const int card : {-1, 64, 1 << 30}) {
    EXPECT_EQ(dcmi_get_device_health(card, 0, &figure), DCMI_ERR_CODE_DEVICE_NOT_EXIST);
    EXPECT_EQ(dcmi_get_device_temperature(card, 0, &number), DCMI_ERR_CODE_DEVICE_NOT_EXIST);
    EXPECT_EQ(dsmi_get_device_health(card, &figure), 2);
  }
  EXPECT_EQ(dcmi_get_device_health(0, 1, &figure), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(dcmi_get_device_health(0, 0, nullptr), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(dcmi_get_device_hbm_info(0, 0, nullptr), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(dcmi_get_device_phyid_from_logicid(~0u, &figure), DCMI_ERR_CODE_DEVICE_NOT_EXIST);
  EXPECT_EQ(dsmi_list_device(&number, 0), 3);
  EXPECT_EQ(dsmi_list_device(nullptr, 1), 3);
  EXPECT_EQ(figure, 7u);
  EXPECT_EQ(number, 7);
}

}  // namespace
}  // namespace npu::acl
