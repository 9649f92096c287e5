// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/single/detail.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

class Details : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  template <class T>
  static View view(const std::vector<T>& values, int32_t type, Shape shape) {
    return {&graph::record::data_type(type), std::as_bytes(std::span(values)), std::move(shape), std::nullopt,
            values.size()};
  }
  std::string text(const std::string& name) const {
    std::stringstream all;
    all << std::ifstream(fs::path(folder_) / name).rdbuf();
    return all.str();
  }
  void write(const View& mine, const View& golden, size_t top = 20) const {
    write_detail(detail_, mine, golden, {folder_, top, 10000, true});
  }

  std::string folder_ = fs::temp_directory_path() / ("anynpu_detail_" + std::to_string(getpid()));
  Detail detail_{"net_op_output_0", "Op.net_op.1.1.1", "net/op", "net/op", "N C H W"};
};

TEST_F(Details, ElementsWithPlacesAndErrors) {
  const std::vector<float> mine = {1, 2, 3.5f, -4}, golden = {1, 0, 3, -2};
  write(view(mine, 1, {2, 2}), view(golden, 1, {2, 2}), 2);
  EXPECT_EQ(text("net_op_output_0_0.csv"),
            "Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError\n"
            "0,0 0 0 0,1.000000\t,1.000000\t,0.000000\t,0.000000\t\n"
            "1,0 1 0 0,2.000000\t,0.000000\t,2.000000\t,-\n"
            "2,1 0 0 0,3.500000\t,3.000000\t,0.500000\t,0.166667\t\n"
            "3,1 1 0 0,-4.000000\t,-2.000000\t,2.000000\t,1.000000\t\n");
  EXPECT_EQ(text("net_op_output_0_relative_error_topn.csv"),
            "Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError\n"
            "3,1 1 0 0,-4.000000\t,-2.000000\t,2.000000\t,1.000000\t\n"
            "2,1 0 0 0,3.500000\t,3.000000\t,0.500000\t,0.166667\t\n");
  EXPECT_EQ(text("net_op_output_0_summary.txt"),
            "TotalCount:4\nNPUDump:net/op\nGroundTruth:net/op\nFormat:N C H W\nMinAbsoluteError:0.000000\n"
            "MaxAbsoluteError:2.000000\nMinRelativeError:0.000000\nMaxRelativeError:1.000000\n");
}

TEST_F(Details, WholeNumbersKeepTheirDigits) {
  const std::vector<int64_t> mine = {16777217, 9007199254740991}, golden = {16777216, 9007199254740990};
  write(view(mine, 8, {2}), view(golden, 8, {2}));
  EXPECT_NE(text("net_op_output_0_0.csv").find("0,0 0 0 0,16777217.000000\t,16777216.000000\t,1.000000\t"),
            std::string::npos);
}

TEST_F(Details, HalvesAreRoundedAsHalves) {
  const std::vector<Half> mine = {Half(0.1f)}, golden = {Half(0.3f)};
  write(view(mine, 2, {1}), view(golden, 2, {1}));
  EXPECT_NE(text("net_op_output_0_0.csv").find("\t,0.200073\t,0.666992\t"), std::string::npos);
}

TEST_F(Details, FilesOfAnEarlierRunAreRemovedAndOthersAreNot) {
  for (const char* name : {"net_op_output_0_990000.csv", "net_op_output_0_summary.txt", "net_op_output_1_0.csv"})
    std::ofstream(fs::path(folder_) / name) << "old";
  const std::vector<float> one = {1};
  write(view(one, 1, {1}), view(one, 1, {1}));
  EXPECT_FALSE(fs::exists(fs::path(folder_) / "net_op_output_0_990000.csv"));
  EXPECT_EQ(text("net_op_output_1_0.csv"), "old");
}

TEST_F(Details, LongNamesAreExplained) {
  detail_.tensor = std::string(300, 'x') + "_output_0";
  const std::vector<float> one = {1};
  write(view(one, 1, {1}), view(one, 1, {1}));
  EXPECT_NE(text("Op_net_op_1_1_1_output_0_summary.txt").find("TotalCount:1"), std::string::npos);
  EXPECT_NE(text("simple_op_mapping.csv").find("Op_net_op_1_1_1_output_0_0.csv," + detail_.tensor + "_0.csv\n"),
            std::string::npos);
}

TEST_F(Details, ComplexElementsAreRefused) {
  const std::vector<float> one = {1, 2};
  View complex = view(one, 16, {1});
  complex.count = 1;
  EXPECT_THROW(write(complex, complex), Refusal);
}

}  // namespace
}  // namespace npu::compare
