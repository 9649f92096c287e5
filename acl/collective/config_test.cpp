// SPDX-License-Identifier: Apache-2.0
#include "acl/collective/config.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "acl/include/acl/acl.h"
#include "acl/include/hccl/hccl.h"
#include "comm/communicator/comm_fixture.h"

namespace {

/// As HcclCommConfigInit leaves it, in a client whose header ended at `size`: behind that is somebody else's memory.
HcclCommConfig config_of(uint64_t size) {
  HcclCommConfig out;
  std::memset(&out, 0xee, sizeof(out));
  HcclCommConfigInit(&out);
  EXPECT_EQ(out.size, sizeof(out));
  out.size = size;
  if (size < sizeof(out)) std::memset(reinterpret_cast<char*>(&out) + size, 0xee, sizeof(out) - size);
  return out;
}

/// Makes a communicator of one rank; "" when that went well.
std::string make(HcclCommConfig& config, std::string* name = nullptr) {
  HcclRootInfo root;
  HcclComm comm = nullptr;
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  if (HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm) != HCCL_SUCCESS) return aclGetRecentErrMsg();
  char text[COMM_NAME_MAX_LENGTH];
  EXPECT_EQ(HcclGetCommName(comm, text), HCCL_SUCCESS);
  if (name != nullptr) *name = text;
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  return "";
}

void refused(const std::function<void(HcclCommConfig&)>& change, const std::string& text) {
  HcclCommConfig config = config_of(sizeof(config));
  change(config);
  const std::string told = make(config);
  EXPECT_NE(told.find("EI0001: " + text), std::string::npos) << told;
}

// Where the structures of the vendor's editions end.
constexpr uint64_t kEditions[] = {
    offsetof(HcclCommConfig, hcclCommName),
    offsetof(HcclCommConfig, hcclUdi),
    offsetof(HcclCommConfig, hcclOpExpansionMode),
    offsetof(HcclCommConfig, hcclRdmaTrafficClass),
    offsetof(HcclCommConfig, hcclWorldRankID),
    offsetof(HcclCommConfig, aclGraphZeroCopyEnable),
    offsetof(HcclCommConfig, hcclExecTimeOut),
    offsetof(HcclCommConfig, hcclAlgo),
    offsetof(HcclCommConfig, hcclRetryEnable),
    offsetof(HcclCommConfig, hcclRetryParams),
    offsetof(HcclCommConfig, hcclBufferName),
    offsetof(HcclCommConfig, hcclQos),
    sizeof(HcclCommConfig),
};

}  // namespace

TEST(HcclConfig, DeterminismIsAcceptedOthersRefused) {
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {1}), HCCL_SUCCESS);
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {9}), HCCL_E_PARA);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("configValue is 9"), std::string::npos);
  EXPECT_EQ(HcclSetConfig(static_cast<HcclConfig>(5), {1}), HCCL_E_PARA);
}

TEST(HcclConfig, EveryEditionsFieldsActAndNoneBehindThem) {
  for (const uint64_t size : kEditions) {
    HcclCommConfig config = config_of(size);
    std::string name;
    if (size >= offsetof(HcclCommConfig, hcclUdi)) std::strcpy(config.hcclCommName, "mine");
    EXPECT_EQ(make(config, &name), "") << size;
    EXPECT_EQ(name == "mine", size >= offsetof(HcclCommConfig, hcclUdi)) << name << " " << size;
    EXPECT_EQ(name.find('\xee'), std::string::npos) << size;
    config.hcclBufferSize = 0;  // the first field is in all of them
    EXPECT_NE(make(config).find("hcclBufferSize"), std::string::npos) << size;
    const bool timed = size >= offsetof(HcclCommConfig, hcclAlgo);
    config = config_of(size);
    if (timed) config.hcclExecTimeOut = 7;
    EXPECT_EQ(npu::acl::options_of(&config).exec_timeout_s, timed ? 7 : -1) << size;
  }
}

TEST(HcclConfig, ALargerStructureOfANewerClientIsTaken) {
  HcclCommConfig config = config_of(sizeof(config) + 64);
  EXPECT_EQ(make(config), "");
}

TEST(HcclConfig, ValuesAtTheEdgesAreTaken) {
  HcclCommConfig config = config_of(sizeof(config));
  config.hcclBufferSize = 1;
  config.hcclDeterministic = 2;
  config.hcclOpExpansionMode = 7;
  config.hcclRdmaTrafficClass = 252;
  config.hcclRdmaServiceLevel = 7;
  config.aclGraphZeroCopyEnable = 1;
  config.hcclExecTimeOut = 0;
  std::memset(config.hcclCommName, 'n', sizeof(config.hcclCommName) - 1);
  std::string name;
  EXPECT_EQ(make(config, &name), "");
  EXPECT_EQ(name, std::string(COMM_NAME_MAX_LENGTH - 1, 'n'));
}

