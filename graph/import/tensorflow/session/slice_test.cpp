// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/session/slice.h"

#include <gtest/gtest.h>

#include "graph/import/tensorflow/message_fixture.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"

namespace npu::graph::tensorflow {
namespace {

constexpr int kBool = 10;

std::string reference(const std::string& name, const std::string& type_attr) {
  return message([&](auto& w) {
    w.add_string(field::kArgName, name);
    w.add_string(field::kTypeAttr, type_attr);
    w.add_bool(field::kIsRef, true);
  });
}

std::string text_value(const std::string& text) {
  return message([&](auto& w) { w.add_string(field::kS, text); });
}

/// An operator with attributes of these names, so that they are known.
std::string operator_def(const std::string& name, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const std::vector<std::string>& attributes,
                         bool stateful = false) {
  std::string bytes = signature(name, inputs, outputs, {}, stateful);
  for (const std::string& one : attributes)
    bytes += message([&](auto& w) {
      w.add_message(field::kOpAttr, message([&](auto& a) { a.add_string(field::kAttrName, one); }));
    });
  return bytes;
}

Catalogue operators() {
  const std::vector<std::string> pass = {formal("data", 0, "T")}, gives = {formal("output", 0, "T")};
  const std::vector<std::string> all = {
      operator_def("Switch", {formal("data", 0, "T"), formal("pred", kBool)},
                   {formal("output_false", 0, "T"), formal("output_true", 0, "T")}, {"T"}),
      operator_def("Merge", {formal("inputs", 0, "T", "N")}, {formal("output", 0, "T"), formal("value_index", kInt32)},
                   {"T", "N"}),
      operator_def("Enter", pass, gives, {"T", "frame_name"}),
      operator_def("Exit", pass, gives, {"T"}),
      operator_def("NextIteration", pass, gives, {"T"}),
      operator_def("LoopCond", {formal("input", kBool)}, {formal("output", kBool)}, {}),
      operator_def("Less", {formal("x", 0, "T"), formal("y", 0, "T")}, {formal("z", kBool)}, {"T"}),
      operator_def("Placeholder", {}, {formal("output", 0, "dtype")}, {"dtype"}),
      operator_def("VariableV2", {}, {reference("ref", "dtype")}, {"dtype", "shared_name", "container"}, true),
      operator_def("VarHandleOp", {}, {formal("resource", kResourceType)}, {"dtype", "shared_name", "container"}, true),
      operator_def("FIFOQueueV2", {}, {formal("handle", kResourceType)}, {"shared_name", "container"}, true),
      operator_def("AssignVariableOp", {formal("resource", kResourceType), formal("value", 0, "dtype")}, {}, {"dtype"},
                   true),
      operator_def("QueueSizeV2", {formal("handle", kResourceType)}, {formal("size", kInt32)}, {}, true),
      operator_def("AssignAdd", {reference("ref", "T"), formal("value", 0, "T")}, {reference("output_ref", "T")},
                   {"T", "use_locking"}),
      operator_def("AssignAddVariableOp", {formal("resource", kResourceType), formal("value", 0, "dtype")}, {},
                   {"dtype"}, true),
      operator_def("NpuGetFloatStatusV2", {}, {formal("data", kInt32)}, {}, true),
      operator_def("Barrier", {reference("ref", "T")}, {}, {"T"}),
  };
  const std::string more = message([&](auto& w) {
    for (const std::string& one : all) w.add_message(field::kOpDef, one);
  });
  const std::string bytes = test_operators() + more;
  return Catalogue(Bytes(bytes));
}

const Attrs kOfFloat = {{"T", type_value(kFloat)}};
const Attrs kFloats = {{"dtype", type_value(kFloat)}};

std::string graph_def(const std::vector<std::string>& nodes) {
  return message([&](auto& w) {
    for (const std::string& one : nodes) w.add_message(field::kNode, one);
  });
}

std::string placeholder(const std::string& name, int type = kFloat) {
  return node(name, "Placeholder", {}, {{"dtype", type_value(type)}});
}
std::string float_node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs) {
  return node(name, op, inputs, kOfFloat);
}
std::string merge(const std::string& name, const std::string& a, const std::string& b) {
  return node(name, "Merge", {a, b}, {{"T", type_value(kFloat)}, {"N", int_value(2)}});
}
std::string enter(const std::string& name, const std::string& from, const std::string& frame) {
  return node(name, "Enter", {from}, {{"T", type_value(kFloat)}, {"frame_name", text_value(frame)}});
}

struct Read {
  Program program;
  Slice slice;
};

Read slice_of(const std::vector<std::string>& nodes, SliceRequest request) {
  const std::string bytes = graph_def(nodes);
  const GraphMessage graph{Bytes(bytes)};
  request.name = "s@1", request.scope = "s";
  Read out;
  out.slice = read_slice(graph, request, operators(), out.program);
  verify(out.program);
  return out;
}

std::string text_of(const Read& read, const std::string& name) { return to_text(read.program.get(name)); }

std::string refusal(const std::vector<std::string>& nodes, const SliceRequest& request) {
  try {
    slice_of(nodes, request);
  } catch (const Error& e) {
    return e.message();
  }
  return "accepted";
}

TEST(Slice, WhatIsFedStandsOnNothing) {
  const std::vector<std::string> nodes = {placeholder("x"), float_node("twice", "AddV2", {"x", "x"}),
                                          float_node("more", "AddV2", {"twice", "x"})};
  EXPECT_EQ(text_of(slice_of(nodes, {.feeds = {"x:0", "twice:0"}, .fetches = {"more:0"}}), "s@1"),
            "function s@1(x:0: float32?, twice:0: float32?) -> (more:0: float32?)\n"
            "  %2 = AddV2(%1, %0) T=float32 : float32?  \"more\"\n"
            "  return %2\n");
  EXPECT_NE(refusal(nodes, {.fetches = {"less:0"}}).find("the fetch less:0 names a node that the graph does not have"),
            std::string::npos);
  EXPECT_NE(refusal(nodes, {.fetches = {"more:1"}}).find("more:1: the node has 1 outputs"), std::string::npos);
  EXPECT_NE(refusal(nodes, {.targets = {"less"}}).find("the target less"), std::string::npos);
}

TEST(Slice, VariablesAreArgumentsAndReferencesHandles) {
  const std::vector<std::string> nodes = {node("v", "VariableV2", {}, kFloats), float_node("v/read", "Identity", {"v"}),
                                          float_node("twice", "AddV2", {"v/read", "v/read"}),
                                          float_node("add", "AssignAdd", {"v", "twice"}),
                                          float_node("after", "Identity", {"add"})};
  const Read read = slice_of(nodes, {.fetches = {"after:0", "v:0"}, .targets = {"add"}});
  ASSERT_EQ(read.slice.resources.size(), 1u);
  EXPECT_EQ(read.slice.resources[0].key, "/v");
  EXPECT_TRUE(read.slice.resources[0].variable);
  EXPECT_EQ(text_of(read, "s@1"),
            "function s@1(v: resource) -> (after:0: float32?, v:0: float32?)\n"
            "  %1 = ReadVariableOp(%0) dtype=float32 : float32?  \"twice:0\"\n"
            "  %2 = ReadVariableOp(%0) dtype=float32 : float32?  \"twice:1\"\n"
            "  %3 = AddV2(%1, %2) T=float32 : float32?  \"twice\"\n"
            "  %4 = AssignAddVariableOp(%0, %3) dtype=float32 :   \"add\"\n"
            "  %5 = ReadVariableOp(%0) dtype=float32 after %4 : float32?  \"after\"\n"
            "  %6 = ReadVariableOp(%0) dtype=float32 after %4 : float32?  \"v:0\"\n"
            "  return %5, %6 after %4\n");
}

TEST(Slice, WritesWaitForReadsThatDoNotDependOnThem) {
  const std::vector<std::string> nodes = {
      placeholder("x"), node("v", "VarHandleOp", {}, kFloats), node("add", "AssignAddVariableOp", {"v", "x"}, kFloats),
      node("before", "ReadVariableOp", {"v"}, kFloats), node("after", "ReadVariableOp", {"v", "^add"}, kFloats)};
  const Read read = slice_of(nodes, {.feeds = {"x:0"}, .fetches = {"before:0", "after:0"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(f[f.find("add")].after, std::vector<NodeId>{f.find("before")});
  EXPECT_EQ(f[f.find("after")].after, std::vector<NodeId>{f.find("add")});
}

TEST(Slice, NodesThatOthersOnlyWaitForAreNotComputed) {
  const std::vector<std::string> nodes = {
      placeholder("x"),
      node("v", "VarHandleOp", {}, kFloats),
      node("add", "AssignAddVariableOp", {"v", "x"}, kFloats),
      node("read", "ReadVariableOp", {"v", "^add"}, kFloats),
      float_node("unread", "AddV2", {"read", "x"}),
      node("group", "NoOp", {"^unread"}),
      float_node("y", "Identity", {"x", "^group"}),
  };
  const Read read = slice_of(nodes, {.feeds = {"x:0"}, .fetches = {"y:0"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(f.find("unread"), -1);
  EXPECT_EQ(f.find("group"), -1);
  EXPECT_TRUE(f[f.results.front().value.node].kind == Kind::kArgument) << to_text(f);
  EXPECT_EQ(f.control_results, std::vector<NodeId>{f.find("add")}) << "what has an effect still runs";
}

TEST(Slice, EffectsComeInTheOrderThatAnyNodesBetweenThemTell) {
  const std::vector<std::string> nodes = {
      placeholder("x"),
      node("v", "VarHandleOp", {}, kFloats),
      node("w", "VarHandleOp", {}, kFloats),
      node("first", "AssignAddVariableOp", {"v", "x"}, kFloats),
      float_node("between", "AddV2", {"x", "x", "^first"}),
      float_node("gate", "Identity", {"between"}),
      node("group", "NoOp", {"^gate"}),
      node("second", "AssignAddVariableOp", {"w", "x", "^group"}, kFloats),
      node("third", "AssignAddVariableOp", {"v", "gate"}, kFloats),
  };
  const Read read = slice_of(nodes, {.feeds = {"x:0"}, .targets = {"second", "third"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(std::ranges::count(f[f.find("second")].after, f.find("first")), 1) << to_text(f);
  EXPECT_EQ(f[f.find("third")].after, std::vector<NodeId>{f.find("first")}) << to_text(f);
  EXPECT_TRUE(f[f.find("between")].after.empty());
}

TEST(Slice, NothingIsTidiedWhereTheOverflowWordIsRead) {
  const std::vector<std::string> nodes = {
      placeholder("x"),
      float_node("twice", "AddV2", {"x", "x"}),
      node("status", "NpuGetFloatStatusV2", {"^twice"}),
  };
  const Read read = slice_of(nodes, {.feeds = {"x:0"}, .fetches = {"status:0"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(f[f.find("status")].after, std::vector<NodeId>{f.find("twice")}) << to_text(f);
}

TEST(Slice, WhatTheClientKeepsIsToldWithANameOfItsSession) {
  const std::vector<std::string> nodes = {
      node("q", "FIFOQueueV2", {}, {{"shared_name", text_value("")}, {"container", text_value("")}}),
      node("size", "QueueSizeV2", {"q"})};
  const Read read = slice_of(nodes, {.fetches = {"size:0"}});
  ASSERT_EQ(read.slice.resources.size(), 1u);
  EXPECT_FALSE(read.slice.resources[0].variable);
  EXPECT_NE(read.slice.resources[0].node_def.find("s/q"), std::string::npos);
  EXPECT_EQ(read.slice.function->arguments.size(), 1u);
}

TEST(Slice, NodesThatAreToRunOnTheHostLeaveAssignmentsToTheNpu) {
  const std::string on_host = message([](auto& w) { w.add_bool(field::kB, true); });
  const auto marked = [&](Attrs attributes) {
    attributes.emplace_back("_without_npu_compile", on_host);
    return attributes;
  };
  const std::vector<std::string> nodes = {placeholder("x"), node("v", "VarHandleOp", {}, marked(kFloats)),
                                          node("assign", "AssignVariableOp", {"v", "x"}, marked(kFloats)),
                                          node("y", "AddV2", {"x", "x"}, marked({{"T", type_value(kFloat)}}))};
  const Read read = slice_of(nodes, {.feeds = {"x:0"}, .fetches = {"y:0"}, .targets = {"assign"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(f[f.find("assign")].op, "AssignVariableOp");
  EXPECT_EQ(f[f.find("y")].op, "host:AddV2");
}

TEST(Slice, ReferencesThatNobodyKnowsAreRefusedByName) {
  const std::vector<std::string> nodes = {node("v", "VariableV2", {}, kFloats), float_node("bar", "Barrier", {"v"})};
  const std::string text = refusal(nodes, {.targets = {"bar"}});
  EXPECT_NE(text.find("bar (Barrier)"), std::string::npos) << text;
  EXPECT_NE(text.find("enable_resource_variables"), std::string::npos) << text;
}

std::vector<std::string> branch() {
  return {placeholder("p", kBool),
          placeholder("x"),
          node("at", "Switch", {"x", "p"}, kOfFloat),
          float_node("twice", "AddV2", {"at:1", "at:1"}),
          float_node("same", "Identity", {"at:0"}),
          merge("cond/Merge", "same", "twice"),
          float_node("y", "AddV2", {"cond/Merge", "x"})};
}

TEST(Branch, BecomesAnIf) {
  const Read read = slice_of(branch(), {.feeds = {"p:0", "x:0"}, .fetches = {"y:0", "cond/Merge:1"}});
  EXPECT_EQ(text_of(read, "s@1"),
            "function s@1(p:0: bool?, x:0: float32?) -> (y:0: float32?, cond/Merge:1: int32?)\n"
            "  %2 = If(%0, %1) else_branch=@s@1/cond/else then_branch=@s@1/cond/then : float32?, int32?  \"cond\"\n"
            "  %3 = AddV2(%2:0, %1) T=float32 : float32?  \"y\"\n"
            "  return %3, %2:1\n");
  EXPECT_NE(text_of(read, "s@1/cond/then").find("AddV2(%0, %0)"), std::string::npos);
  EXPECT_NE(text_of(read, "s@1/cond/else").find("return %0"), std::string::npos);
}

TEST(Branch, AConditionIsOneWhateverWayItComes) {
  const Attrs of_bool = {{"T", type_value(kBool)}};
  const std::vector<std::string> nodes = {
      placeholder("p", kBool),
      placeholder("q", kBool),
      placeholder("x"),
      node("q_id", "Identity", {"q"}, of_bool),
      node("at", "Switch", {"x", "p"}, kOfFloat),
      node("q_in", "Switch", {"q", "p"}, of_bool),
      node("one", "Switch", {"at:1", "q_id"}, kOfFloat),
      node("other", "Switch", {"at:1", "q_in:1"}, kOfFloat),
      merge("cond/inner/Merge", "one:0", "other:1"),
      merge("cond/Merge", "at:0", "cond/inner/Merge"),
  };
  const Read read = slice_of(nodes, {.feeds = {"p:0", "q:0", "x:0"}, .fetches = {"cond/Merge:0"}});
  const Function& taken = read.program.get("s@1/cond/then");
  EXPECT_EQ(std::ranges::count(taken.nodes, Kind::kIf, &Node::kind), 1) << to_text(taken);
}

TEST(Branch, ValuesOfOneSideGoOnUnderTheSameCondition) {
  std::vector<std::string> nodes = branch();
  // Another branch of the same condition goes on with what the first one computed, when the first has ended.
  nodes.push_back(node("again", "Switch", {"y", "p"}, kOfFloat));
  nodes.push_back(float_node("sum", "AddV2", {"again:1", "twice"}));
  nodes.push_back(merge("z", "again:0", "sum"));
  const Read read = slice_of(nodes, {.feeds = {"p:0", "x:0"}, .fetches = {"z:0"}});
  EXPECT_NE(text_of(read, "s@1/cond/else").find("FakeParam"), std::string::npos) << text_of(read, "s@1/cond/else");
  const Function& f = *read.slice.function;
  EXPECT_EQ(std::ranges::count(f.nodes, Kind::kIf, &Node::kind), 2);
}

TEST(Branch, ValuesOfOneSideGoOnUnderTheConditionsThatTheyHadThere) {
  const std::vector<std::string> nodes = {
      placeholder("p", kBool),
      placeholder("q", kBool),
      placeholder("x"),
      node("at", "Switch", {"x", "p"}, kOfFloat),
      node("in", "Switch", {"at:1", "q"}, kOfFloat),
      float_node("yes", "AddV2", {"in:1", "in:1"}),
      float_node("no", "AddV2", {"in:0", "in:0"}),
      float_node("other", "AddV2", {"at:1", "at:1"}),
      merge("first/Merge", "at:0", "other"),
      float_node("between", "AddV2", {"first/Merge", "x"}),
      // It comes when the first If node has given what it chooses from: where q has decided already.
      node("inner/Merge", "Merge", {"no", "yes", "^between"}, {{"T", type_value(kFloat)}, {"N", int_value(2)}}),
      merge("second/Merge", "at:0", "inner/Merge"),
  };
  const Read read = slice_of(nodes, {.feeds = {"p:0", "q:0", "x:0"}, .fetches = {"second/Merge:0"}});
  const Function& f = *read.slice.function;
  EXPECT_EQ(std::ranges::count(f.nodes, Kind::kIf, &Node::kind), 2) << to_text(f);
  const Function& taken = read.program.get("s@1/second/then");
  EXPECT_EQ(std::ranges::count(taken.nodes, Kind::kIf, &Node::kind), 1) << to_text(taken);
  for (const auto& [name, one] : read.program.functions)
    EXPECT_EQ(std::ranges::count(one->nodes, "_Missing", &Node::op), 0) << name << ": nobody asks for one side alone";
}

TEST(Branch, WhatIsNotMergedIsMissingOnTheOtherSide) {
  const Read read = slice_of(branch(), {.feeds = {"p:0", "x:0"}, .fetches = {"twice:0", "at:0"}});
  EXPECT_NE(text_of(read, "s@1/twice/else").find("_Missing"), std::string::npos) << text_of(read, "s@1");
  EXPECT_NE(text_of(read, "s@1/twice/then").find("_Missing"), std::string::npos) << "at:0";
}

TEST(Branch, WhatWasChosenGoesOnInAnotherIf) {
  std::vector<std::string> nodes = branch();
  nodes.push_back(float_node("more", "AddV2", {"cond/Merge", "at:1"}));
  nodes.push_back(merge("z", "same", "more"));
  const Read read = slice_of(nodes, {.feeds = {"p:0", "x:0"}, .fetches = {"z:0"}});
  EXPECT_EQ(std::ranges::count(read.slice.function->nodes, Kind::kIf, &Node::kind), 2);
}

TEST(Branch, MergesThatCannotChooseAreRefused) {
  const auto said = [](const std::vector<std::string>& merged, int64_t count) {
    std::vector<std::string> nodes = branch();
    nodes.push_back(node("z", "Merge", merged, {{"T", type_value(kFloat)}, {"N", int_value(count)}}));
    return refusal(nodes, {.feeds = {"p:0", "x:0"}, .fetches = {"z:0"}});
  };
  const std::string waits = said({"same", "twice", "^same"}, 2);
  EXPECT_NE(waits.find("node z merges the two sides of a condition, and waits for one of them"), std::string::npos);
  const std::string three = said({"same", "twice", "twice"}, 3);
  EXPECT_NE(three.find("node z merges 3 values"), std::string::npos) << three;
}

TEST(Branch, WhatIsNoChoiceIsRefused) {
  std::vector<std::string> nodes = branch();
  nodes.push_back(merge("both", "x", "y"));
  const std::string other = refusal(nodes, {.feeds = {"p:0", "x:0"}, .fetches = {"both:0"}});
  EXPECT_NE(other.find("node both merges"), std::string::npos) << other;
}

std::vector<std::string> loop() {
  return {placeholder("x"),
          placeholder("end"),
          enter("enter", "x", "while/while_context"),
          enter("limit", "end", "while/while_context"),
          merge("merge", "enter", "next"),
          node("less", "Less", {"merge", "limit"}, kOfFloat),
          node("go", "LoopCond", {"less"}),
          node("turn", "Switch", {"merge", "go"}, kOfFloat),
          float_node("twice", "AddV2", {"turn:1", "turn:1"}),
          float_node("next", "NextIteration", {"twice"}),
          float_node("exit", "Exit", {"turn:0"}),
          float_node("y", "AddV2", {"exit", "x"})};
}

TEST(Loop, BecomesAWhile) {
  const Read read = slice_of(loop(), {.feeds = {"x:0", "end:0"}, .fetches = {"y:0"}});
  EXPECT_EQ(text_of(read, "s@1"),
            "function s@1(x:0: float32?, end:0: float32?) -> (y:0: float32?)\n"
            "  %3 = While(%0, %1) body=@s@1/while/body cond=@s@1/while/cond : float32?, float32?  \"while\"\n"
            "  %2 = AddV2(%3:0, %0) T=float32 : float32?  \"y\"\n"
            "  return %2\n");
  EXPECT_EQ(text_of(read, "s@1/while/body"),
            "function s@1/while/body(merge: float32?, limit: float32?) -> (next: float32?, limit: float32?)\n"
            "  %2 = AddV2(%0, %0) T=float32 : float32?  \"twice\"\n"
            "  return %2, %1\n");
  EXPECT_NE(text_of(read, "s@1/while/cond").find("Less(%0, %1)"), std::string::npos);
}

TEST(Loop, WritesInItWaitForReadsToo) {
  std::vector<std::string> nodes = loop();
  nodes.push_back(node("v", "VarHandleOp", {}, kFloats));
  nodes.push_back(node("handle", "Enter", {"v"},
                       {{"T", type_value(kResourceType)}, {"frame_name", text_value("while/while_context")}}));
  nodes.push_back(node("read", "ReadVariableOp", {"handle"}, kFloats));
  nodes.push_back(float_node("more", "AddV2", {"read", "turn:1"}));
  nodes.push_back(node("add", "AssignAddVariableOp", {"handle", "turn:1"}, kFloats));
  nodes[8] = float_node("twice", "AddV2", {"turn:1", "more"});
  nodes[9] = node("next", "NextIteration", {"twice", "^add"}, kOfFloat);
  const Read read = slice_of(nodes, {.feeds = {"x:0", "end:0"}, .fetches = {"y:0"}});
  const Function& body = read.program.get("s@1/while/body");
  EXPECT_EQ(body[body.find("add")].after, std::vector<NodeId>{body.find("read")}) << to_text(body);
}

TEST(Loop, ValuesInsideAreNotTakenOut) {
  for (const char* inside : {"twice:0", "merge:0", "next:0"}) {
    const std::string text = refusal(loop(), {.feeds = {"x:0", "end:0"}, .fetches = {inside}});
    EXPECT_NE(text.find("is inside the loop while/while_context"), std::string::npos) << text;
  }
  std::vector<std::string> nodes = loop();
  nodes.push_back(enter("other", "x", "while/while_context"));
  nodes.push_back(float_node("late", "AddV2", {"next", "limit"}));
  nodes.push_back(float_node("again", "NextIteration", {"late"}));
  nodes.push_back(merge("second", "other", "again"));
  nodes.push_back(node("leave", "Switch", {"second", "go"}, kOfFloat));
  nodes.push_back(float_node("out", "Exit", {"leave:0"}));
  const std::string text = refusal(nodes, {.feeds = {"x:0", "end:0"}, .fetches = {"out:0"}});
  EXPECT_NE(text.find("node next is used"), std::string::npos) << text;
}

TEST(Loop, WithoutAConditionIsRefused) {
  std::vector<std::string> nodes = {placeholder("x"), enter("enter", "x", "odd"),
                                    float_node("exit", "Exit", {"enter"})};
  const std::string text = refusal(nodes, {.feeds = {"x:0"}, .fetches = {"exit:0"}});
  EXPECT_NE(text.find("frame odd (node enter) has no LoopCond"), std::string::npos) << text;
  nodes = {placeholder("x"), float_node("exit", "Exit", {"x"})};
  const std::string other = refusal(nodes, {.feeds = {"x:0"}, .fetches = {"exit:0"}});
  EXPECT_NE(other.find("node exit leaves a frame"), std::string::npos) << other;
}

}  // namespace
}  // namespace npu::graph::tensorflow
