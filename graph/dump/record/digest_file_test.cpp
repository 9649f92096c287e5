// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/digest_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace npu::graph::record {
namespace {

class DigestFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "digestXXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string written(const std::string& bytes) const {
    std::ofstream(folder / "run.digest", std::ios::binary) << bytes;
    return folder / "run.digest";
  }
  std::string refused(const std::string& bytes) const {
    try {
      DigestFile file(written(bytes));
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  std::filesystem::path folder;
};

std::string two_tasks() {
  DigestEncoder encoder;
  encoder.add({"aclnnAdd", "aclnnAdd", {0, 3, ""}, 0, 7, {1, 2}, {3}});
  encoder.add({"Log", "model/log", {0, 0, "step"}, 5, 0, {3}, {}});
  encoder.end();
  return encoder.take();
}

TEST_F(DigestFiles, AreReadAsTheyWereWritten) {
  const DigestFile file(written(two_tasks()));
  EXPECT_TRUE(file.complete());
  ASSERT_EQ(file.tasks().size(), 2u);
  EXPECT_EQ(file.tasks()[0].type, "aclnnAdd");
  EXPECT_EQ(file.tasks()[0].lane, (Lane{0, 3, ""}));
  EXPECT_EQ(file.tasks()[0].parameters, 7u);
  EXPECT_EQ(file.tasks()[0].inputs, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(file.tasks()[0].outputs, std::vector<uint64_t>{3});
  EXPECT_EQ(file.tasks()[1].node, "model/log");
  EXPECT_EQ(file.tasks()[1].lane.graph, "step");
  EXPECT_EQ(file.tasks()[1].step, 5);
}

TEST_F(DigestFiles, CutShortGiveTheTasksThatAreWhole) {
  const std::string all = two_tasks();
  size_t most = 0;
  for (size_t size = 14; size < all.size(); ++size) {
    const DigestFile file(written(all.substr(0, size)));
    EXPECT_FALSE(file.complete()) << size;
    EXPECT_GE(file.tasks().size(), most);
    most = file.tasks().size();
  }
  EXPECT_EQ(most, 2u);
}

TEST_F(DigestFiles, ThatAreNoneAreRefusedByName) {
  EXPECT_NE(refused("half a dump").find("run.digest: it does not begin like a file of digests"), std::string::npos);
  EXPECT_NE(refused("NPU digests 1\n?").find("byte 14 begins no record"), std::string::npos);
  EXPECT_NE(refused(std::string("NPU digests 1\nO\1\0\0\0", 19)).find("text 1 before byte 19 is not there"),
            std::string::npos);
  std::string miscounted = two_tasks();
  miscounted[miscounted.size() - 8] = 9;
  EXPECT_NE(refused(miscounted).find("it counts 9 operators and holds 2"), std::string::npos);
}

TEST(DigestPlace, IsATextAndBack) {
  const Place place{1, 3, 17, "a/b"};
  EXPECT_EQ(to_string(place), "1/3/17/a/b");
  ASSERT_TRUE(place_of("1/3/17/a/b"));
  EXPECT_EQ(place_of("1/3/17/a/b")->graph, "a/b");
  EXPECT_EQ(place_of("1/3/17/")->ordinal, 17u);
  for (const char* wrong : {"", "1/3/17", "1/x/17/", "1/3/-1/"}) EXPECT_FALSE(place_of(wrong)) << wrong;
}

}  // namespace
}  // namespace npu::graph::record
