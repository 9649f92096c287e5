// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_array.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/value/element_limit.h"

namespace npu::graph {
namespace {

using Floats = std::vector<float>;
using Positions = std::vector<int64_t>;
const PartialShape kAny = PartialShape::unknown();

TensorArray array_of(int64_t size, TensorArray::Form form = {.name = "a"}) {
  return {0, ListType(ValueType::tensor(DType::kFloat), kAny), size, std::move(form)};
}

Value row(float first) { return value_of<float>({2}, {first, first + 1}); }
Value rows() { return value_of<float>({3, 2}, {1, 2, 3, 4, 5, 6}); }

void fill(TensorArray& array, int64_t count) {
  for (int64_t i = 0; i < count; ++i) array.write(i, row(static_cast<float>(10 * i)).tensor);
}

template <class Work>
std::string refusal(Work&& work, Code code = Code::kNnInvalidParam) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.message();
  }
  return "accepted";
}

TEST(TensorArray, WhatIsWrittenLiesInOneBlock) {
  TensorArray array = array_of(3, {.name = "a", .clears = false});
  for (const int64_t i : {2, 0, 1}) array.write(i, row(static_cast<float>(10 * i)).tensor);
  const Value all = array.gather(Positions{0, 1, 2}, kAny), last = array.gather(Positions{1, 2}, kAny);
  EXPECT_EQ(numbers_of<float>(all), (Floats{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(last.tensor.bytes(), all.tensor.bytes() + 8);  // a view
  EXPECT_EQ(array.read(1).tensor.bytes(), all.tensor.bytes() + 8);
  std::vector<int64_t> lengths;
  const Value joined = array.concat(kAny, lengths);
  EXPECT_EQ(joined.tensor.data, all.tensor.data);
  EXPECT_EQ(joined.tensor.shape, (Dims{6}));
  EXPECT_EQ(lengths, (Positions{2, 2, 2}));
}

TEST(TensorArray, WhatIsScatteredWholeIsNotCopied) {
  TensorArray array = array_of(3);
  const Value all = rows();
  array.scatter(Positions{0, 1, 2}, all);
  EXPECT_EQ(array.read(1).tensor.bytes(), all.tensor.bytes() + 8);
  EXPECT_EQ(array.read(2).owner.get(), all.owner.get());
  TensorArray again = array_of(3);
  again.scatter(Positions{0, 1, 2}, all);
  EXPECT_EQ(again.gather(Positions{0, 1, 2}, kAny).tensor.bytes(), all.tensor.bytes());
}

TEST(TensorArray, GrowsAndTakesItsBlockAlong) {
  TensorArray array = array_of(0, {.name = "a", .grows = true});
  fill(array, 40);
  Floats wanted;
  Positions all;
  for (int64_t i = 0; i < 40; ++i)
    all.push_back(i), wanted.push_back(static_cast<float>(10 * i)), wanted.push_back(static_cast<float>(10 * i + 1));
  EXPECT_EQ(numbers_of<float>(array.gather(all, kAny)), wanted);
}

TEST(TensorArray, ALongArrayOfWhichLittleIsWrittenTakesLittleMemory) {
  TensorArray array = array_of(1 << 20, {.name = "a", .clears = false});
  array.write(7, value_of<float>({128}, Floats(128, 3)).tensor);  // a block would be 512 MiB
  array.write(8, value_of<float>({128}, Floats(128, 4)).tensor);
  EXPECT_EQ(numbers_of<float>(array.read(7)), Floats(128, 3));
  EXPECT_EQ(numbers_of<float>(array.gather(Positions{8, 7}, kAny)).front(), 4);
}

TEST(TensorArray, TellsPlansTheShapeOfItsElementsAndNotTheirNumber) {
  const auto key_of = [](const TensorArray& array) {
    std::string key;
    array.add_traits(key);
    return key;
  };
  TensorArray array = array_of(3), other = array_of(7);
  EXPECT_EQ(key_of(array), key_of(other));
  array.write(0, row(1).tensor);
  const std::string one = key_of(array);
  EXPECT_NE(one, key_of(other));
  EXPECT_EQ(array.traits(), "array of float32? [2]");
  array.write(1, row(1).tensor);
  EXPECT_EQ(key_of(array), one);
  const auto gradient = array.gradient("g", {});
  EXPECT_EQ(key_of(array), one);  // its elements are as those of the array
  gradient->write(2, value_of<float>({}, {1}).tensor);
  EXPECT_NE(key_of(array), one);
  EXPECT_EQ(array.traits(), "array of float32? [2], gradients g: float32? mixed");
  array.write(2, value_of<float>({}, {1}).tensor);
  EXPECT_TRUE(array.type().mixed);
}

TEST(TensorArray, GradientsAddUp) {
  TensorArray array = array_of(3);
  fill(array, 3);
  const auto gradient = array.gradient("g", {});
  EXPECT_EQ(gradient, array.gradient("g", {}));
  EXPECT_NE(gradient, array.gradient("h", {}));
  const Value first = rows();
  gradient->scatter(Positions{0, 1, 2}, first);
  gradient->write(1, row(100).tensor), gradient->write(1, row(1000).tensor);
  gradient->split(Positions{2, 2, 2}, value_of<float>({6}, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(numbers_of<float>(gradient->gather(Positions{0, 1, 2}, kAny)), (Floats{2, 3, 1104, 1107, 6, 7}));
  EXPECT_EQ(numbers_of<float>(first), (Floats{1, 2, 3, 4, 5, 6}));  // somebody else's
}

TEST(TensorArray, GradientsOfWhatWasNotReadAreZeros) {
  TensorArray array = array_of(3);
  fill(array, 2);
  const auto gradient = array.gradient("g", {});
  EXPECT_EQ(numbers_of<float>(gradient->read(1)), (Floats{0, 0}));
  EXPECT_NE(refusal([&] { gradient->read(2); }).find("the element shape is not fully defined: <unknown>"),
            std::string::npos);
  const auto outer = array.gradient("outer", {3});
  EXPECT_EQ(outer->read(0).tensor.shape, (Dims{3, 2}));
}

TEST(TensorArray, LetsGoOfWhatWasRead) {
  TensorArray array = array_of(2);
  const Value all = rows();
  array.scatter(Positions{1, 0}, value_of<float>({2, 2}, {1, 2, 3, 4}));
  Value read = array.read(0);
  EXPECT_EQ(read.owner.use_count(), 2);  // the other row's
  EXPECT_EQ(refusal([&] { array.read(0); }),
            "TensorArray a: Could not read index 0 twice because it was cleared after a previous read (perhaps try "
            "setting clear_after_read = false?).");
  array.close();
  EXPECT_EQ(read.owner.use_count(), 1);
}

TEST(TensorArray, IsOfNoUseOnceClosed) {
  TensorArray array = array_of(2);
  const auto gradient = array.gradient("g", {});
  array.close();
  std::vector<int64_t> lengths;
  const std::function<void()> uses[] = {[&] { array.size(); },
                                        [&] { array.write(0, row(1).tensor); },
                                        [&] { array.scatter(Positions{}, rows()); },
                                        [&] { array.split(Positions{}, rows()); },
                                        [&] { array.read(0); },
                                        [&] { array.gather(Positions{}, kAny); },
                                        [&] { array.concat(kAny, lengths); },
                                        [&] { array.gradient("g", {}); }};
  for (const auto& use : uses) EXPECT_EQ(refusal(use), "TensorArray a has already been closed.");
  gradient->write(0, row(1).tensor);
}

TEST(TensorArray, HasABoundOfElements) {
  EXPECT_EQ(refusal([] { array_of(kMostElements + 1); }).find("16777217 elements are requested"), 0);
  TensorArray array = array_of(1, {.name = "a", .grows = true});
  for (const int64_t index : {kMostElements, int64_t{INT32_MAX}}) {
    EXPECT_NE(refusal([&] { array.write(index, row(1).tensor); }).find("at most 16777216"), std::string::npos);
    EXPECT_NE(refusal([&] { array.scatter(Positions{0, index, 1}, rows()); }).find("at most 16777216"),
              std::string::npos);
  }
  EXPECT_EQ(array.size(), 1);
}

TEST(TensorArray, TheShapeThatGatherAsksForIsDeclaredFromThenOn) {
  TensorArray array = array_of(3);
  array.write(0, row(1).tensor);
  array.gather(Positions{0}, PartialShape{Dims{2}});
  EXPECT_EQ(numbers_of<float>(array.read(1)), (Floats{0, 0}));
  EXPECT_NE(refusal([&] { array.write(2, value_of<float>({}, {1}).tensor); }).find("inferred element shape: [2]"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { array.gather(Positions{2}, PartialShape{Dims{3}}); }),
            "PartialTensorShape: Incompatible shapes during merge: [2] vs. [3]");
}

TEST(TensorArray, ReadingWhatWasNeverWrittenCountsAsReadingZeros) {
  const ListType pairs(ValueType::tensor(DType::kFloat), PartialShape{Dims{2}});
  TensorArray array(0, pairs, 2, {.name = "a"}), lasting(0, pairs, 2, {.name = "b", .clears = false});
  EXPECT_EQ(numbers_of<float>(array.read(0)), (Floats{0, 0}));
  EXPECT_NE(refusal([&] { array.read(0); }).find("Could not read index 0 twice"), std::string::npos);
  EXPECT_NE(refusal([&] { array.write(0, row(1).tensor); }).find("it has already been read"), std::string::npos);
  lasting.read(1);
  EXPECT_EQ(numbers_of<float>(lasting.gather(Positions{1, 1}, kAny)), (Floats{0, 0, 0, 0}));
}

TEST(TensorArray, RefusesNoElementsOfAnUnknownShape) {
  TensorArray array = array_of(0);
  std::vector<int64_t> lengths;
  const std::string told = refusal([&] { array.concat(kAny, lengths); }, Code::kFeatureUnsupported);
  EXPECT_NE(told.find("element_shape_except0 <unknown> is not fully defined"), std::string::npos) << told;
  EXPECT_EQ(refusal([] { array_of(-1); }), "Size should be >= 0.");
}

}  // namespace
}  // namespace npu::graph
