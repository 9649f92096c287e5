// SPDX-License-Identifier: Apache-2.0
// What records tell of the bytes between two ranks.
#include "comm/core/carried.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "comm/collective/collective_fixture.h"
#include "device/trace/group.h"
#include "device/trace/recorder.h"
#include "device/trace/text.h"
#include "ops/runner/observer.h"

namespace npu::comm {
namespace {

namespace fs = std::filesystem;
namespace trace = device::trace;

class Nobody final : public ops::Observer {
 public:
  std::unique_ptr<ops::Watch> start(const ops::Execution&) override { return nullptr; }
};

class CarriedBytes : public testing::TestWithParam<Over> {
 protected:
  using ByRanks = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "carriedXXXXXX").string();
    folder = mkdtemp(name.data());
    fs::create_directories(folder / "host/data");
    ops::add_observer(observer);
    trace::start(folder.string(), {}, [](const std::string& error) { ADD_FAILURE() << error; });
  }
  void TearDown() override {
    trace::stop();
    ops::remove_observer(*observer);
    fs::remove_all(folder);
  }
  std::vector<trace::LinkRecord> links() const {
    std::ifstream file(folder / "host/data" / trace::kLinkFile, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<trace::LinkRecord> found(bytes.size() / sizeof(trace::LinkRecord));
    std::memcpy(found.data(), bytes.data(), found.size() * sizeof(trace::LinkRecord));
    std::erase_if(found, [](const trace::LinkRecord& one) { return one.end == 0; });
    return found;
  }
  /// Of all ranks; what stays with one is left out.
  ByRanks carried() const {
    ByRanks sums;
    for (const trace::LinkRecord& link : links())
      if (link.from != link.to) sums[{link.from, link.to}] += link.bytes;
    return sums;
  }

  const std::shared_ptr<Nobody> observer = std::make_shared<Nobody>();
  fs::path folder;
};
INSTANTIATE_TEST_SUITE_P(Over, CarriedBytes, testing::Values(Over::kSharedMemory, Over::kQueues));

TEST_P(CarriedBytes, ABroadcastGoesFromItsRoot) {
  constexpr uint64_t kCount = 10'000;
  Case test(3, GetParam());
  auto all = test.filled(kCount);
  test.on_each([&](uint32_t r, Communicator& c, device::Stream& stream) {
    broadcast(c, stream, all[r].address(), kCount, kInt32, 1);
  });
  EXPECT_EQ(carried(), (ByRanks{{{1, 0}, 4 * kCount}, {{1, 2}, 4 * kCount}}));
  for (const trace::LinkRecord& link : links()) EXPECT_STREQ(trace::text_of(link.group), "test");
}

TEST_P(CarriedBytes, AnAllReduceSharesItsWorkOrHasACentre) {
  constexpr uint64_t kCount = 100'000;
  Case test(4, GetParam());
  auto sent = test.filled(kCount), received = test.empty(kCount);
  test.on_each([&](uint32_t r, Communicator& c, device::Stream& stream) {
    all_reduce(c, stream, sent[r].address(), received[r].address(), kCount, kInt32, ReduceOp::kSum);
  });
  uint64_t sum = 0;
  for (const auto& [ranks, bytes] : carried()) sum += bytes;
  EXPECT_EQ(sum, kCount * 2 * 3 * 4);  // in each way of doing it
}

TEST_P(CarriedBytes, AMessageIsCarriedByWhoReceivesIt) {
  constexpr uint64_t kCount = 5000;
  Case test(2, GetParam());
  auto all = test.filled(kCount);
  exchange(test.ranks[0], test.ranks.stream(0), {{false, all[0].address(), kCount, kInt32, 1}});
  exchange(test.ranks[1], test.ranks.stream(1), {{true, all[1].address(), kCount, kInt32, 0}});
  test.ranks.expect_fine();
  EXPECT_EQ(carried(), (ByRanks{{{0, 1}, 4 * kCount}}));
}

TEST_P(CarriedBytes, WhoMeetsIsKnown) {
  const Case test(3, GetParam());
  const auto groups = trace::groups();
  ASSERT_GE(groups.size(), 3u);
  const trace::GroupRecord& last = groups.back();
  EXPECT_STREQ(trace::text_of(last.name), "test");
  EXPECT_EQ(last.rank, 2u);
  EXPECT_EQ(last.size, 3u);
  const std::string process = std::to_string(getpid());
  EXPECT_EQ(trace::text_of(last.members), "here/" + process + "/0,here/" + process + "/1,here/" + process + "/2");
  EXPECT_GE(fs::file_size(folder / "host/data" / trace::kGroupFile), 3 * sizeof(trace::GroupRecord));
}

}  // namespace
}  // namespace npu::comm
