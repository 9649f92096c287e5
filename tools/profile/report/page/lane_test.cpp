// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/lane.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

std::vector<Lane> lanes(const Recorded& run, size_t most = kMostSlices) {
  const std::vector<Trace> traces{run.trace};
  return lanes_of(traces, facts_of(traces), most);
}

TEST(Lane, ThreadsIdleTimesAndStreams) {
  Recorded run;
  run.call("aclnnMm", 0, 5, Level::kOperator);
  run.task("Mm", 10, 100);
  run.task("Mm", 150, 200).stream = 2;
  const std::vector<Lane> found = lanes(run);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].title, "host 77 · thread 1");
  EXPECT_EQ(found[1].slices.front().name, "idle: host queues the next operator");
  EXPECT_EQ(found[3].title, "NPU 0 · stream 2");
  const Json json = json_of(found);
  EXPECT_EQ(json["names"].size(), 3u);
  EXPECT_EQ(json["lanes"][2]["slices"], Json::parse("[10000,90000,2,1,90000]"));
}

TEST(Lane, ManySlicesBecomeFewAndNoneIsLost) {
  Recorded run;
  for (int64_t i = 0; i < 5000; ++i) run.task("Adds", i * 10, i * 10 + 2);
  run.task("Mm", 50'000, 80'000);
  for (int64_t i = 0; i < 5000; ++i) run.task("Adds", 80'000 + i * 10, 80'000 + i * 10 + 2);
  const std::vector<Lane> found = lanes(run, 200);
  size_t slices = 0;
  for (const Lane& lane : found) slices += lane.slices.size();
  EXPECT_LE(slices, 200u);
  uint64_t count = 0;
  int64_t busy = 0;
  const DrawnSlice* product = nullptr;
  for (const DrawnSlice& one : found.back().slices) {
    count += one.count, busy += one.busy;
    if (one.name == "Mm") product = &one;
  }
  EXPECT_EQ(count, 10'001u);
  EXPECT_EQ(busy, 10'000 * 2000 + 30'000'000);
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->count, 1u);  // what is long stays by itself
}

}  // namespace
}  // namespace npu::profile
