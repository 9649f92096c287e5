// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/migrate/migration/batch.h"

namespace npu::migrate {
namespace {

std::string migrated(const std::string& rules, const std::string& text, const std::set<std::string>& features = {}) {
  RuleBook book;
  book.read_vendor("mine.json", rules);
  Options options;
  options.features = features;
  const RuleIndex index(book.active(features));
  std::string after;
  Batch batch({"train.py"}, [&](const std::string& path) { return Source(path, text); }, index, options);
  batch.run(1, [&](FileResult&& file) { after = file.after; });
  return after;
}

std::string refusal(const std::string& rules) {
  RuleBook book;
  try {
    book.read_vendor("mine.json", rules);
  } catch (const Refusal& error) {
    return error.what();
  }
  return "";
}

TEST(VendorRule, ArgumentByPositionAndByKeyword) {
  const std::string rules = R"json({"rules": {"ArgsModifyRule": [
      {"func_name": "torch.load", "arg_idx": 1, "arg_new": "'cpu'"},
      {"func_name": "to", "arg_keyword": "device", "arg_new": "wrap(replace_device_int)", "white_list": ["cpu"]},
      {"func_name": "torch.save", "arg_keyword": "old", "arg_new": ""}]}})json";
  const std::string after = migrated(rules,
                                     "import torch\ntorch.load(f, x)\ny.to(device=d)\ny.to(device='CPU')\n"
                                     "torch.save(a, old=1)\nload(f, x)\n");
  EXPECT_EQ(after,
            "import torch\ntorch.load(f, 'cpu')\ny.to(device=wrap(d))\ny.to(device='CPU')\ntorch.save(a)\n"
            "load(f, x)\n");
  EXPECT_EQ(migrated(rules, after), after);
}

TEST(VendorRule, FunctionNames) {
  const std::string rules = R"json({"rules": {"FuncNameModifyRule": [
      {"old_name": "cuda", "new_name": "npu"},
      {"old_name": "torch.cuda.synchronize", "new_name": "torch_npu.npu.synchronize", "replace_module": true}]}})json";
  EXPECT_EQ(migrated(rules, "import torch\nx.cuda(0)\ntorch.cuda.synchronize()\nx.cuda\n"),
            "import torch\nx.npu(0)\ntorch_npu.npu.synchronize()\nx.cuda\n");
}

TEST(VendorRule, ModuleNames) {
  const std::string rules =
      R"json({"rules": {"ModuleNameModifyRule": [{"old_name": "cuda", "new_name": "npu", "parent_module": "torch"}]}})json";
  EXPECT_EQ(migrated(rules, "import torch\nfrom torch.cuda import amp\ntorch.cuda.init()\nother.cuda.init()\n"),
            "import torch\nfrom torch.npu import amp\ntorch.npu.init()\nother.cuda.init()\n");
}

TEST(VendorRule, InsertedLines) {
  const std::string rules = R"json({"rules": {
      "InsertGlobalRule": [{"insert_content": ["import mine"], "import_key_word": "torch"}],
      "InsertMainFileRule": [{"insert_content": ["import start"]}]}})json";
  EXPECT_EQ(migrated(rules, "import torch\nx = 1\n"), "import mine\nimport torch\nx = 1\n");
  EXPECT_EQ(migrated(rules, "import os\nx = 1\n"), "import os\nx = 1\n");
  const std::string main = "import os\nif __name__ == '__main__':\n    pass\n";
  EXPECT_EQ(migrated(rules, main), "import start\n" + main);
}

TEST(VendorRule, StringsAndAttributes) {
  const std::string rules = R"json({"rules": {
      "ReplaceStringRule": [{"str_old": "nccl", "str_new": "hccl", "strict": true}, {"str_old": "cuda:", "str_new": "npu:"}],
      "ReplaceAttributeRule": [{"old_name": "is_cuda", "new_name": "is_npu"}]}})json";
  EXPECT_EQ(migrated(rules, "import os\n'''cuda: nccl'''\na = 'nccl'\nb = 'nccl it'\nc = 'on cuda:1'\nd = t.is_cuda\n"),
            "import os\n'''cuda: nccl'''\na = 'hccl'\nb = 'nccl it'\nc = 'on npu:1'\nd = t.is_npu\n");
}

TEST(VendorRule, Switches) {
  const std::string rules = R"json({"rules": {"FuncNameModifyRule": [
      {"old_name": "a", "new_name": "b", "feature_switch": ["specify_device", "distributed"]},
      {"old_name": "c", "new_name": "d", "feature_switch": ["2.1.0"]}]}})json";
  EXPECT_EQ(migrated(rules, "x.a()\nx.c()\n"), "x.a()\nx.d()\n");
  EXPECT_EQ(migrated(rules, "x.a()\n", {"distributed"}), "x.b()\n");
  EXPECT_EQ(migrated(rules, "x.a()\n", {"specify-device"}), "x.b()\n");
}

TEST(VendorRule, RefusalsNameTheCure) {
  EXPECT_EQ(refusal(R"json({"rules": )json"), "mine.json: is no JSON at its byte 11; mend it there");
  EXPECT_NE(refusal(R"json({"rules": {"ArgModifyRule": []}})json")
                .find("there is no class of rules ArgModifyRule; there are ArgsModifyRule, FuncNameModifyRule"),
            std::string::npos);
  EXPECT_EQ(refusal(R"json({"rules": {"FuncNameModifyRule": [{"old_name": "a"}]}})json"),
            "mine.json: FuncNameModifyRule number 1 has no \"new_name\"; add it");
  EXPECT_EQ(refusal(R"json({"rules": {"ArgsModifyRule": [{"func_name": "f", "arg_new": ""}]}})json"),
            "mine.json: ArgsModifyRule number 1 needs either \"arg_idx\" or \"arg_keyword\"");
  EXPECT_NE(
      refusal(
          R"json({"rules": {"ArgsModifyRule": [{"func_name": "f", "arg_idx": 0, "arg_new": "", "white_list": ["("]}]}})json")
          .find("no regular expression"),
      std::string::npos);
  EXPECT_NE(refusal("[]").find("has no object \"rules\""), std::string::npos);
}

}  // namespace
}  // namespace npu::migrate
