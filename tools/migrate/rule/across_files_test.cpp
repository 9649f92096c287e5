// SPDX-License-Identifier: Apache-2.0
// Device literals that reach a device in another file.
#include <gtest/gtest.h>

#include <map>

#include "tools/migrate/rule/batch.h"

namespace npu::migrate {
namespace {

using Files = std::map<std::string, std::string>;

Files migrated(const Files& before) {
  static const RuleBook book = RuleBook::built_in();
  Options options;
  options.features = {"torch"};
  const RuleIndex rules(book.active(options.features));
  std::vector<std::string> paths;
  for (const auto& [path, text] : before) paths.push_back(path);
  Files after;
  Batch batch(paths, [&](const std::string& path) { return Source(path, before.at(path)); }, rules, options);
  batch.run(1, [&](FileResult&& file) { after[file.path] = file.after; });
  return after;
}

TEST(AcrossFiles, ConstantsOfAModuleOfSettings) {
  const Files before = {
      {"conf.py", "WHERE = \"cuda:0\"\nNAME = \"cuda\"\nCFG = {\"place\": \"cuda\", \"note\": \"cuda\"}\n"},
      {"use.py",
       "import torch\nimport conf\nfrom conf import CFG\n"
       "x = torch.ones(2).to(conf.WHERE).to(CFG[\"place\"])\n"}};
  const Files after = migrated(before);
  EXPECT_EQ(after.at("conf.py"),
            "WHERE = \"npu:0\"\nNAME = \"cuda\"\nCFG = {\"place\": \"npu\", \"note\": \"cuda\"}\n");
  EXPECT_EQ(after.at("use.py"),
            "import torch\nimport torch_npu\nimport conf\nfrom conf import CFG\n"
            "x = torch.ones(2).to(conf.WHERE).to(CFG[\"place\"])\n");
  EXPECT_EQ(migrated(after), after);
}

TEST(AcrossFiles, ArgumentsOfFunctionsByTheNameOfTheParameter) {
  const Files before = {
      {"model.py", "def build(size, device):\n    return size, device\n"},
      {"train.py", "import torch\nfrom model import build\nbuild(3, \"cuda:1\")\nbuild(\"cuda\", 2)\n"}};
  EXPECT_EQ(migrated(before).at("train.py"),
            "import torch\nimport torch_npu\nfrom model import build\nbuild(3, \"npu:1\")\nbuild(\"cuda\", 2)\n");
}

TEST(AcrossFiles, ClassesWithACudaOfTheirOwn) {
  const Files before = {{"board.py", "class Board:\n    def cuda(self):\n        return 1\n"},
                        {"net.py", "import torch\nclass Net(torch.nn.Module):\n    pass\n"},
                        {"train.py",
                         "import torch\nfrom board import Board\nfrom net import Net\n"
                         "Board().cuda()\nNet().cuda()\n"}};
  EXPECT_EQ(migrated(before).at("train.py"),
            "import torch\nimport torch_npu\nfrom board import Board\n"
            "from net import Net\nBoard().cuda()\nNet().npu()\n");
}

}  // namespace
}  // namespace npu::migrate
