// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/bundle.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/import/tensorflow/saved_model/bundle_fixture.h"

namespace npu::graph::tensorflow {
namespace {

std::string refusal(const TestFolder& folder, const std::string& key) {
  try {
    Bundle(folder.prefix()).read(key);
  } catch (const Error& e) {
    return fmt::format("{} {}", static_cast<int>(e.code()), e.message());
  }
  return "accepted";
}

void expect_refused(const TestFolder& folder, const std::string& key, int code, std::string_view word) {
  const std::string said = refusal(folder, key);
  EXPECT_TRUE(said.starts_with(std::to_string(code)) && said.find(word) != std::string::npos) << said;
}

const std::map<std::string, TestEntry> kEntries = {
    {"a", {kFloat, {2, 2}, floats({1, 2, 3, 4})}},
    {"b", {kInt32, {}, bytes_of<int32_t>(7)}},
    {"c", {kFloat, {3}, floats({5, 6, 7}), 1}},
    {"empty", {kFloat, {0, 4}, ""}},
    {"sliced", {kFloat, {1}, floats({1}), 0, message([](auto& w) { w.add_message(field::kSlices, std::string()); })}},
    {"words", {kString, {1}, "\x01x"}},
    {"short", {kFloat, {3}, floats({1, 2})}},
    {"open", {kFloat, {-1}, floats({1, 2})}},
};

TEST(Bundle, ReadsTensorsOfAllShards) {
  const TestFolder folder;
  folder.write_bundle(kEntries);
  const Bundle bundle(folder.prefix());
  const Literal a = bundle.read("a"), b = bundle.read("b"), c = bundle.read("c");
  EXPECT_EQ(a.shape, (Dims{2, 2}));
  EXPECT_EQ(a.as<float>()[3], 4);
  EXPECT_EQ(b.type, ValueType::tensor(DType::kInt32));
  EXPECT_EQ(b.as<int32_t>()[0], 7);
  EXPECT_EQ(c.as<float>()[2], 7);
  EXPECT_EQ(bundle.read("empty").count(), 0);
  EXPECT_TRUE(bundle.has("a"));
  EXPECT_FALSE(bundle.has("d"));
}

TEST(Bundle, WhatIsNotReadIsNamed) {
  const TestFolder folder;
  folder.write_bundle(kEntries);
  expect_refused(folder, "d", 161002, "has no variable d");
  expect_refused(folder, "sliced", 207000, "variable sliced is kept in slices");
  expect_refused(folder, "words", 207000, "variable words is of string");
  expect_refused(folder, "short", 100006, "variable short of float32 [3] has 8 bytes");
  expect_refused(folder, "open", 100006, "variable open has the shape [?]");
}

TEST(Bundle, DamagedAndMissingShardsAreNamed) {
  const TestFolder folder;
  folder.write_bundle(kEntries);
  folder.write("variables.data-00001-of-00002", floats({5, 6, 8}));
  expect_refused(folder, "c", 100006, "bytes of variable c are damaged");
  folder.write("variables.data-00001-of-00002", floats({5, 6}));
  expect_refused(folder, "c", 100006, "ends before variable c does: 12 bytes at 0 are needed");
  std::filesystem::remove(folder.path() / "variables" / "variables.data-00001-of-00002");
  expect_refused(folder, "c", 100003, "variables.data-00001-of-00002: No such file or directory; it holds variable c");
  EXPECT_EQ(refusal(folder, "a"), "accepted") << "the other shard is whole";
}

TEST(Bundle, HeadersAreChecked) {
  const TestFolder folder;
  expect_refused(folder, "a", 100003, "variables.index: No such file or directory");
  auto index = folder.index_and_shards(kEntries);
  index[""] = message([](auto& w) { w.add_enum(field::kEndianness, 1); });
  folder.write("variables.index", table_of(index));
  expect_refused(folder, "a", 207000, "big-endian");
  index[""] = "";
  folder.write("variables.index", table_of(index));
  expect_refused(folder, "a", 100006, "speaks of 0 shards");
  index["a"] = "\xFF\xFF";
  folder.write("variables.index", table_of(index));
  expect_refused(folder, "a", 100006, "cannot be read");
}

}  // namespace
}  // namespace npu::graph::tensorflow
