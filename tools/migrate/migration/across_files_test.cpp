// SPDX-License-Identifier: Apache-2.0
// Device literals that reach a device in another file.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tools/migrate/migration/batch.h"

namespace npu::migrate {
namespace {

using Files = std::map<std::string, std::string>;

Files migrated(const Files& before, std::set<std::string> features = {"torch"}, const std::string& main = "") {
  static const RuleBook book = RuleBook::built_in();
  Options options;
  options.features = std::move(features);
  options.main = main;
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

TEST(AcrossFiles, NumbersOfDevicesGoWhereTheProcessHasItsOwn) {
  const Files before = {
      {"conf.py", "A = \"cuda:1\"\nB = 'cuda:%d' % 2\nC = f\"cuda:{3}\"\nD = \"cuda:\" + str(4)\nE = \"cuda\"\n"},
      {"use.py",
       "import torch\nimport conf\nfor d in (conf.A, conf.B, conf.C, conf.D, conf.E):\n"
       "    x = torch.ones(2).to(d)\n"}};
  const std::string pinned = "A = \"npu\"\nB = \"npu\"\nC = f\"npu\"\nD = \"npu\"\nE = \"npu\"\n";
  for (const char* feature : {"specify-device", "distributed"}) {
    const Files after = migrated(before, {"torch", feature});
    EXPECT_EQ(after.at("conf.py"), pinned);
    EXPECT_EQ(migrated(after, {"torch", feature}), after);
  }
  EXPECT_EQ(migrated(before).at("conf.py"),
            "A = \"npu:1\"\nB = 'npu:%d' % 2\nC = f\"npu:{3}\"\nD = \"npu:\" + str(4)\nE = \"npu\"\n");
}

TEST(AcrossFiles, LoadersAndModelsOfOtherFiles) {
  const Files before = {
      {"data.py",
       "import torch\ndef loaders(ds):\n    train = torch.utils.data.DataLoader(ds, shuffle=True)\n"
       "    return train, torch.utils.data.DataLoader(ds)\n"},
      {"save.py", "import torch\ndef keep(model):\n    torch.save(model.state_dict(), \"a.pt\")\n"},
      {"main.py",
       "import torch\nfrom data import loaders\nfrom save import keep\ndef main():\n    first, second = loaders(ds)\n"
       "    model = Net()\n    opt = torch.optim.SGD(model.parameters(), 0.1)\n    for epoch in range(3):\n"
       "        for x in first:\n            opt.step()\n    keep(model)\nif __name__ == \"__main__\":\n    main()\n"}};
  const Files after = migrated(before, {"torch", "distributed"}, "main.py");
  EXPECT_NE(after.at("data.py").find("sampler=DistributedSampler(ds)"), std::string::npos);
  EXPECT_NE(after.at("save.py").find("getattr(model, \"module\", model).state_dict()"), std::string::npos);
  EXPECT_NE(after.at("main.py").find("        if hasattr(getattr(first, \"sampler\", None), \"set_epoch\"):\n"
                                     "            first.sampler.set_epoch(epoch)\n        for x in first:"),
            std::string::npos)
      << after.at("main.py");
  EXPECT_EQ(after.at("main.py").find("init_process_group"), after.at("main.py").rfind("init_process_group"));
  EXPECT_EQ(migrated(after, {"torch", "distributed"}, "main.py"), after);
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
