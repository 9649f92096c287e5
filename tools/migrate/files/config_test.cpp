// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/config.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

std::string changed(const std::string& path, const std::string& text) {
  return migrated_config(Source(path, text), path, true).after;
}

TEST(Config, WholeValuesChange) {
  EXPECT_EQ(changed("a.yaml", "a: cuda\nb: cuda:12 # x\nc: [cuda, \"nccl\"]\n- NCCL\r\n"),
            "a: npu\nb: npu:12 # x\nc: [npu, \"hccl\"]\n- hccl\r\n");
  EXPECT_EQ(changed("a.json", R"({"a":"cuda:0","b":["nccl"]})"), R"({"a":"npu:0","b":["hccl"]})");
  EXPECT_EQ(changed("a.sh", "CUDA_VISIBLE_DEVICES=1 run --d=cuda"), "ASCEND_RT_VISIBLE_DEVICES=1 run --d=npu");
}

TEST(Config, SentencesKeysCommentsAndOtherWordsStay) {
  for (const char* text : {"a: runs on cuda well\n", "cuda: 1\n", "# cuda\n", "a: cudax\nb: cuda:x\nc: my_cuda\n",
                           "a: path/cuda\n", "gpu_ids: [0]\n", ""})
    EXPECT_EQ(changed("a.yaml", text), text);
}

TEST(Config, RowsNameLineAndKind) {
  const FileResult file = migrated_config(Source("a.yaml", "x: 1\ngpus: 2\ndevice: cuda\n"), "a.yaml", false);
  ASSERT_EQ(file.changes.size(), 2U);
  EXPECT_EQ(file.changes[0].line, 2U);
  EXPECT_EQ(file.changes[0].report, "manual");
  EXPECT_EQ(file.changes[1].message, "change cuda to npu by hand, or let --configs do it");
  EXPECT_FALSE(file.changed());
}

}  // namespace
}  // namespace npu::migrate
