// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/digest/two_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace npu::compare {
namespace {

using graph::record::DigestEncoder;
using graph::record::DigestFile;
using graph::record::Lane;
using Digests = std::vector<uint64_t>;

class TwoRunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "runsXXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  struct Task {
    const char* type;
    Digests inputs, outputs;
    uint64_t parameters = 0;
    int32_t stream = 0;
  };
  DigestFile file(const std::vector<Task>& tasks) const {
    DigestEncoder encoder;
    for (const Task& task : tasks)
      encoder.add({task.type, task.type, {0, task.stream, ""}, 0, task.parameters, task.inputs, task.outputs});
    encoder.end();
    const std::string path = folder / fmt::format("{}.digest", ++files);  // those before stay mapped
    std::ofstream(path, std::ios::binary) << encoder.take();
    return DigestFile(path);
  }
  std::string text(const std::vector<Task>& one, const std::vector<Task>& other) const {
    const DigestFile first = file(one);
    return compared(first, file(other)).text();
  }

  std::filesystem::path folder;
  mutable int files = 0;
};

TEST_F(TwoRunsTest, OfEqualBits) {
  EXPECT_EQ(text({{"Add", {1}, {2}}, {"Mul", {2}, {3}}}, {{"Add", {1}, {2}}, {"Mul", {2}, {3}}}),
            "equal bits in all 2 operators");
}

TEST_F(TwoRunsTest, NameTheFirstThatReadTheSameAndNotWhoFollows) {
  EXPECT_EQ(text({{"Add", {1}, {2}}, {"Sum", {2, 5}, {6, 3}}, {"Mul", {3}, {4}}},
                 {{"Add", {1}, {2}}, {"Sum", {2, 5}, {6, 9}}, {"Mul", {9}, {8}}}),
            "Sum read the same and wrote something else: result number 2 of 2; 2 of 3 operators differ");
}

TEST_F(TwoRunsTest, DataOfTheHostAreNobodysResult) {
  const std::string told = text({{"Add", {1}, {2}}, {"Sum", {7}, {3}}}, {{"Add", {4}, {5}}, {"Sum", {7}, {9}}});
  EXPECT_TRUE(told.starts_with("Add was given something else: argument number 1 of 1, which no operator")) << told;
  EXPECT_TRUE(
      told.ends_with("\nthe first that read the same: Sum read the same and wrote something else: result "
                     "number 1 of 1"))
      << told;
}

TEST_F(TwoRunsTest, OtherParametersAreTheProgramsChoice) {
  EXPECT_TRUE(text({{"Muls", {1}, {2}, 5}}, {{"Muls", {1}, {3}, 6}}).starts_with("Muls was called with other param"));
}

TEST_F(TwoRunsTest, RandomNumbersAreTold) {
  EXPECT_TRUE(text({{"RandomUniform", {}, {2}}}, {{"RandomUniform", {}, {3}}})
                  .starts_with("RandomUniform read the same and wrote something else: result number 1 of 1; it draws "
                               "random numbers: set a seed"));
}

TEST_F(TwoRunsTest, StreamsMayOvertakeEachOther) {
  EXPECT_EQ(
      text({{"Add", {1}, {2}, 0, 1}, {"Mul", {3}, {4}, 0, 2}}, {{"Mul", {3}, {4}, 0, 2}, {"Add", {1}, {2}, 0, 1}}),
      "equal bits in all 2 operators");
}

TEST_F(TwoRunsTest, ThatPartTheirWaysAreTold) {
  EXPECT_EQ(text({{"Add", {1}, {2}}, {"Mul", {2}, {3}}}, {{"Add", {1}, {2}}, {"Div", {2}, {3}}}),
            "Mul stands where the other run has Div; 1 of 2 operators differ");
  EXPECT_EQ(text({{"Add", {1}, {2}}, {"Mul", {2}, {3}}}, {{"Add", {1}, {2}}}),
            "Mul is in the first run alone; 0 of 1 operators differ");
  EXPECT_EQ(text({{"Add", {1}, {2}}}, {{"Add", {1}, {2}}, {"Mul", {2}, {3}}}),
            "Mul is in the second run alone; 0 of 1 operators differ");
}

}  // namespace
}  // namespace npu::compare
