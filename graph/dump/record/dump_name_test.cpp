// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/dump_name.h"

#include <gtest/gtest.h>

#include "graph/dump/record/mapping.h"

namespace npu::graph::record {
namespace {

TEST(DumpName, IsMadeOfFiveFieldsWithoutWhatPathsCannotHold) {
  const DumpName name{"Conv2D", "layer/a.b c\\d", 3, 7, 1619000000123456, std::nullopt};
  EXPECT_EQ(make_name(name), "Conv2D.layer_a_b_c_d.3.7.1619000000123456");
}

TEST(DumpName, AShortTimeIsFilledToSixteenDigits) {
  EXPECT_EQ(make_name({"A", "b", 0, 0, 42, std::nullopt}), "A.b.0.0.0000000000000042");
}

TEST(DumpName, EveryGenerationIsRead) {
  const auto old = parse_name("Add.add_1.12.1673383728093446");
  ASSERT_TRUE(old);
  EXPECT_EQ(*old, (DumpName{"Add", "add_1", 12, std::nullopt, 1673383728093446, std::nullopt}));
  const auto usual = parse_name("Add.add_1.12.3.1673383728093446");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->stream, 3u);
  const auto sliced = parse_name("Add.part_sgt_graph_0_Add.0.3.1673383728093446.4.1.2.5");
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->slice, (Slice{4, 1, 2, 5}));
  EXPECT_EQ(make_name(*sliced), "Add.part_sgt_graph_0_Add.0.3.1673383728093446.4.1.2.5");
}

TEST(DumpName, OtherNamesAreNone) {
  for (const char* name :
       {"", ".", "...", "A.b.c.4", "A.b.1.2.3.4", "A.b.1.2.3.4.5.6.7.8", ".b.1.2", "A..1.2", "A.b.1.-2",
        "A.b.1.99999999999999999999999", "mapping.csv", "A.b.1.2.", "A.b.0.1.2.output.0.npy"})
    EXPECT_FALSE(parse_name(name)) << name;
}

TEST(DumpName, MarksOfSlicesAreTakenOff) {
  EXPECT_EQ(without_slice("conv_lxslice3"), "conv");
  EXPECT_EQ(without_slice("conv_lxslice"), "conv_lxslice");
  EXPECT_EQ(without_slice("conv_lxslice3_more"), "conv_lxslice3_more");
  EXPECT_EQ(without_slice("partition0_new_sub_graph1_sgt_graph_0_Add"), "Add");
  EXPECT_EQ(without_slice("a_sgt_graph_1_b_sgt_graph_12_Add_2"), "Add_2");
  EXPECT_EQ(without_slice("a_sgt_graph_1"), "a_sgt_graph_1");
  EXPECT_EQ(without_slice("plain"), "plain");
}

TEST(StoredName, IsANumberWhereTheNameIsTooLong) {
  EXPECT_EQ(stored_name(std::string(255, 'a')).file, std::string(255, 'a'));
  EXPECT_EQ(stored_name(std::string(255, 'a')).line, "");
  const StoredName stored = stored_name(std::string(256, 'a'));
  EXPECT_EQ(stored.file.find_first_not_of("0123456789"), std::string::npos);
  EXPECT_EQ(stored.line, stored.file + "," + std::string(256, 'a') + "\n");
  EXPECT_EQ(stored_name(std::string(256, 'a')).file, stored.file);
  EXPECT_NE(stored_name(std::string(256, 'b')).file, stored.file);
  EXPECT_EQ(parse_mapping(stored.line).at(stored.file), std::string(256, 'a'));
}

TEST(Mapping, PassesOverLinesThatAreNoPair) {
  const Mapping found = parse_mapping("12,A.b.0.0.1\r\n\n,x\n13\n14,\n\"15\",\"C.d.0.0.1\"\n");
  EXPECT_EQ(found, (Mapping{{"12", "A.b.0.0.1"}, {"15", "C.d.0.0.1"}}));
}

}  // namespace
}  // namespace npu::graph::record
