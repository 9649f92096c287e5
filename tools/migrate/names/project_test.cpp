// SPDX-License-Identifier: Apache-2.0
// Names that pass from file to file.
#include "tools/migrate/names/project.h"

#include <gtest/gtest.h>

#include "tools/migrate/names/project_fixture.h"

namespace npu::migrate {
namespace {

using Texts = std::vector<std::string>;

/// What `show(x)` is in use.py (or `path`), beside these other files.
Texts shown_beside(Files files, const std::string& text, const std::string& path = "use.py") {
  files[path] = text;
  return shown(files, path);
}

Value ours(std::string_view spelled) { return Value::project(spelled_path(spelled)); }

TEST(Project, ModulesByTheirPaths) {
  EXPECT_EQ(Project::module_of("a.py"), dotted("a"));
  EXPECT_EQ(Project::module_of("a/b.py"), dotted("a.b"));
  EXPECT_EQ(Project::module_of("a/__init__.py"), dotted("a"));
  EXPECT_EQ(Project::module_of("__init__.py"), dotted(""));
}

TEST(Project, ImportsOfItsFiles) {
  const Project project({"main.py", "pkg/__init__.py", "pkg/one.py", "pkg/sub/two.py", "torch.py"});
  EXPECT_EQ(project.imported("main.py", "pkg.one", 0).spelled(), ":pkg.one");
  EXPECT_EQ(project.imported("main.py", "other.one", 0).spelled(), "other.one");
  EXPECT_EQ(project.imported("main.py", "torch.nn", 0).spelled(),
            "torch.nn");  // no file of the project hides a framework
  EXPECT_EQ(project.imported("pkg/one.py", "sub.two", 0).spelled(),
            ":pkg.sub.two");  // as where pkg/ is the script's folder
  EXPECT_EQ(project.imported("pkg/sub/two.py", "pkg", 0).spelled(), ":pkg");
  EXPECT_EQ(project.imported("pkg/sub/two.py", "", 1).spelled(), ":pkg.sub");
  EXPECT_EQ(project.imported("pkg/sub/two.py", "one", 2).spelled(), ":pkg.one");
  EXPECT_EQ(project.imported("pkg/__init__.py", "one", 1).spelled(), ":pkg.one");
  EXPECT_EQ(project.imported("main.py", "pkg", 1).spelled(), ":pkg");
  EXPECT_EQ(project.imported("main.py", "pkg", 5).spelled(), ":pkg");  // further up than the project goes
}

TEST(Project, NamesOfAModule) {
  const Files files = {
      {"m.py", "import torch\nx = torch.a\ndef f(): return torch.b\nclass C(torch.nn.Module): pass\n"}};
  EXPECT_EQ(shown_beside(files, "import m\nshow(m.x)\nshow(m.f().c)\nshow(m.C().cuda)\nshow(m.y)\n"),
            (Texts{"torch.a", "torch.b.c", "torch.nn.Module().cuda", "?"}));
  EXPECT_EQ(shown_beside(files, "from m import x as y, C\nshow(y.z)\nshow(C)\n"), (Texts{"torch.a.z", ":m.C"}));
  EXPECT_EQ(shown_beside(files, "from m import *\nshow(x)\nshow(f())\nshow(none)\n"),
            (Texts{"torch.a", "torch.b", "?"}));
}

TEST(Project, RelativeImports) {
  const Files files = {{"p/__init__.py", ""},
                       {"p/m.py", "import torch\nx = torch.a\n"},
                       {"p/q/__init__.py", "from ..m import x\n"},
                       {"p/q/n.py", "import torch\ny = torch.b\n"}};
  const std::string text =
      "from .n import y\nfrom . import n, x\nfrom ..m import x as z\nfrom .. import m\n"
      "show(y)\nshow(n.y)\nshow(x)\nshow(z)\nshow(m.x)\n";
  EXPECT_EQ(shown_beside(files, text, "p/q/use.py"), (Texts{"torch.b", "torch.b", "torch.a", "torch.a", "torch.a"}));
}

TEST(Project, PackagesShowWhatTheyImport) {
  const Files files = {{"p/__init__.py", "from .m import *\nfrom .n import Net\n"},
                       {"p/m.py", "from torch import cuda as card\nimport torch\nx = torch.a\n"},
                       {"p/n.py", "import torch\nclass Net(torch.nn.Module):\n  def cuda(self): return torch.b\n"}};
  EXPECT_EQ(shown_beside(files, "import p\nshow(p.x)\nshow(p.card.y)\nshow(p.Net().cuda())\nshow(p.Net().cpu)\n"),
            (Texts{"torch.a", "torch.cuda.y", "torch.b", "torch.nn.Module().cpu"}));
}

TEST(Project, AFunctionNamedAsItsModule) {
  const Files files = {{"p/__init__.py", "from .model import model\n"},
                       {"p/model.py", "import torch\ndef model(): return torch.a\n"}};
  EXPECT_EQ(shown_beside(files, "from p import model\nshow(model())\n"), Texts{"torch.a"});
}

TEST(Project, ModulesWithoutAPackageFile) {
  EXPECT_EQ(shown_beside({{"p/q/m.py", "import torch\nx = torch.a\n"}},
                         "import p.q.m as m\nfrom p.q import m as n\nshow(m.x)\nshow(n.x)\n"),
            (Texts{"torch.a", "torch.a"}));
}

TEST(Project, LongWays) {
  Files files = {{"m0.py", "import torch\nx = torch.a\n"}};
  for (int i = 1; i < 12; ++i) {
    const std::string last = "m" + std::to_string(i - 1);
    files["m" + std::to_string(i) + ".py"] = "from " + last + " import x\n";
  }
  EXPECT_EQ(shown_beside(files, "from m11 import x\nshow(x.b)\n"), Texts{"torch.a.b"});
}

TEST(Project, RingsOfImports) {
  const Files files = {{"a.py", "import torch\nfrom b import y\nx = torch.a\n"},
                       {"b.py", "from a import x\nimport torch\ny = torch.b\nz = x\n"}};
  EXPECT_EQ(shown_beside(files, "import a, b\nshow(a.x)\nshow(a.y)\nshow(b.x)\nshow(b.z)\n"),
            (Texts{"torch.a", "torch.b", "torch.a", "torch.a"}));
}

TEST(Project, RingsThatLeadNowhere) {
  const Files files = {
      {"a.py", "from b import x\nfrom c import *\n"}, {"b.py", "from a import x\n"}, {"c.py", "from a import *\n"}};
  for (const std::string& each : shown_beside(files, "import a, b\nshow(a.x)\nshow(b.x)\nshow(a.none)\n"))
    EXPECT_TRUE(each.find("torch") == std::string::npos && !each.empty()) << each;
  EXPECT_EQ(shown_beside({{"a.py", "import b\nclass A(b.B): pass\n"}, {"b.py", "import a\nclass B(a.A): pass\n"}},
                         "import a\nshow(a.A().cuda)\n")
                .size(),
            1u);
}

TEST(Project, OwnNamesHideImportedOnes) {
  const Files files = {{"m.py", "import torch\nx = torch.a\ndef f(): return torch.b\n"}};
  EXPECT_EQ(shown_beside(files, "from m import x\ndef g(x): show(x)\ndef h():\n  x = 1\n  show(x)\nshow(x)\n"),
            (Texts{"?", "1", "torch.a"}));
  EXPECT_EQ(shown_beside(files, "from m import *\ndef f(): return 2\nshow(f())\n"), Texts{"2"});
  EXPECT_EQ(shown_beside(files, "try:\n  from m import x\nexcept ImportError:\n  x = None\nshow(x.y)\n"),
            Texts{"torch.a.y"});
}

TEST(Project, ClassesOverSeveralFiles) {
  const Files files = {{"base.py", "import torch\nclass Base(torch.nn.Module):\n  def make(self): return torch.a\n"},
                       {"net.py", "from base import Base\nclass Net(Base):\n  def own(self): return self.make()\n"}};
  EXPECT_EQ(shown_beside(files, "import net\nn = net.Net()\nshow(n.make())\nshow(n.own())\nshow(n.cuda())\n"),
            (Texts{"torch.a", "torch.a", "torch.nn.Module().cuda()"}));
}

TEST(Project, ParametersOfItsFunctions) {
  Project project({"m.py"});
  const Source source("m.py",
                      "def f(a, b=1, *c, d): pass\nclass C:\n  def __init__(self, e): pass\n  def g(self, h): pass\n");
  const Tree tree(source);
  Evaluator names(tree, project, "m.py", 0, false);
  project.set(0, names.exports(), program_of(names));
  project.settle();
  EXPECT_EQ(project.parameters(ours("m.f")), (Texts{"a", "b"}));
  EXPECT_EQ(project.parameters(ours("m.C")), (Texts{"e"}));
  EXPECT_EQ(project.parameters(ours("m.C().g")), (Texts{"h"}));
  EXPECT_EQ(project.parameters(ours("m.none")), Texts());
  EXPECT_EQ(project.parameters(Value::library(dotted("torch.f"))), Texts());
}

}  // namespace
}  // namespace npu::migrate
