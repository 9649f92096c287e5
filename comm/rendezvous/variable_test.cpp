// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/variable.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "comm/rendezvous/join.h"
#include "comm/rendezvous/network.h"
#include "device/device_fixture.h"

namespace npu::comm {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

void check(const Variables& set, bool strict = false, int generation = 2) {
  check_variables(
      [&](std::string_view name) {
        const auto found = set.find(name);
        return found == set.end() ? std::string() : found->second;
      },
      strict, generation);
}

void refused(const Variables& set, const std::string& text) {
  EXPECT_ERROR(check(set), Code::kInvalidParam, "EI0001: " + text);
}

TEST(Variable, EdgesOfRangesAreTakenAndWhatIsBeyondThemIsRefused) {
  const struct {
    const char *variable, *least, *most, *below, *above, *range;
  } kCases[] = {
      {"HCCL_CONNECT_TIMEOUT", "1", "7200", "0", "7201", "a number from 1 to 7200"},
      {"HCCL_EXEC_TIMEOUT", "0", "2147483647", "-1", "2147483648", "a number from 0 to 2147483647"},
      {"HCCL_IF_BASE_PORT", "0", "65520", "-1", "65521", "a number from 0 to 65520"},
      {"HCCL_BUFFSIZE", "1", "4096", "0", "2147483648", "a number from 1 to 2147483647"},
      {"HCCL_RDMA_TC", "0", "252", "-4", "256", "a multiple of 4 from 0 to 255"},
      {"HCCL_RDMA_SL", "0", "7", "-1", "8", "a number from 0 to 7"},
      {"HCCL_RDMA_TIMEOUT", "5", "24", "4", "25", "a number from 5 to 24"},
      {"HCCL_RDMA_RETRY_CNT", "1", "7", "0", "8", "a number from 1 to 7"},
      {"HCCL_INTRA_PCIE_ENABLE", "0", "1", "-1", "2", "a number from 0 to 1"},
      {"HCCL_INTRA_ROCE_ENABLE", "0", "1", "-1", "2", "a number from 0 to 1"},
      {"HCCL_ALLTOALL_Z_COPY", "0", "1", "-1", "2", "a number from 0 to 1"},
      {"HCCL_WHITELIST_DISABLE", "1", "1", "-1", "2", "a number from 0 to 1"},
  };
  for (const auto& each : kCases) {
    EXPECT_NO_THROW(check({{each.variable, each.least}})) << each.variable;
    EXPECT_NO_THROW(check({{each.variable, each.most}})) << each.variable;
    for (const char* wrong : {each.below, each.above, "x", "1.5", " 1", "99999999999999999999"})
      refused({{each.variable, wrong}}, std::string(each.variable) + " is '" + wrong + "'; it is " + each.range +
                                            ". Set such a one, or unset it");
  }
  refused({{"HCCL_RDMA_TC", "133"}}, "HCCL_RDMA_TC is '133'; it is a multiple of 4");
}

TEST(Variable, WordsAndAddresses) {
  for (const char* fine : {"AF_INET", "AF_INET6"}) EXPECT_NO_THROW(check({{"HCCL_SOCKET_FAMILY", fine}}));
  refused({{"HCCL_SOCKET_FAMILY", "IPv4"}}, "HCCL_SOCKET_FAMILY is 'IPv4'; it is one of AF_INET, AF_INET6");
  for (const char* fine : {"true", "false", "strict"}) EXPECT_NO_THROW(check({{"HCCL_DETERMINISTIC", fine}}));
  refused({{"HCCL_DETERMINISTIC", "yes"}}, "HCCL_DETERMINISTIC is 'yes'; it is one of false, true");
  for (const char* variable : {"HCCL_IF_IP", "CM_CHIEF_IP", "CM_WORKER_IP"}) {
    for (const char* fine : {"10.10.10.1", "::1"}) EXPECT_NO_THROW(check({{variable, fine}}));
    for (const char* wrong : {"10.10.10", "10.10.10.1,10.10.10.2", "host"})
      refused({{variable, wrong}}, std::string(variable) + " is '" + wrong + "'; it is one IPv4 or IPv6 address");
  }
  for (const char* fine : {"eth", "eth,enp", "=eth0,endvnic", "^eth", "^=eth0"})
    EXPECT_NO_THROW(check({{"HCCL_SOCKET_IFNAME", fine}}));
  for (const char* wrong : {"^", "=", "eth,", ",eth", "eth,,enp"})
    refused({{"HCCL_SOCKET_IFNAME", wrong}}, std::string("HCCL_SOCKET_IFNAME is '") + wrong + "'");
}

TEST(Variable, BothRingsOfAServerAreRefused) {
  EXPECT_NO_THROW(check({{"HCCL_INTRA_PCIE_ENABLE", "1"}, {"HCCL_INTRA_ROCE_ENABLE", "0"}}));
  refused({{"HCCL_INTRA_PCIE_ENABLE", "1"}, {"HCCL_INTRA_ROCE_ENABLE", "1"}}, "HCCL_INTRA_PCIE_ENABLE and");
}

TEST(Variable, TheVendorsRangesBindUnderTheStrictSetting) {
  const auto strictly_refused = [](const char* variable, const char* value, int generation, const std::string& range) {
    EXPECT_NO_THROW(check({{variable, value}}, false, generation));
    EXPECT_ERROR(check({{variable, value}}, true, generation), Code::kInvalidParam,
                 std::string("EI0001: ") + variable + " is '" + value + "'; it is a number from " + range +
                     ". Set such a one, or unset it, or unset ANYNPU_HCCL_STRICT");
  };
  strictly_refused("HCCL_CONNECT_TIMEOUT", "119", 2, "120 to 7200");
  strictly_refused("HCCL_BUFFSIZE", "2049", 2, "1 to 2048");
  strictly_refused("HCCL_RDMA_TIMEOUT", "21", 2, "5 to 20");
  strictly_refused("HCCL_EXEC_TIMEOUT", "0", 1, "1 to 17340");
  EXPECT_NO_THROW(check({{"HCCL_EXEC_TIMEOUT", "0"}}, true, 2));
  EXPECT_NO_THROW(check({{"HCCL_RDMA_TIMEOUT", "24"}}, true, 1));
}

TEST(Variable, AListOfHostsMustNameThisMachine) {
  const std::string path = testing::TempDir() + "variable_test.json";
  const Variables set = {{"HCCL_WHITELIST_DISABLE", "0"}, {"HCCL_WHITELIST_FILE", path}};
  refused({{"HCCL_WHITELIST_DISABLE", "0"}}, "HCCL_WHITELIST_FILE is '', which cannot be opened");
  for (const char* wrong : {"", "[]", "{}", R"({"host_ip": "10.0.0.1"})", R"({"host_ip": [1]})"}) {
    std::ofstream(path) << wrong;
    refused(set, "HCCL_WHITELIST_FILE is '" + path + "', which holds no such list");
  }
  std::ofstream(path) << R"({"host_ip": ["203.0.113.7"], "device_ip": []})";
  refused(set, "HCCL_WHITELIST_FILE '" + path + "' names none of this machine's addresses (" + own_address());
  EXPECT_NO_THROW(check({{"HCCL_WHITELIST_DISABLE", "1"}, {"HCCL_WHITELIST_FILE", path}}));
  std::ofstream(path) << R"({"host_ip": ["203.0.113.7", ")" << own_address() << "\"]}";
  EXPECT_NO_THROW(check(set));
  remove(path.c_str());
}

TEST(Variable, CommunicatorsAreNotMadeWithWrongOnes) {
  setenv("HCCL_RDMA_SL", "9", 1);
  char root[kRootInfoBytes];
  EXPECT_ERROR(make_root_info(std::span<char, kRootInfoBytes>(root)), Code::kInvalidParam, "HCCL_RDMA_SL is '9'");
  EXPECT_ERROR(join_all(std::array{0}), Code::kInvalidParam, "HCCL_RDMA_SL is '9'");
  unsetenv("HCCL_RDMA_SL");
  EXPECT_EQ(join_all(std::array{0}).size(), 1u);
}

}  // namespace
}  // namespace npu::comm
