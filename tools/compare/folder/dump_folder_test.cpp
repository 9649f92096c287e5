// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/folder/dump_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

class Folders : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(path_); }
  void TearDown() override { fs::remove_all(path_); }
  void file(const std::string& name, const std::string& text = "") {
    std::ofstream(fs::path(path_) / name, std::ios::binary) << text;
  }
  std::string path_ = fs::temp_directory_path() / ("anynpu_folder_" + std::to_string(getpid()));
};

TEST_F(Folders, KnowFilesOfAllGenerations) {
  file("Add.old.1.1600000000000003"), file("Add.usual.1.0.1600000000000001"), file("Add.usual.1.0.1600000000000009");
  file("Add.part_sgt_graph_0_cut.1.0.1600000000000002.4.0.0.0"), file("12345"), file("notes.txt");
  file("mapping.csv", "12345,Add.very_long.7.0.1600000000000000\n");
  const DumpFolder folder(path_);
  EXPECT_EQ(folder.operators(), (std::vector<std::string>{"very_long", "cut", "old", "usual"}));
  EXPECT_EQ(folder.find("usual")->timestamp, 1600000000000009u);
  EXPECT_TRUE(folder.find("very.long")->path.ends_with("/12345"));
  EXPECT_EQ(folder.find("nobody"), nullptr);
  EXPECT_EQ(folder.origin(), Origin::kDevice);
}

TEST_F(Folders, TellOperatorsThatWereCutIntoSlices) {
  file("Add.g_sgt_graph_0_auto.1.0.1600000000000002.4.0.0.0"),
      file("Add.g_sgt_graph_0_auto.1.0.1600000000000002.4.0.1.0");
  file("Add.manual_lxslice0.1.0.1600000000000003"), file("Add.manual_lxslice1.1.0.1600000000000004");
  file("Add.twice.1.0.1600000000000001"), file("Add.twice.1.0.1600000000000009"), file("Add.one_lxslice0.1.0.16000000");
  const DumpFolder folder(path_);
  EXPECT_EQ(folder.sliced(), (std::vector<std::string>{"auto", "manual"}));
  EXPECT_EQ(folder.operators().size(), 4u);
}

TEST_F(Folders, KnowWhatAFrameworkLeft) {
  file("net_dense.0.1600000000000000.npy"), file("net_dense.1.1600000000000000.npy");
  const DumpFolder folder(path_);
  EXPECT_EQ(folder.origin(), Origin::kStandard);
  EXPECT_TRUE(folder.has_npy());
  EXPECT_NE(folder.find("net/dense", 1), nullptr);
  EXPECT_EQ(folder.find("net/dense", 2), nullptr);
}

TEST_F(Folders, OfSeveralKindsOrNoneAreRefused) {
  EXPECT_THROW(DumpFolder{path_}, Refusal);
  EXPECT_THROW(DumpFolder{path_ + "/nowhere"}, Refusal);
  file("a.0.1600000000000000.npy"), file("Add.b.1.0.1600000000000001");
  EXPECT_THROW(DumpFolder{path_}, Refusal);
}

TEST_F(Folders, PartialFilesAreRefusedWhenTheyAreOpened) {
  file("Add.b.1.0.1600000000000001", "short"), file("a.npy", npy_header("<f4", {4}));
  for (const char* name : {"Add.b.1.0.1600000000000001", "a.npy", "nothing"})
    EXPECT_THROW(Opened({fs::path(path_) / name, name, 0}), Refusal) << name;
}

}  // namespace
}  // namespace npu::compare
