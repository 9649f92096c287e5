// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/dump_data.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "graph/dump/record/dump_file.h"

namespace npu::graph::record {
namespace {

DumpData example() {
  DumpData data;
  data.dump_time = 1619000000123456;
  data.op_name = "layer/MatMul";
  data.inputs.push_back({1, 2, 0, {2, 3}, {2, 3}, {}, 24, 0x7f0000001000});
  data.inputs.push_back({27, 29, 0, {1, 1, 16, 16}, {3, 5}, {}, 512, 1});
  data.outputs.push_back({2, 4, 7, {}, {}, {"layer/MatMul", 1, 1, 1}, 2, 0xffffffffffffffff});
  data.buffers.push_back({0, 5});
  data.workspaces.push_back({0, 3});
  data.attrs.push_back({"attrs", "{\"threadMode\": 1}"});
  return data;
}

constexpr size_t kBlobs = 24 + 512 + 2 + 5 + 3;

std::string file_of(const DumpData& data, size_t blobs = kBlobs) {
  std::string bytes = encode_header(data);
  for (size_t i = 0; i < blobs; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

std::span<const std::byte> view(const std::string& bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

/// The text of the refusal; empty for none.
std::string refusal(const std::string& bytes) {
  try {
    parse_dump(view(bytes), "Add.add.0.0.1");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kParseFile);
    return error.message();
  }
}

TEST(DumpData, ComesBackAsItWasWritten) {
  const std::string bytes = encode_header(example());
  EXPECT_EQ(decode_header(std::string_view(bytes).substr(8)), example());
}

TEST(DumpFile, CutsTheElementsOfAllThatTheHeaderNames) {
  const std::string bytes = file_of(example());
  const Parsed parsed = parse_dump(view(bytes), "x");
  EXPECT_EQ(parsed.data, example());
  const Blobs& blobs = parsed.blobs;
  ASSERT_EQ(blobs.inputs.size(), 2u);
  EXPECT_EQ(blobs.inputs[0].size(), 24u);
  EXPECT_EQ(std::to_integer<int>(blobs.inputs[1].front()), 24);
  EXPECT_EQ(std::to_integer<int>(blobs.outputs.at(0).front()), (24 + 512) % 256);
  EXPECT_EQ(blobs.buffers.at(0).size(), 5u);
  EXPECT_EQ(blobs.workspaces.at(0).size(), 3u);
  EXPECT_EQ(blobs.workspaces[0].data() + 3, view(bytes).data() + bytes.size());
}

TEST(DumpFile, RefusesWhatIsNoneWithReasonAndCure) {
  EXPECT_NE(refusal("").find("0 bytes"), std::string::npos);
  EXPECT_NE(refusal("12345678").find("dump again"), std::string::npos);
  EXPECT_NE(refusal(std::string(100, '\x7f')).find("no dump file"), std::string::npos);
  EXPECT_NE(refusal(std::string(16, '\0')).find("no dump file"), std::string::npos);
  std::string bytes = file_of(example());
  bytes[8] = '\x07';  // a wire type that there is not
  EXPECT_NE(refusal(bytes).find("damaged"), std::string::npos);
}

TEST(DumpFile, RefusesEveryPartOfAFile) {
  const std::string bytes = file_of(example());
  EXPECT_EQ(refusal(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
  EXPECT_EQ(
      refusal(bytes.substr(0, bytes.size() - 1)),
      "Add.add.0.0.1: workspace 0 has 3 bytes, and 2 of the 545 after the header are left: the file was not written "
      "to its end; dump again");
}

TEST(DumpFile, RefusesSizesThatNoFileHas) {
  DumpData data = example();
  data.inputs[0].size = ~uint64_t{0};
  data.inputs[1].size = 2;
  EXPECT_NE(refusal(file_of(data)), "");
}

TEST(DumpFile, AnyBytesGiveDataOrAnError) {
  const std::string bytes = file_of(example());
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    for (int change = 0; change < 1 + i % 4; ++change)
      damaged[random() % (i % 2 ? 200 : 8 + 8)] = static_cast<char>(random());
    refusal(damaged);
  }
}

TEST(DumpFile, IsReadFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / "anynpu_dump_file_test";
  std::ofstream(path, std::ios::binary) << file_of(example());
  EXPECT_EQ(DumpFile(path).data(), example());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "";
  EXPECT_THROW(DumpFile{path}, Error);
  std::filesystem::remove(path);
  EXPECT_THROW(DumpFile{path}, Error);
  EXPECT_THROW(DumpFile{std::filesystem::temp_directory_path()}, Error);
}

// example() as protobuf's Python package serialises it, and once more with fields that nobody here knows.
constexpr std::string_view kByProtobuf =
    "0a03322e3010c0a498ff8c8ff0021a290802100422140a0c6c617965722f4d61744d756c1001180120013002400748ffffffffff"
    "ffffffff01221a080110021a040a020203281832040a0202034080a0808080e01f2217081b101d1a060a04010110102880043204"
    "0a02030540012a021805320c6c617965722f4d61744d756c3a1a0a05617474727312117b227468726561644d6f6465223a20317d"
    "42021803";
constexpr std::string_view kWithMoreFields =
    "0a03322e3010c0a498ff8c8ff0021a350802100422140a0c6c617965722f4d61744d756c1001180120012a0278793002400748ff"
    "ffffffffffffffff015204080110025809221a080110021a040a020203281832040a0202034080a0808080e01f2217081b101d1a"
    "060a040101101028800432040a02030540012a021805320c6c617965722f4d61744d756c3a1a0a05617474727312117b22746872"
    "6561644d6f6465223a20317d42021803";

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::strtol(std::string(digits.substr(i, 2)).c_str(), nullptr, 16)));
  return bytes;
}

TEST(DumpData, IsWrittenAsProtobufWritesIt) { EXPECT_EQ(encode_header(example()).substr(8), from_hex(kByProtobuf)); }

TEST(DumpData, UnknownFieldsArePassedOver) {
  EXPECT_EQ(decode_header(from_hex(kByProtobuf)), example());
  EXPECT_EQ(decode_header(from_hex(kWithMoreFields)), example());
}

TEST(DumpData, SizesOfAShapeMayStandOneByOne) {
  const DumpData data = decode_header(from_hex("22081a04080208032807"));
  ASSERT_EQ(data.inputs.size(), 1u);
  EXPECT_EQ(data.inputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(data.inputs[0].size, 7u);
}

}  // namespace
}  // namespace npu::graph::record
