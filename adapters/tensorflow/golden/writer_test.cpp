// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "adapters/tensorflow/golden/npy.h"

namespace npu::tensorflow::golden {
namespace {

namespace fs = std::filesystem;

class GoldenFiles : public testing::Test {
 protected:
  GoldenFiles() : folder_(fs::temp_directory_path() / ("golden_" + std::to_string(getpid()))) {}
  ~GoldenFiles() override { fs::remove_all(folder_); }

  File file(FileName name, const std::string& elements) const {
    const auto kept = std::make_shared<std::string>(elements);
    return {folder_, std::move(name), "head;", {kept, kept->data()}, kept->size()};
  }
  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  const fs::path folder_;
};

TEST_F(GoldenFiles, AreWholeAndAllThereAfterwards) {
  constexpr int kFiles = 200;
  Writer writer([](const std::string& reason) { ADD_FAILURE() << reason; });
  const auto put = [&](int from) {
    for (int i = from; i < kFiles; i += 2) writer.put(file({std::to_string(i) + ".npy", ""}, std::to_string(i)));
  };
  std::thread other(put, 1);
  put(0);
  other.join();
  writer.drain();
  for (int i = 0; i < kFiles; ++i) EXPECT_EQ(content(std::to_string(i) + ".npy"), "head;" + std::to_string(i));
}

TEST_F(GoldenFiles, LongNamesAreNumbersThatMappingExplains) {
  const FileName name = file_name("block/" + std::string(300, 'x') + ".y", 2, 17);
  EXPECT_EQ(name.file, "17.npy");
  EXPECT_EQ(name.listed, "17.npy,block_" + std::string(300, 'x') + "_y.2.17.npy\n");
  Writer writer([](const std::string& reason) { ADD_FAILURE() << reason; });
  writer.put(file(name, "1"));
  writer.drain();
  EXPECT_EQ(content("mapping.csv"), name.listed);
  EXPECT_EQ(content("17.npy"), "head;1");
}

TEST_F(GoldenFiles, TheFirstThatCannotBeWrittenIsToldAndNothingIsWrittenAfterIt) {
  std::ofstream(folder_) << "a file where the folder should be";
  std::atomic<int> told = 0;
  Writer writer([&](const std::string& reason) {
    ++told;
    EXPECT_NE(reason.find(folder_), std::string::npos) << reason;
  });
  for (int i = 0; i < 50; ++i) writer.put(file({std::to_string(i) + ".npy", ""}, "1"));
  writer.drain();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(writer.failed());
}

TEST(GoldenArrays, HaveHeadersThatNumPyReads) {
  const std::string head = npy_header("<f4", {2, 3});
  EXPECT_EQ(head.size() % 64, 0u);
  EXPECT_EQ(head.substr(1, 5), "NUMPY");
  EXPECT_NE(head.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3,), }"), std::string::npos);
  EXPECT_NE(npy_header("<f4", {}).find("'shape': ()"), std::string::npos);
  EXPECT_EQ(npy_type(TF_STRING), "");
  const uint16_t one = 0x3f80;
  EXPECT_EQ(widened(&one, 1), std::vector<uint32_t>{0x3f800000});
}

TEST(GoldenNames, NeverHaveTheSameTimeTwice) {
  uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = unique_now();
    EXPECT_GT(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace npu::tensorflow::golden
