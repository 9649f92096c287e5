// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/file_receiver.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "graph/dump/tensor/dump_fixture.h"
#include "graph/dump/tensor/file_writer.h"

namespace npu::graph {
namespace {

/// Puts files together as the disk would.
class Received : public DumpTest {
 protected:
  void SetUp() override {
    DumpTest::SetUp();
    receive_files([this](const FilePart& part) {
      EXPECT_TRUE(inside_receiver());
      EXPECT_LE(part.bytes.size(), kMostPartBytes);
      std::string& file = files_[part.path];
      EXPECT_TRUE(part.offset == kAppended || part.offset == static_cast<int64_t>(file.size()));
      EXPECT_FALSE(part.offset != kAppended && complete_[part.path]);
      file.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
      complete_[part.path] = part.last;
    });
  }
  void TearDown() override {
    receive_files(nullptr);
    DumpTest::TearDown();
  }
  std::map<std::string, std::string> files_;
  std::map<std::string, bool> complete_;
};

TEST_F(Received, PartsMakeTheFileAndNothingIsOnTheDisk) {
  std::string whole = "head";
  {
    FileWriter writer([](const std::string& error) { FAIL() << error; });
    FileContent file{.folder = (path / "none").string(), .name = "7", .listed = "7,long name\n", .head = whole};
    for (const size_t size : {3 * kMostPartBytes + 5, size_t{1}}) {
      Blob& blob = file.blobs.emplace_back(size);
      for (size_t i = 0; i < size; ++i) blob.bytes[i] = static_cast<std::byte>(i * 7);
      whole.append(reinterpret_cast<const char*>(blob.bytes.get()), size);
    }
    writer.put(std::move(file));
  }
  EXPECT_EQ(files_.at((path / "none/7").string()), whole);
  EXPECT_TRUE(complete_.at((path / "none/7").string()));
  EXPECT_EQ(files_.at((path / "none/mapping.csv").string()), "7,long name\n");
  EXPECT_FALSE(fs::exists(path / "none"));
}

TEST_F(Received, WhatIsFlushedHasBeenHandedOver) {
  begin();
  Layer layer;
  layer.run();
  flush_dump();
  EXPECT_EQ(files_.size(), 2u);
  receive_files(nullptr);
  layer.run();
  EXPECT_EQ(files().size(), 2u);  // those of the second run, on the disk
  EXPECT_EQ(files_.size(), 2u);
}

TEST_F(Received, WhoRefusesAFileEndsTheDump) {
  receive_files([](const FilePart&) { fail(Code::kInvalidDumpConfig, "no more of it"); });
  begin();
  Layer layer;
  layer.run();
  flush_dump();
  layer.run();
  EXPECT_TRUE(files().empty());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("no more of it"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace npu::graph
