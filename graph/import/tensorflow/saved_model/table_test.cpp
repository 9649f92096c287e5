// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/import/tensorflow/saved_model/bundle_fixture.h"

namespace npu::graph::tensorflow {
namespace {

const std::map<std::string, std::string> kEntries = {
    {"", "head"}, {"layer/bias", "b"}, {"layer/kernel", "k"}, {"layer/kernel/slot", ""}, {"z", std::string(300, 'z')}};

std::string refusal(const std::string& file) {
  try {
    read_table(file, "a.index");
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TEST(Table, GivesAllEntries) {
  const Table table = read_table(table_of(kEntries), "a.index");
  EXPECT_EQ(table, Table(kEntries.begin(), kEntries.end()));
  EXPECT_TRUE(read_table(table_of({}), "a.index").empty());
}

TEST(Table, EveryCutAndEveryChangedByteIsSeen) {
  const std::string whole = table_of(kEntries);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  size_t unseen = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    // Nobody needs the filling of the footer, nor the block that tells about the table.
    if (refusal(damaged) == "accepted") {
      EXPECT_EQ(read_table(damaged, "a.index"), read_table(whole, "a.index")) << at;
      ++unseen;
    }
  }
  EXPECT_LT(unseen, 60u);
}

TEST(Table, DamageIsNamed) {
  EXPECT_EQ(refusal("no table"),
            "a.index is cut off or damaged: it does not end as a table does; copy the model again");
  std::string damaged = table_of(kEntries);
  damaged[8] = static_cast<char>(damaged[8] ^ 1);
  EXPECT_NE(refusal(damaged).find("the checksum of the block at 0 is another"), std::string::npos) << refusal(damaged);
  EXPECT_NE(refusal(table_of(kEntries, 1)).find("compressed by snappy"), std::string::npos);
  TableWriter writer;
  const std::string outside = writer.finish({{"z", varint(1u << 20) + varint(10)}});
  EXPECT_NE(refusal(outside).find("a block reaches over its end"), std::string::npos) << refusal(outside);
  TableWriter wrapped;
  const std::string around = wrapped.finish({{"z", varint(~0ull - 4) + varint(8)}});
  EXPECT_NE(refusal(around).find("a block reaches over its end"), std::string::npos) << refusal(around);
}

}  // namespace
}  // namespace npu::graph::tensorflow
