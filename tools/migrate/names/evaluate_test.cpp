// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/evaluate.h"

#include <gtest/gtest.h>

#include "tools/migrate/names/project_fixture.h"

namespace npu::migrate {
namespace {

struct Case {
  const char* name;
  const char* text;
  std::vector<std::string> want;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class Expression : public testing::TestWithParam<Case> {};

TEST_P(Expression, IsWhatItMayBe) { EXPECT_EQ(shown(GetParam().text), GetParam().want); }

std::string named(const testing::TestParamInfo<Case>& info) { return info.param.name; }

const Case kImports[] = {
    {"plain", "import torch\nshow(torch.cuda)\n", {"torch.cuda"}},
    {"dotted_binds_the_first",
     "import torch.nn.functional\nshow(torch.nn.functional.relu)\n",
     {"torch.nn.functional.relu"}},
    {"dotted_with_alias", "import torch.nn.functional as F\nshow(F.relu)\n", {"torch.nn.functional.relu"}},
    {"spaces_in_dots", "import torch . nn \\\n  . functional as F\nshow(F.relu)\n", {"torch.nn.functional.relu"}},
    {"from_with_alias",
     "from torch import nn as n, cuda\nshow(n.Linear)\nshow(cuda)\n",
     {"torch.nn.Linear", "torch.cuda"}},
    {"second_spelling", "import tensorflow.compat.v2 as tf\nshow(tf.keras.Model)\n", {"tensorflow.keras.Model"}},
    {"keras_alone", "from keras.optimizers import Adam\nshow(Adam(1))\n", {"tensorflow.keras.optimizers.Adam()"}},
    {"either_way",
     "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf\nshow(tf.Session)\n",
     {"tensorflow.compat.v1.Session or tensorflow.Session"}},
    {"or_none",
     "try:\n  from apex import amp\nexcept ImportError:\n  amp = None\nshow(amp.initialize)\n",
     {"apex.amp.initialize"}},
    {"in_a_function", "def f():\n  import torch as t\n  show(t.cuda)\nshow(t.cuda)\n", {"torch.cuda", "?.cuda"}},
    {"star", "from torch.nn import *\nshow(Linear)\nshow(print)\nshow(ValueError)\n", {"torch.nn.Linear", "?", "?"}},
    {"two_stars_say_nothing", "from torch.nn import *\nfrom torch import *\nshow(Linear)\n", {"?"}},
    {"star_and_own", "from torch.nn import *\ndef Linear(): pass\nshow(Linear)\n", {":a.Linear"}},
};
INSTANTIATE_TEST_SUITE_P(Imports, Expression, testing::ValuesIn(kImports), named);

const Case kOrder[] = {
    {"last_binding_counts", "import torch\nx = torch.a\nx = torch.b\nshow(x)\n", {"torch.b"}},
    {"between", "import torch\nx = torch.a\nshow(x)\nx = torch.b\n", {"torch.a"}},
    {"branch_adds", "import torch\nx = torch.a\nif p: x = torch.b\nshow(x)\n", {"torch.a or torch.b"}},
    {"in_the_branch", "import torch\nx = torch.a\nif p:\n  x = torch.b\n  show(x)\n", {"torch.b"}},
    {"both_branches", "import torch\nif p:\n  x = torch.a\nelse:\n  x = torch.b\nshow(x)\n", {"torch.a or torch.b"}},
    {"from_itself", "import torch\nx = torch.a\nx = x.b\nshow(x)\n", {"torch.a.b"}},
    {"around_a_loop", "import torch\nx = torch.a\nfor i in p:\n  show(x)\n  x = torch.b\n", {"torch.a or torch.b"}},
    {"new_in_each_turn", "import torch\nfor i in p:\n  x = torch.a\n  show(x)\n  x = torch.b\n", {"torch.a"}},
    {"loop_variable_inside",
     "import torch\nx = torch.a\nfor x in torch.b: show(x)\nshow(x)\n",
     {"torch.b[]", "torch.a or torch.b[]"}},
    {"with_target", "import torch\nx = 1\nwith torch.a() as x:\n  show(x)\nshow(x)\n", {"torch.a()", "torch.a()"}},
    {"except_target", "import torch as e\ntry: pass\nexcept E as e: show(e)\n", {"?"}},
    {"deleted", "import torch\ndel torch\nshow(torch.a)\n", {"?.a"}},
    {"augmented", "import torch\nx = torch.a\nx += 1\nshow(x)\n", {"?"}},
    {"walrus", "import torch\nif (x := torch.a):\n  show(x)\n", {"torch.a"}},
    {"walrus_in_comprehension", "import torch\n[y := torch.a for _ in p]\nshow(y)\n", {"torch.a"}},
    {"two_at_once", "import torch\na, b = torch.x, torch.y\nb, a = a, b\nshow(a)\nshow(b)\n", {"torch.y", "torch.x"}},
    {"chained", "import torch\na = b = torch.x\nshow(a)\nshow(b)\n", {"torch.x", "torch.x"}},
    {"starred", "import torch\na, *b = torch.x, torch.y\nshow(a)\nshow(b)\n", {"torch.x or torch.y", "?"}},
    {"match", "import torch as x\nmatch p:\n  case [x]: show(x)\n  case {'k': x}: show(x)\n", {"?", "?"}},
};
INSTANTIATE_TEST_SUITE_P(Order, Expression, testing::ValuesIn(kOrder), named);

const Case kScopes[] = {
    {"function_sees_module", "import torch\ndef f(): show(torch)\n", {"torch"}},
    {"parameter_hides", "import torch\ndef f(torch): show(torch.a)\n", {"?.a"}},
    {"default_is_outside", "import torch\ndef f(torch=show(torch.a)): pass\n", {"torch.a"}},
    {"lambda_parameter",
     "import torch\nlambda torch: show(torch.a)\nlambda x=torch: show(x.a)\n",
     {"?.a", "torch.a or ?.a"}},
    {"class_names_skipped", "import torch\nclass C:\n  torch = 1\n  def f(self): show(torch.a)\n", {"torch.a"}},
    {"class_body_sees_them", "import torch\nclass C:\n  x = torch.a\n  show(x)\n", {"torch.a"}},
    {"comprehension_target",
     "import torch\n[show(torch.a) for torch in p]\n[show(x) for x in torch.b]\n",
     {"?[].a", "torch.b[]"}},
    {"comprehension_first_outside", "import torch\n[x for torch in show(torch.a)]\n", {"torch.a"}},
    {"comprehension_sees_order", "import torch\nx = torch.a\n[show(x) for _ in p]\nx = torch.b\n", {"torch.a"}},
    {"global_from_function",
     "import torch\nx = torch.a\ndef f():\n  global x\n  x = torch.b\nshow(x)\n",
     {"torch.a or torch.b"}},
    {"nonlocal",
     "import torch\ndef f():\n  def g():\n    nonlocal x\n    x = torch.a\n  x = torch.b\n  show(x)\n",
     {"torch.a or torch.b"}},
    {"later_code_sees_all", "import torch\nx = torch.a\ndef f(): show(x)\nx = torch.b\n", {"torch.a or torch.b"}},
    {"decorator_is_outside", "import torch\n@show(torch.a)\ndef f(torch): pass\n", {"torch.a"}},
};
INSTANTIATE_TEST_SUITE_P(Scopes, Expression, testing::ValuesIn(kScopes), named);

const Case kObjects[] = {
    {"call", "import torch\nshow(torch.device('cuda').x)\n", {"torch.device().x"}},
    {"base_class", "import torch\nclass N(torch.nn.Module): pass\nn = N()\nshow(n.cuda)\n", {"torch.nn.Module().cuda"}},
    {"own_method",
     "import torch\nclass N(torch.nn.Module):\n  def cuda(self): pass\nshow(N().cuda)\n",
     {":a.N().cuda"}},
    {"self_attribute",
     "import torch\nclass N:\n  def __init__(self): self.x = torch.a\n  def f(self): show(self.x.b)\n",
     {"torch.a.b"}},
    {"attribute_from_outside", "import torch\nclass N:\n  def __init__(s): s.x = torch.a\nshow(N().x)\n", {"torch.a"}},
    {"static_has_no_self",
     "import torch\nclass N:\n  x = torch.a\n  @staticmethod\n  def f(self): show(self.x)\n",
     {"?.x"}},
    {"self_base",
     "import torch\nclass N(torch.nn.Module):\n  def f(self): show(self.cuda)\n",
     {"torch.nn.Module().cuda"}},
    {"super",
     "import torch\nclass N(torch.nn.Module):\n  def f(self): show(super().cuda)\n",
     {"torch.nn.Module().cuda"}},
    {"property", "import torch\nclass N:\n  @property\n  def x(self): return torch.a\nshow(N().x.b)\n", {"torch.a.b"}},
    {"class_in_function",
     "import torch\ndef f():\n  class N(torch.nn.Module): pass\n  n = N()\n  show(n.cuda)\n",
     {"torch.nn.Module().cuda"}},
    {"annotation", "import torch\ndef f(x: torch.Tensor): show(x.cuda)\n", {"torch.Tensor().cuda"}},
    {"optional",
     "import torch\nfrom typing import *\ndef f(x: Optional[torch.Tensor], y: Any): show(x.cuda), show(y.cuda)\n",
     {"torch.Tensor().cuda", "?.cuda"}},
    {"or_none_annotation", "import torch\ndef f(x: torch.Tensor | None): show(x.cuda)\n", {"torch.Tensor().cuda"}},
    {"field", "import torch\nclass N:\n  x: torch.Tensor\n  def f(self): show(self.x.cuda)\n", {"torch.Tensor().cuda"}},
};
INSTANTIATE_TEST_SUITE_P(Objects, Expression, testing::ValuesIn(kObjects), named);

const Case kResults[] = {
    {"returned", "import torch\ndef f(): return torch.a\nshow(f().b)\n", {"torch.a.b"}},
    {"several",
     "import torch\ndef f():\n  if p: return torch.a\n  return torch.b\nshow(f())\n",
     {"torch.a or torch.b"}},
    {"function_in_function", "import torch\ndef g():\n  def f(): return torch.a\n  show(f().b)\n", {"torch.a.b"}},
    {"not_of_the_inner", "import torch\ndef f():\n  def g(): return torch.a\nshow(f())\n", {"None"}},
    {"generator", "import torch\ndef f():\n  yield torch.a\nshow(f())\n", {"?"}},
    {"calls_itself", "import torch\ndef f(x): return f(x) if x else torch.a\nshow(f(1))\n", {"? or torch.a"}},
    {"method", "import torch\nclass N:\n  def f(self): return torch.a\nshow(N().f().b)\n", {"torch.a.b"}},
    {"unpacked",
     "import torch\ndef f(): return torch.a, torch.b\nx, y = f()\nshow(x)\nshow(y)\n",
     {"torch.a", "torch.b"}},
    {"unpacked_method",
     "import torch\nclass N:\n  def f(self): return torch.a, torch.b\nx, y = N().f()\nshow(y)\n",
     {"torch.b"}},
    {"rows_of_two_lengths",
     "import torch\ndef f():\n  if p: return torch.a, 1\n  return torch.b, 1, 2\nx, y = f()\nshow(x)\n",
     {"?"}},
    {"unpacked_framework", "import apex\na, b = apex.amp.initialize(m, o)\nshow(a)\n", {"apex.amp.initialize()[]"}},
    {"element_of_list",
     "import torch\nx = [torch.a(), torch.b()]\nshow(x[0].c)\nfor y in x: show(y)\n",
     {"torch.a().c or torch.b().c", "torch.a() or torch.b()"}},
    {"conditional",
     "import torch\nshow(torch.a if p else torch.b)\nshow(p or torch.b)\n",
     {"torch.a or torch.b", "? or torch.b"}},
    {"awaited", "import torch\nasync def f(): show(await torch.a())\n", {"torch.a()"}},
};
INSTANTIATE_TEST_SUITE_P(Results, Expression, testing::ValuesIn(kResults), named);

const Case kTexts[] = {
    {"literal", "show('cuda:0')\nshow(u\"cuda\")\nshow('''cuda''')\n", {"\"cuda:0\"", "\"cuda\"", "\"cuda\""}},
    {"beginning",
     "show(f'cuda:{i}')\nshow('cuda:%d' % i)\nshow('cuda:' + i)\nshow('cuda:{}'.format(i))\n",
     {"\"cuda:\"", "\"cuda:%d\"", "\"cuda:\"", "\"cuda:{}\""}},
    {"either", "d = 'cuda' if p else 'cpu'\nshow(d)\n", {"\"cuda\" or \"cpu\""}},
    {"default_of_parameter", "def f(d='cuda'): show(d)\n", {"\"cuda\" or ?"}},
    {"joined", "show('cu' 'da')\n", {"\"cu\""}},
    {"empty_format", "show(f'{x}')\nshow('')\n", {"\"\"", "\"\""}},
};
INSTANTIATE_TEST_SUITE_P(Texts, Expression, testing::ValuesIn(kTexts), named);

TEST(Evaluator, LongChainsAndRings) {
  std::string text = "import torch\nx0 = torch.a\n";
  for (int i = 1; i < 1000; ++i) text += "x" + std::to_string(i) + " = x" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(shown(text + "show(x999)\n").size(), 1u);
  EXPECT_EQ(shown("def f(): return g()\ndef g(): return f()\nshow(f())\na = b\nb = a\nshow(a)\n"),
            (std::vector<std::string>{"?", "?"}));
  EXPECT_EQ(shown("class A(A): pass\nshow(A().x)\nclass B(C): pass\nclass C(B): pass\nshow(B().x)\n").size(), 2u);
}

}  // namespace
}  // namespace npu::migrate
