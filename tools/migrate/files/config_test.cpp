// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/files/config.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

std::string changed(const std::string& path, const std::string& text) {
  const std::string after = migrated_config(Source(path, text), path, true).after;
  EXPECT_EQ(migrated_config(Source(path, after), path, true).after, after) << "a second run changes it again";
  return after;
}

/// "line: message" of what is only listed.
std::vector<std::string> listed(const std::string& path, const std::string& text) {
  std::vector<std::string> out;
  for (const Change& row : migrated_config(Source(path, text), path, true).changes)
    if (!row.report.empty()) out.push_back(std::to_string(row.line) + ": " + row.message);
  return out;
}

TEST(Config, WholeValuesChange) {
  EXPECT_EQ(changed("a.yaml", "a: cuda\nb: cuda:12 # x\nc: [cuda, \"nccl\"]\n- NCCL\r\n"),
            "a: npu\nb: npu:12 # x\nc: [npu, \"hccl\"]\n- hccl\r\n");
  EXPECT_EQ(changed("a.json", R"({"a":"cuda:0","b":["nccl"], "c" : "torch.cuda.HalfTensor"})"),
            R"({"a":"npu:0","b":["hccl"], "c" : "torch.npu.HalfTensor"})");
  EXPECT_EQ(changed("a.sh", "CUDA_VISIBLE_DEVICES=1 run --d=cuda"), "ASCEND_RT_VISIBLE_DEVICES=1 run --d=npu");
}

TEST(Config, SentencesKeysCommentsAndOtherWordsStay) {
  for (const char* text :
       {"a: runs on cuda well\n", "cuda: 1\n", "# cuda\n", "a: cudax\nb: cuda:x\nc: my_cuda\n", "a: path/cuda\n",
        "gpu_ids: [0]\n", "", "a: 1 # b: cuda\n", "a: 'on: cuda'\n", "a: 在cuda\n"})
    EXPECT_EQ(changed("a.yaml", text), text);
  for (const char* text : {"{\"a\": \"on cuda\", \"cuda\": {\"b\": 1}}", "{\"a\": \"\\\"cuda\\\"\"}"})
    EXPECT_EQ(changed("a.json", text), text);
}

TEST(Config, AnchorsTagsAndOtherAlphabets) {
  EXPECT_EQ(changed("a.yaml", "base: &base\n  device: &dev cuda:1\n  other: *dev\n  tag: !!str cuda\n  <<: *base\n"),
            "base: &base\n  device: &dev npu:1\n  other: *dev\n  tag: !!str npu\n  <<: *base\n");
  EXPECT_EQ(changed("a.yaml", "\xEF\xBB\xBF设备: cuda\r\n说明: 在 cuda 上\r\n\"设备 2\": 'cuda:0'\r\n"),
            "\xEF\xBB\xBF设备: npu\r\n说明: 在 cuda 上\r\n\"设备 2\": 'npu:0'\r\n");
  EXPECT_EQ(changed("a.yaml", "a: \xE9t\xE9\nb: cuda\n"), "a: \xE9t\xE9\nb: npu\n");  // Latin-1
}

TEST(Config, TextsOfSeveralLinesAreListed) {
  const std::string yaml = "run: |\n  python a.py --device cuda\n\n  device: cuda\nnext: cuda\nfold: >-\n    cuda\n";
  EXPECT_EQ(changed("a.yml", yaml),
            "run: |\n  python a.py --device cuda\n\n  device: cuda\nnext: npu\nfold: >-\n    cuda\n");
  EXPECT_EQ(listed("a.yml", yaml).size(), 3U);
  const std::string shell = "cat <<'EOF' > x\ndevice: cuda\nEOF\nrun cuda\nread x <<< cuda\nn=$((1 << m))\n";
  EXPECT_EQ(changed("a.sh", shell), "cat <<'EOF' > x\ndevice: cuda\nEOF\nrun npu\nread x <<< npu\nn=$((1 << m))\n");
  EXPECT_EQ(listed("a.sh", shell)[0], "2: cuda stands in a text; where that is run or read, it is npu");
}

TEST(Config, CommandsOfAShell) {
  for (const auto& [before, after] :
       {std::pair{"bash -c \"python a.py --device cuda --b='cuda:1'\"  # cuda",
                  "bash -c \"python a.py --device npu --b='npu:1'\"  # cuda"},
        {"D=cuda; for d in cuda cpu; do", "D=npu; for d in npu cpu; do"},
        {"echo \"runs on cuda\"; echo cuda $#", "echo \"runs on cuda\"; echo cuda $#"},
        {"echo ${CUDA_VISIBLE_DEVICES}", "echo ${ASCEND_RT_VISIBLE_DEVICES}"},
        {"export PATH=/usr/local/cuda/bin:$PATH name=cuda.py", "export PATH=/usr/local/cuda/bin:$PATH name=cuda.py"}})
    EXPECT_EQ(changed("a.sh", before), after);
}

TEST(Config, VariablesOfNccl) {
  EXPECT_EQ(listed("a.sh", "export NCCL_SOCKET_IFNAME=eth0\n# NCCL_DEBUG\nexport NCCL_IB_DISABLE=1\nnvidia-smi\n"),
            (std::vector<std::string>{"1: NCCL_SOCKET_IFNAME: HCCL_SOCKET_IFNAME does the same for HCCL",
                                      "3: NCCL_IB_DISABLE: no effect on HCCL",
                                      "4: nvidia-smi is not there beside NPUs; npu-smi info is theirs"}));
  EXPECT_EQ(changed("a.yaml", "env:\n  CUDA_VISIBLE_DEVICES: '0'\n  HCCL_BUFFSIZE: 200\n"),
            "env:\n  ASCEND_RT_VISIBLE_DEVICES: '0'\n  HCCL_BUFFSIZE: 200\n");
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
