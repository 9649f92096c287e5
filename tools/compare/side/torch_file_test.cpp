// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/torch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/side/array_name.h"
#include "tools/compare/tensor/array_file.h"

namespace npu::compare {
namespace {

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

const std::string kElements = "PK\1\2 and /data/0 among the elements, 56 bytes in all....";

std::string written() {
  graph::record::DumpTensor facts;
  facts.data_type = 4, facts.format = graph::record::kNd, facts.shape = {kElements.size()};
  facts.size = kElements.size();
  const auto path = std::filesystem::temp_directory_path() / ("anynpu_torch_" + std::to_string(getpid()));
  write_pt(path, plain_view({facts, bytes_of(kElements)}));
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  return file;
}

std::string refusal(const std::string& file) {
  try {
    torch_elements(bytes_of(file), "x.pt");
  } catch (const Refusal& reason) {
    return reason.what();
  }
  return "none";
}

TEST(TorchFile, HasTheElementsThatWereWritten) {
  const std::string file = written();
  const Bytes found = torch_elements(bytes_of(file), "x.pt");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(found.data()), found.size()), kElements);
}

TEST(TorchFile, OfAnotherKindIsRefused) {
  EXPECT_EQ(refusal(""), "x.pt holds no tensor of torch.save.");
  EXPECT_EQ(refusal(std::string(200, '/')), "x.pt holds no tensor of torch.save.");
  EXPECT_EQ(refusal("/data/0"), "x.pt holds no tensor of torch.save.");
}

TEST(TorchFile, IsRefusedWhereItIsCompressedOrCut) {
  std::string file = written();
  const size_t entry = file.rfind("archive/data/0") - 46;
  std::string compressed = file;
  compressed[entry + 10] = 8;
  EXPECT_EQ(refusal(compressed), "x.pt is compressed, which torch.save does not do.");
  EXPECT_EQ(refusal(file.erase(0, 128)), "x.pt was not written to its end.");
}

TEST(ArrayName, HasTheOperatorItsOutputAndTheTime) {
  const auto found = parse_array_name("net_a.b.1.1600000000000000.npy");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, "net_a.b");
  EXPECT_EQ(found->output, 1u);
  EXPECT_EQ(found->timestamp, 1600000000000000u);
  for (const char* other : {"a.npy", "a.1.npy", "a.b.1.npy", "a.0.1600000000000000.pt", ".0.1.npy", "a..1.npy",
                            "a.0.99999999999999999999.npy"})
    EXPECT_FALSE(parse_array_name(other).has_value()) << other;
}

}  // namespace
}  // namespace npu::compare
