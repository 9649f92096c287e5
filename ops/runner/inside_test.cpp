// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/inside.h"

#include <gtest/gtest.h>

#include "ops/runner/observer.h"
#include "ops/runner/runner.h"

namespace npu::ops {
namespace {

/// Writes down what it is shown, and whose it is.
class Recorder final : public Observer {
 public:
  explicit Recorder(bool inside) : inside_(inside) {}
  struct Note final : Watch {
    explicit Note(Recorder& to) : recorder(to) {}
    void finished(const Execution& e) override {
      recorder.results.push_back(e.outputs.at(0).tensor.as<float>()[0]);
      recorder.shapes.push_back(e.outputs.at(0).tensor.shape);
    }
    Recorder& recorder;
  };
  std::unique_ptr<Watch> start(const Execution& e) override {
    starts.push_back(e);
    return std::make_unique<Note>(*this);
  }
  bool looks_inside() const override { return inside_; }

  std::vector<Execution> starts;
  std::vector<float> results;
  std::vector<Dims> shapes;

 private:
  const bool inside_;
};

class Inside : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const auto& recorder : all) remove_observer(*recorder);
  }
  Recorder& observe(bool inside) {
    add_observer(all.emplace_back(std::make_shared<Recorder>(inside)));
    return *all.back();
  }
  std::unique_ptr<Operator> doubled() {
    auto op = create(*find_operator("mul"));
    const Tensor tensor = make_tensor(x.data(), DType::kFloat, {2});
    op->def->field("self")->of<Operand>(*op) = {tensor, {}};
    op->def->field("other")->of<Operand>(*op) = {{}, Scalar(2.0)};
    op->def->field("out")->of<Tensor>(*op) = tensor;
    op->prepare();
    return op;
  }

  std::vector<float> x{3, 4};
  std::vector<std::shared_ptr<Recorder>> all;
};

TEST_F(Inside, OperatorsAreShownAsThoseOfTheirNode) {
  Recorder& recorder = observe(true);
  EXPECT_TRUE(observed_inside());
  Execution node;
  node.name.node = "dense", node.device = 3;
  const auto op = doubled();
  {
    const InsideScope scope(&node);
    EXPECT_TRUE(InsideScope::open());
    InsideScope::run(*op);
  }
  ASSERT_EQ(recorder.starts.size(), 1u);
  const Execution& seen = recorder.starts.front();
  EXPECT_EQ(seen.within, &node);
  EXPECT_EQ(seen.op, op.get());
  EXPECT_EQ(seen.name.node, "dense");
  EXPECT_EQ(seen.device, 3);
  EXPECT_EQ(seen.inputs.at(0).field, "self");
  EXPECT_EQ(recorder.results, (std::vector<float>{6}));
}

TEST_F(Inside, ShapesThatTheDataDecideAreTold) {
  Recorder& recorder = observe(true);
  std::vector<float> values{5, 5, 7, 5}, items(4);
  std::vector<int64_t> inverse(4);
  Tensor told = make_tensor(items.data(), DType::kFloat, {4});
  auto op = create(*find_operator("unique_in_order"));
  op->def->field("self")->of<Tensor>(*op) = make_tensor(values.data(), DType::kFloat, {4});
  op->def->field("inverse")->of<Tensor>(*op) = make_tensor(inverse.data(), DType::kInt64, {4});
  Tensor& y = op->def->field("y")->of<Tensor>(*op);
  y = told;
  y.origin = &told;
  op->prepare();
  const Execution node;
  const InsideScope scope(&node);
  InsideScope::run(*op);
  EXPECT_EQ(recorder.shapes, (std::vector<Dims>{{2}}));
  EXPECT_EQ(told.shape, (Dims{2}));
}

TEST_F(Inside, WhoDoesNotLookInsideIsNotShownThem) {
  Recorder &outside = observe(false), &inside = observe(true);
  const Execution node;
  const InsideScope scope(&node);
  InsideScope::run(*doubled());
  EXPECT_TRUE(outside.starts.empty());
  EXPECT_EQ(inside.starts.size(), 1u);
}

TEST_F(Inside, NobodyLooksInsideWhereNoneAsked) {
  observe(false);
  EXPECT_FALSE(observed_inside());
}

TEST_F(Inside, ScopesNestAndEnd) {
  EXPECT_FALSE(InsideScope::open());
  const Execution node;
  const InsideScope scope(&node);
  {
    const InsideScope closed(nullptr);
    EXPECT_FALSE(InsideScope::open());
  }
  EXPECT_TRUE(InsideScope::open());
}

}  // namespace
}  // namespace npu::ops