TEST(HcclConfig, AlgorithmsAreTaken) {
  HcclCommConfig config = config_of(sizeof(config));
  std::strcpy(config.hcclAlgo, "level0:star;level1:NA");
  const npu::comm::AlgorithmChoice choice = npu::acl::options_of(&config).algorithms;
  EXPECT_EQ(choice.of(npu::comm::named("all_reduce"), 1 << 20, 2, npu::comm::shared_memory_costs(2)),
            npu::comm::Algorithm::kStar);
  EXPECT_EQ(make(config), "");
}

TEST(HcclConfig, ValuesOutsideOfTheirRangesAreRefusedByName) {
  refused([](auto& c) { c.size = 8; }, "size of the communicator's config is 8; it is 28 to 65536");
  refused([](auto& c) { c.size = ~uint64_t{0}; }, "size of the communicator's config");
  refused([](auto& c) { c.hcclBufferSize = 0; }, "hcclBufferSize of the communicator's config is 0; it is a number");
  refused([](auto& c) { c.hcclDeterministic = 3; }, "hcclDeterministic of the communicator's config is 3");
  refused([](auto& c) { c.hcclOpExpansionMode = 8; }, "hcclOpExpansionMode of the communicator's config is 8");
  refused([](auto& c) { c.hcclRdmaTrafficClass = 5; },
          "hcclRdmaTrafficClass of the communicator's config is 5; it is a multiple of 4 from 0 to 255");
  refused([](auto& c) { c.hcclRdmaServiceLevel = 8; }, "hcclRdmaServiceLevel of the communicator's config is 8");
  refused([](auto& c) { c.aclGraphZeroCopyEnable = 2; }, "aclGraphZeroCopyEnable of the communicator's config is 2");
  refused([](auto& c) { c.hcclExecTimeOut = -2; }, "hcclExecTimeOut of the communicator's config is -2");
  refused([](auto& c) { std::memset(c.hcclCommName, 'n', sizeof(c.hcclCommName)); },
          "hcclCommName of the communicator's config has no end; it is a text of at most 127 bytes");
  refused([](auto& c) { std::memset(c.hcclUdi, 'n', sizeof(c.hcclUdi)); }, "hcclUdi of the");
  refused([](auto& c) { std::memset(c.hcclAlgo, 'n', sizeof(c.hcclAlgo)); }, "hcclAlgo of the");
  refused([](auto& c) { std::strcpy(c.hcclAlgo, "level0:tree"); },
          "hcclAlgo of the communicator's config is 'level0:tree'");
  refused([](auto& c) { std::memset(c.hcclRetryEnable, 'n', sizeof(c.hcclRetryEnable)); }, "hcclRetryEnable of the");
  refused([](auto& c) { std::memset(c.hcclRetryParams, 'n', sizeof(c.hcclRetryParams)); }, "hcclRetryParams of the");
  refused([](auto& c) { std::memset(c.hcclBufferName, 'n', sizeof(c.hcclBufferName)); }, "hcclBufferName of the");
  HcclCommConfig config = config_of(sizeof(config));
  config.magic = 0;
  EXPECT_NE(make(config).find("config was not filled"), std::string::npos);
}

TEST(HcclConfig, ACommunicatorsTimeLimitIsItsOwn) {
  HcclRootInfo root;
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  std::jthread other([&] {
    HcclComm comm = nullptr;
    HcclCommConfig config = config_of(sizeof(config));
    aclrtSetDevice(1);
    EXPECT_EQ(HcclCommInitRootInfoConfig(2, &root, 1, &config, &comm), HCCL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // it comes too late
    HcclCommDestroy(comm);
  });
  HcclCommConfig config = config_of(sizeof(config));
  config.hcclExecTimeOut = 1;
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclCommInitRootInfoConfig(2, &root, 0, &config, &comm), HCCL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  EXPECT_EQ(HcclBarrier(comm, stream), HCCL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), 0);
  const std::string told = aclGetRecentErrMsg();
  EXPECT_NE(told.find("has waited 1 s for rank 1 (host"), std::string::npos) << told;
  HcclCommDestroy(comm);
  aclrtDestroyStream(stream);
}
