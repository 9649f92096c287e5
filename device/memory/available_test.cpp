// SPDX-License-Identifier: Apache-2.0
#include "device/memory/available.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/setting.h"
#include "device/device_fixture.h"
#include "device/memory/capacity.h"
#include "device/memory/cgroup.h"
#include "device/memory/memory.h"

namespace npu::device {
namespace {

class Cgroups : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("anynpu-cgroup-" + std::to_string(getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  CgroupMemory read(const std::string& groups) const {
    write("groups", groups);
    return cgroup_memory(root_ / "groups", root_);
  }
  std::filesystem::path root_;
};

TEST_F(Cgroups, TheTightestOfTheParentsCounts) {
  write("memory.max", "max\n");
  write("a/memory.max", "1000\n");
  write("a/memory.current", "700\n");
  write("a/memory.stat", "anon 400\ninactive_file 200\nactive_file 100\n");
  write("a/b/memory.max", "4000\n");
  write("a/b/memory.current", "600\n");
  const CgroupMemory found = read("0::/a/b\n");
  EXPECT_EQ(found.limit, 1000u);
  EXPECT_EQ(found.left, 500u);  // files that are not in use can be dropped
}

TEST_F(Cgroups, Version1HasNamesOfItsOwn) {
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/job/memory.limit_in_bytes", "2048\n");
  write("memory/job/memory.usage_in_bytes", "2500\n");
  write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  const CgroupMemory found = read("5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
  EXPECT_EQ(found.limit, 2048u);
  EXPECT_EQ(found.left, 548u);
}

TEST_F(Cgroups, NoLimitIsFoundWhereThereIsNone) {
  EXPECT_EQ(read("0::/a\n").left, UINT64_MAX);
  EXPECT_EQ(read("").limit, UINT64_MAX);
  EXPECT_EQ(read("0::/../outside\nnonsense\n0::nowhere\n").limit, UINT64_MAX);
}

TEST(Available, MoreThanCanBeHadIsRefusedByName) {
  static Setting<std::string>& memory = detail::memory_setting;
  const std::string before = memory();
  memory.override("");
  EXPECT_LE(obtainable_memory(), machine_memory());
  EXPECT_ERROR(check_obtainable(0, size_t{1} << 50), Code::kMemoryAllocation, "ANYNPU_MEMORY_MARGIN");
  memory.override("256M");
  EXPECT_EQ(obtainable_memory(), SIZE_MAX);
  memory.override(before);
}

}  // namespace
}  // namespace npu::device
