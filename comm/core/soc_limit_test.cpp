// SPDX-License-Identifier: Apache-2.0
#include "comm/core/soc_limit.h"

#include <gtest/gtest.h>

#include <string>

#include "comm/core/fault.h"
#include "device/device_fixture.h"
#include "device/process/soc_fixture.h"

namespace npu::comm {
namespace {

using device::profile_named;

/// Ranks on these devices of a host each.
Group group_on(const std::vector<std::vector<int32_t>>& hosts) {
  Group group{"uid", "name", {}};
  for (size_t host = 0; host < hosts.size(); ++host)
    for (const int32_t device : hosts[host]) {
      Peer peer{static_cast<uint32_t>(group.peers.size()), device, 1, "here", "", ""};
      peer.domain = std::to_string(host), peer.on_machine = device;
      group.peers.push_back(std::move(peer));
    }
  return group;
}

void refused(const std::vector<std::vector<int32_t>>& hosts, const char* name, const std::string& text) {
  const Group group = group_on(hosts);
  EXPECT_NO_THROW(detail::check_soc_group(group, profile_named(name), false));
  EXPECT_ERROR(detail::check_soc_group(group, profile_named(name), true), Code::kInvalidParam, "EI0003: " + text);
}

void taken(const std::vector<std::vector<int32_t>>& hosts, const char* name) {
  EXPECT_NO_THROW(detail::check_soc_group(group_on(hosts), profile_named(name), true)) << name;
}

TEST(SocLimit, RanksOfTheFirstGenerationAreOneTwoFourOrEight) {
  const std::vector<std::vector<int32_t>> kFine = {{5}, {0, 1}, {4, 7}, {3, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}};
  for (const std::vector<int32_t>& fine : kFine) taken(std::vector(1, fine), "Ascend910A");
  refused({{0, 1, 2}}, "Ascend910A", "3 ranks are on one host; collectives of Ascend910A are between 1, 2, 4, 8 of");
  refused({{0, 1, 2, 3, 4}}, "Ascend910A", "5 ranks are on one host");
  refused({{0, 4}}, "Ascend910A", "2 ranks are on devices 0 and 4 of one host; on Ascend910A as many are all on");
  refused({{0, 1, 2, 4}}, "Ascend910A", "4 ranks are on devices 0 and 4");
  taken({{0, 4, 5}, {1, 2, 3}}, "Ascend910B1");
}

TEST(SocLimit, HostsHaveAsManyRanks) {
  taken({{0, 1}, {4, 5}}, "Ascend910A");
  refused({{0, 1}, {0}}, "Ascend910A", "one host has 2 ranks, another 1");
  refused({{0, 1}, {0}}, "Ascend910B2", "one host has 2 ranks, another 1");
  refused({{0}, {0}}, "Ascend310P3", "the ranks are on 2 hosts; collectives of Ascend310P3 are between ranks of one");
  taken({{0, 1, 2, 3, 4}}, "Ascend310P3");
}

TEST(SocLimit, EachRankHasItsOwnDevice) {
  for (const char* name : {"Ascend910A", "Ascend910B1"})
    refused({{1, 1}}, name, "rank 1 (host here, device 1, process 1) is the second rank on device 1 of its host");
  taken({{1}, {1}}, "Ascend910B1");
}

uint32_t number_of(std::string_view collective) {
  for (const CollectiveDef* row : collectives())
    if (row->name == collective) return row->id;
  return 0;
}

Call call(const char* collective, DType dtype, ReduceOp reduce = ReduceOp::kSum) {
  Call out;
  out.collective = static_cast<uint16_t>(number_of(collective));
  out.dtype = dtype, out.element_bytes = static_cast<uint32_t>(size_of(dtype)), out.reduce = reduce, out.count = 4;
  return out;
}

/// What is refused of a call: under the setting, or in any case.
enum class Refused { kNever, kStrictly, kAlways };

Refused refusal_of(const Call& call, const char* name) {
  const auto raises = [&](bool strict) {
    return device::raised([&] { detail::check_soc_types(call, profile_named(name), strict); }).code != Code::kOk;
  };
  return raises(false) ? Refused::kAlways : raises(true) ? Refused::kStrictly : Refused::kNever;
}

TEST(SocLimit, TypesOfReductions) {
  const auto reduced = [](DType dtype, const char* name, ReduceOp op = ReduceOp::kSum) {
    return refusal_of(call("all_reduce", dtype, op), name);
  };
  for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64, DType::kHalf, DType::kFloat})
    for (const char* name : {"Ascend910A", "Ascend910B1"}) EXPECT_EQ(reduced(dtype, name), Refused::kNever);
  EXPECT_EQ(reduced(DType::kInt16, "Ascend910A"), Refused::kStrictly);
  EXPECT_EQ(reduced(DType::kDouble, "Ascend910B1"), Refused::kStrictly);
  EXPECT_EQ(reduced(DType::kInt64, "Ascend310P3"), Refused::kStrictly);
  EXPECT_EQ(reduced(DType::kBFloat16, "Ascend910A"), Refused::kAlways);
  EXPECT_EQ(reduced(DType::kBFloat16, "Ascend910B1"), Refused::kNever);
  EXPECT_EQ(reduced(DType::kBFloat16, "Ascend910B1", ReduceOp::kMax), Refused::kNever);
  EXPECT_EQ(reduced(DType::kBFloat16, "Ascend910B1", ReduceOp::kProd), Refused::kStrictly);
  EXPECT_EQ(reduced(DType::kInt16, "Ascend310P3"), Refused::kNever);
  EXPECT_EQ(reduced(DType::kInt16, "Ascend310P3", ReduceOp::kMin), Refused::kStrictly);
}

TEST(SocLimit, TypesThatAreMoved) {
  for (const char* collective : {"all_gather", "broadcast", "send"}) {
    EXPECT_EQ(refusal_of(call(collective, DType::kDouble), "Ascend910A"), Refused::kNever) << collective;
    EXPECT_EQ(refusal_of(call(collective, DType::kBool), "Ascend910A"), Refused::kStrictly) << collective;
    EXPECT_EQ(refusal_of(call(collective, DType::kBFloat16), "Ascend310P3"), Refused::kAlways) << collective;
  }
  EXPECT_EQ(refusal_of(call("barrier", DType::kUndefined), "Ascend910A"), Refused::kNever);
}

TEST(SocLimit, TextsNameTypeSocAndCure) {
  EXPECT_ERROR(
      detail::check_soc_types(call("all_reduce", DType::kBFloat16), profile_named("Ascend910A"), false),
      Code::kRtInternal,
      "EI0003: all_reduce (sum) of 4 bfloat16: Ascend910A does not have bfloat16; cast it to float16 or float32");
  EXPECT_ERROR(
      detail::check_soc_types(call("all_reduce", DType::kInt16), profile_named("Ascend910A"), true), Code::kRtInternal,
      "EI0003: all_reduce (sum) of 4 int16: on Ascend910A it takes float32, float16, int8, int32, int64; cast");
}

TEST(SocLimit, ACommunicatorRefusesWhatTheSocLacks) {
  const device::OnSoc soc("Ascend910A");
  EXPECT_EQ(device::raised([] { check_soc_types(call("broadcast", DType::kBFloat16)); }).code, Code::kRtInternal);
  EXPECT_NO_THROW(check_soc_types(call("broadcast", DType::kInt16)));
}

}  // namespace
}  // namespace npu::comm
