// SPDX-License-Identifier: Apache-2.0
// Models of files: loading, what they tell of themselves, running, gears, and wrong uses.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "acl/include/acl/acl_mdl.h"
#include "acl/model/loaded.h"
#include "acl/model/model_fixture.h"

namespace npu::acl {
namespace {

class Models : public OnDevice {
 protected:
  void TearDown() override {
    for (const uint32_t id : loaded_) aclmdlUnload(id);
    if (desc_ != nullptr) aclmdlDestroyDesc(desc_);
  }
  uint32_t load(const std::string& bytes) {
    const ModelPath path(bytes);
    uint32_t id = 0;
    EXPECT_OK(aclmdlLoadFromFile(path.get(), &id));
    loaded_.push_back(id);
    return id;
  }
  aclmdlDesc* describe(uint32_t id) {
    if (desc_ == nullptr) desc_ = aclmdlCreateDesc();
    EXPECT_OK(aclmdlGetDesc(desc_, id));
    return desc_;
  }
  static void expect_refused(aclError code, const char* word, aclError got) {
    EXPECT_EQ(got, code);
    const std::string text = aclGetRecentErrMsg();
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  std::vector<uint32_t> loaded_;
  aclmdlDesc* desc_ = nullptr;
};

const std::vector<float> kIn = {1, 2, 3, 4, 5, 6}, kOut = {2, 6, 12, 8, 15, 24}, kSum = {20, 47};

TEST_F(Models, RunWhereTheirBuffersLie) {
  const uint32_t id = load(scaled_model({2, 3}));
  const Memory in(24), out(24), sum(8);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_OK(aclrtMemset(out.get(), 24, 0xff, 24));
    EXPECT_OK(aclmdlExecute(id, inputs, outputs));
    EXPECT_EQ(floats(out.get(), 6), kOut);
    EXPECT_EQ(floats(sum.get(), 2), kSum);
  }
  const aclTensorDesc* shape = aclmdlGetDatasetTensorDesc(outputs, 1);
  ASSERT_NE(shape, nullptr);
  EXPECT_EQ(aclGetTensorDescNumDims(shape), 1u);
  EXPECT_EQ(aclGetTensorDescDim(shape, 0), 2);
}

TEST_F(Models, RunOnStreamsAfterTheirDataSetsAreGone) {
  const uint32_t id = load(scaled_model({2, 3}));
  const Memory in(24), out(24), sum(8);
  const OwnStream stream;
  write(in, kIn);
  {
    Dataset inputs, outputs;
    inputs.add(in);
    outputs.add(out).add(sum);
    for (int i = 0; i < 10; ++i) EXPECT_OK(aclmdlExecuteAsync(id, inputs, outputs, stream));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(floats(out.get(), 6), kOut);
}

TEST_F(Models, AreNotRecorded) {
  const uint32_t id = load(scaled_model({2, 3}));
  const Memory in(24), out(24), sum(8);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  const OwnStream stream;
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  expect_refused(107000, "run a model on", aclmdlExecuteAsync(id, inputs, outputs, stream));
  aclmdlRI recording = nullptr;
  aclmdlRICaptureEnd(stream, &recording);
  if (recording != nullptr) aclmdlRIDestroy(recording);
  EXPECT_OK(aclmdlExecuteAsync(id, inputs, outputs, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
}

TEST_F(Models, RunWithALimit) {
  const uint32_t id = load(scaled_model({2, 3}));
  const Memory in(24), out(24), sum(8);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  aclmdlExecConfigHandle* limits = aclmdlCreateExecConfigHandle();
  int32_t limit = 60000;
  EXPECT_OK(aclmdlSetExecConfigOpt(limits, ACL_MDL_STREAM_SYNC_TIMEOUT, &limit, sizeof limit));
  EXPECT_OK(aclmdlExecuteV2(id, inputs, outputs, nullptr, limits));
  EXPECT_EQ(floats(sum.get(), 2), kSum);
  EXPECT_OK(aclmdlExecuteAsyncV2(id, inputs, outputs, nullptr, limits));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  limit = 0;
  expect_refused(100000, "-1", aclmdlSetExecConfigOpt(limits, ACL_MDL_EVENT_SYNC_TIMEOUT, &limit, sizeof limit));
  expect_refused(100000, "4 bytes", aclmdlSetExecConfigOpt(limits, ACL_MDL_EVENT_SYNC_TIMEOUT, &limit, 8));
  expect_refused(207000, "reserved", aclmdlSetExecConfigOpt(limits, ACL_MDL_WORK_SIZET, &limit, 4));
  expect_refused(100000, "attr is 9", aclmdlSetExecConfigOpt(limits, static_cast<aclmdlExecConfigAttr>(9), &limit, 4));
  EXPECT_OK(aclmdlDestroyExecConfigHandle(limits));
  expect_refused(100000, "not alive", aclmdlExecuteV2(id, inputs, outputs, nullptr, limits));
}

TEST_F(Models, InputAndOutputMayBeOneBuffer) {
  // The second result reads the argument after the first is written.
  graph::TestFunction f("main");
  const graph::Edge x = f.argument("x"), negative = f.node("Neg", {x});
  const graph::Edge sum = f.node("Sum", {x, f.constant<int32_t>({1}, {0})});
  f.with<bool>(sum, "keep_dims", false);
  const uint32_t id = load(model_of(f, {6}, {{"negative", negative}, {"sum", sum}}));
  const Memory both(24), total(4);
  write(both, kIn);
  Dataset inputs, outputs;
  inputs.add(both);
  outputs.add(both).add(total);
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_EQ(floats(both.get(), 6), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(floats(total.get(), 1), std::vector<float>{21});
}

TEST_F(Models, TellWhatTheyTakeAndGive) {
  const uint32_t id = load(scaled_model({2, 3}));
  aclmdlDesc* desc = describe(id);
  EXPECT_EQ(aclmdlGetNumInputs(desc), 1u);
  EXPECT_EQ(aclmdlGetNumOutputs(desc), 2u);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 24u);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(desc, 1), 8u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(desc, 0), "x");
  EXPECT_STREQ(aclmdlGetOutputNameByIndex(desc, 1), "sum");
  EXPECT_EQ(aclmdlGetInputDataType(desc, 0), ACL_FLOAT);
  EXPECT_EQ(aclmdlGetOutputDataType(desc, 0), ACL_FLOAT);
  EXPECT_EQ(aclmdlGetInputFormat(desc, 0), ACL_FORMAT_ND);
  EXPECT_EQ(aclmdlGetOutputFormat(desc, 0), ACL_FORMAT_ND);
  size_t index = 9;
  EXPECT_OK(aclmdlGetOutputIndexByName(desc, "sum", &index));
  EXPECT_EQ(index, 1u);
  aclmdlIODims dims;
  EXPECT_OK(aclmdlGetInputDims(desc, 0, &dims));
  EXPECT_STREQ(dims.name, "x");
  EXPECT_EQ(dims.dimCount, 2u);
  EXPECT_EQ(dims.dims[1], 3);
  EXPECT_OK(aclmdlGetInputDimsV2(desc, 0, &dims));
  EXPECT_OK(aclmdlGetCurOutputDims(desc, 1, &dims));
  EXPECT_EQ(dims.dims[0], 2);
  aclmdlIODimsRange range;
  EXPECT_OK(aclmdlGetInputDimsRange(desc, 0, &range));
  EXPECT_EQ(range.rangeCount, 2u);
  EXPECT_EQ(range.range[1][0], 3);
  EXPECT_EQ(range.range[1][1], 3);
  EXPECT_STREQ(aclmdlGetTensorRealName(desc, "sum"), "sum");
  aclmdlBatch batch;
  EXPECT_OK(aclmdlGetDynamicBatch(desc, &batch));
  EXPECT_EQ(batch.batchCount, 0u);
  EXPECT_OK(aclmdlUnload(loaded_.back()));
  loaded_.clear();
  EXPECT_EQ(aclmdlGetNumInputs(desc), 1u) << "a description outlives its model";
}

TEST_F(Models, TellTheNodesThatAnOperatorStandsFor) {
  const uint32_t id = load(scaled_model({2, 3}));
  aclmdlDesc* desc = describe(id);
  const char* none = aclmdlGetOpAttr(desc, "nothing", ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES);
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("nothing"), std::string::npos);
  const char* names = aclmdlGetOpAttr(desc, "n_Sum", ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES);
  ASSERT_NE(names, nullptr) << aclGetRecentErrMsg();
  EXPECT_STREQ(names, "[5]n_Sum");
  EXPECT_EQ(aclmdlGetOpAttr(desc, "n_Sum", "other"), nullptr);
}

TEST_F(Models, AreDescribedWithoutBeingLoaded) {
  const std::string bytes = scaled_model({2, 3});
  const ModelPath path(bytes);
  desc_ = aclmdlCreateDesc();
  EXPECT_OK(aclmdlGetDescFromFile(desc_, path.get()));
  EXPECT_EQ(aclmdlGetNumOutputs(desc_), 2u);
  EXPECT_OK(aclmdlGetDescFromMem(desc_, bytes.data(), bytes.size()));
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(desc_, 0), 24u);
  size_t work = 0, weights = 0;
  EXPECT_OK(aclmdlQuerySize(path.get(), &work, &weights));
  EXPECT_GT(work, 0u);
  EXPECT_GT(weights, 0u);
  size_t other = 0;
  EXPECT_OK(aclmdlQuerySizeFromMem(bytes.data(), bytes.size(), &work, &other));
  EXPECT_EQ(weights, other);
}

TEST_F(Models, LoadInEveryWay) {
  const std::string bytes = scaled_model({2, 3});
  const ModelPath path(bytes);
  size_t work = 0, weights = 0;
  EXPECT_OK(aclmdlQuerySize(path.get(), &work, &weights));
  const Memory work_memory(work), weight_memory(weights);
  const Memory in(24), out(24), sum(8);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  const auto runs = [&](uint32_t id) {
    EXPECT_OK(aclrtMemset(out.get(), 24, 0, 24));
    EXPECT_OK(aclmdlExecute(id, inputs, outputs));
    EXPECT_EQ(floats(out.get(), 6), kOut);
    EXPECT_OK(aclmdlUnload(id));
  };
  uint32_t id = 0;
  {
    const std::string copy = bytes;
    EXPECT_OK(aclmdlLoadFromMem(copy.data(), copy.size(), &id));
  }
  runs(id);
  EXPECT_OK(aclmdlLoadFromFileWithMem(path.get(), &id, work_memory.get(), work, weight_memory.get(), weights));
  EXPECT_EQ(floats(weight_memory.get(), 3), (std::vector<float>{1, 2, 3}));
  runs(id);
  EXPECT_OK(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &id, nullptr, 0, weight_memory.get(), weights));
  runs(id);
  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  const size_t type = ACL_MDL_LOAD_FROM_FILE;
  std::string own = path.get();
  const char* name = own.c_str();
  const int32_t priority = 3;
  EXPECT_OK(aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof type));
  EXPECT_OK(aclmdlSetConfigOpt(config, ACL_MDL_PRIORITY_INT32, &priority, sizeof priority));
  expect_refused(100000, "ACL_MDL_PATH_PTR", aclmdlLoadWithConfig(config, &id));
  EXPECT_OK(aclmdlSetConfigOpt(config, ACL_MDL_PATH_PTR, &name, sizeof name));
  own.assign(own.size(), '?');  // the name was copied
  EXPECT_OK(aclmdlLoadWithConfig(config, &id));
  runs(id);
  EXPECT_OK(aclmdlDestroyConfigHandle(config));
  uint32_t bundle = 0;
  EXPECT_OK(aclmdlBundleLoadFromFile(path.get(), &bundle));
  size_t count = 0;
  EXPECT_OK(aclmdlBundleGetModelNum(bundle, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(aclmdlBundleGetModelId(bundle, 0, &id));
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  expect_refused(100000, "1 model", aclmdlBundleGetModelId(bundle, 1, &id));
  EXPECT_OK(aclmdlBundleUnload(bundle));
  expect_refused(148053, "no bundle", aclmdlBundleUnload(bundle));
  EXPECT_OK(aclmdlBundleLoadFromMem(bytes.data(), bytes.size(), &bundle));
  EXPECT_OK(aclmdlBundleUnload(bundle));
}

TEST_F(Models, RunInTheGearThatIsChosen) {
  const uint32_t id = load(scaled_model({-1, 3}, {{"dynamic_batch_size", "1,2,4"}}));
  aclmdlDesc* desc = describe(id);
  EXPECT_EQ(aclmdlGetNumInputs(desc), 2u);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 48u) << "the largest gear";
  size_t index = 0;
  EXPECT_OK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &index));
  EXPECT_EQ(index, 1u);
  aclmdlIODims dims;
  EXPECT_OK(aclmdlGetInputDims(desc, 0, &dims));
  EXPECT_EQ(dims.dims[0], -1);
  EXPECT_OK(aclmdlGetCurOutputDims(desc, 0, &dims));
  EXPECT_EQ(dims.dims[0], 4);
  aclmdlBatch batch;
  EXPECT_OK(aclmdlGetDynamicBatch(desc, &batch));
  EXPECT_EQ(batch.batchCount, 3u);
  EXPECT_EQ(batch.batch[2], 4u);
  const Memory in(48), gear(aclmdlGetInputSizeByIndex(desc, index)), out(48), sum(16);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in).add(gear);
  outputs.add(out).add(sum);
  expect_refused(145013, "no size was chosen", aclmdlExecute(id, inputs, outputs));
  expect_refused(145013, "1; 2; 4", aclmdlSetDynamicBatchSize(id, inputs, index, 3));
  expect_refused(100000, "index is 0", aclmdlSetDynamicBatchSize(id, inputs, 0, 2));
  expect_refused(100019, "--dynamic_image_size", aclmdlSetDynamicHWSize(id, inputs, index, 2, 2));
  EXPECT_OK(aclmdlSetDynamicBatchSize(id, inputs, index, 2));
  int64_t chosen = 0;
  EXPECT_OK(aclrtMemcpy(&chosen, 8, gear.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(chosen, 2);
  EXPECT_OK(aclmdlGetCurOutputDims(desc, 0, &dims));
  EXPECT_EQ(dims.dims[0], 2);
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_EQ(floats(out.get(), 6), kOut);
  EXPECT_EQ(floats(sum.get(), 2), kSum);
}

TEST_F(Models, HaveGearsOfImagesAndOfSizes) {
  const uint32_t image =
      load(scaled_model({1, -1, -1, 3}, {{"dynamic_image_size", "1,2;2,2"}, {"input_format", "NHWC"}}));
  aclmdlHW sizes;
  EXPECT_OK(aclmdlGetDynamicHW(describe(image), static_cast<size_t>(-1), &sizes));
  EXPECT_EQ(sizes.hwCount, 2u);
  EXPECT_EQ(sizes.hw[1][0], 2u);
  const Memory in(48), out(48), sum(16), gear(16);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in).add(gear);
  outputs.add(out).add(sum);
  EXPECT_OK(aclmdlSetDynamicHWSize(image, inputs, 1, 1, 2));
  EXPECT_OK(aclmdlExecute(image, inputs, outputs));
  EXPECT_EQ(floats(out.get(), 6), kOut);
  const uint32_t dims = load(scaled_model({-1, -1, 3}, {{"dynamic_dims", "1,2;2,2"}}));
  size_t count = 0;
  EXPECT_OK(aclmdlGetInputDynamicGearCount(describe(dims), static_cast<size_t>(-1), &count));
  ASSERT_EQ(count, 2u);
  aclmdlIODims gears[2];
  EXPECT_OK(aclmdlGetInputDynamicDims(desc_, static_cast<size_t>(-1), gears, count));
  EXPECT_EQ(gears[0].dimCount, 3u);
  EXPECT_EQ(gears[0].dims[1], 2);
  EXPECT_OK(aclmdlSetInputDynamicDims(dims, inputs, 1, &gears[0]));
  EXPECT_OK(aclmdlExecute(dims, inputs, outputs));
  EXPECT_EQ(floats(sum.get(), 2), kSum);
  gears[0].dims[0] = 7;
  expect_refused(145013, "7,2,3", aclmdlSetInputDynamicDims(dims, inputs, 1, &gears[0]));
}

TEST_F(Models, TakeShapesFromTheCaller) {
  const uint32_t id = load(scaled_model({-1, -1, 3}, {{"input_shape", "x:1~2,-1,3"}}));
  aclmdlDesc* desc = describe(id);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 0u);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(desc, 0), 0u);
  const Memory in(24);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(nullptr, 0).add(nullptr, 0);
  expect_refused(145021, "aclmdlSetDatasetTensorDesc", aclmdlExecute(id, inputs, outputs));
  const auto shape = [&](std::vector<int64_t> dims) {
    aclTensorDesc* given = aclCreateTensorDesc(ACL_FLOAT, static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND);
    EXPECT_OK(aclmdlSetDatasetTensorDesc(inputs, given, 0));
    aclDestroyTensorDesc(given);
  };
  shape({1, 2, 4});
  expect_refused(145021, "1x2x4", aclmdlExecute(id, inputs, outputs));
  shape({3, 1, 3});
  expect_refused(145021, "1~2", aclmdlExecute(id, inputs, outputs));
  shape({1, 2, 3});
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  aclDataBuffer* made = aclmdlGetDatasetBuffer(outputs, 0);
  EXPECT_EQ(aclGetDataBufferSizeV2(made), 24u);
  EXPECT_EQ(floats(aclGetDataBufferAddr(made), 6), kOut);
  const aclTensorDesc* told = aclmdlGetDatasetTensorDesc(outputs, 0);
  EXPECT_EQ(aclGetTensorDescDim(told, 1), 2);
  for (size_t i = 0; i < 2; ++i) {
    aclDataBuffer* buffer = aclmdlGetDatasetBuffer(outputs, i);
    EXPECT_OK(aclrtFree(aclGetDataBufferAddr(buffer)));
    EXPECT_OK(aclUpdateDataBuffer(buffer, nullptr, 0));
  }
  expect_refused(145011, "null", aclmdlExecuteAsync(id, inputs, outputs, nullptr));
}

TEST_F(Models, KeepToTheBuffersOfTheirOutputs) {
  const uint32_t id = load(scaled_model({-1, -1, 3}, {{"input_shape", "x:1~2,-1,3"}}));
  const Memory in(24), out(24), sum(24);
  write(in, kIn);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out.get(), 20).add(sum);
  const int64_t dims[] = {1, 2, 3};
  aclTensorDesc* given = aclCreateTensorDesc(ACL_FLOAT, 3, dims, ACL_FORMAT_ND);
  EXPECT_OK(aclmdlSetDatasetTensorDesc(inputs, given, 0));
  aclDestroyTensorDesc(given);
  expect_refused(145012, "has 20 bytes", aclmdlExecute(id, inputs, outputs));
  EXPECT_OK(aclUpdateDataBuffer(aclmdlGetDatasetBuffer(outputs, 0), out.get(), 24));
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_EQ(floats(out.get(), 6), kOut);
}

TEST_F(Models, DescribeEachBufferOfADataSet) {
  Dataset outputs;
  outputs.add(nullptr, 0).add(nullptr, 0);
  const int64_t dims[] = {7};
  aclTensorDesc* given = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  EXPECT_OK(aclmdlSetDatasetTensorDesc(outputs, given, 1));
  aclDestroyTensorDesc(given);
  EXPECT_EQ(aclmdlGetDatasetTensorDesc(outputs, 0), nullptr);
  ASSERT_NE(aclmdlGetDatasetTensorDesc(outputs, 1), nullptr);
  EXPECT_EQ(aclGetTensorDescDim(aclmdlGetDatasetTensorDesc(outputs, 1), 0), 7);
}

TEST_F(Models, TakePicturesOfBytes) {
  const ModelPath conf(
      "aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 2 src_image_size_h: 2\n"
      "mean_chn_0: 1 mean_chn_1: 2 mean_chn_2: 3 }");
  const uint32_t id = load(scaled_model({1, 2, 2, 3}, {{"input_format", "NHWC"}, {"insert_op_conf", conf.get()}}));
  aclmdlDesc* desc = describe(id);
  EXPECT_EQ(aclmdlGetInputDataType(desc, 0), ACL_UINT8);
  EXPECT_EQ(aclmdlGetInputFormat(desc, 0), ACL_FORMAT_NHWC);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 12u);
  aclmdlInputAippType type;
  size_t attached = 0;
  EXPECT_OK(aclmdlGetAippType(id, 0, &type, &attached));
  EXPECT_EQ(type, ACL_DATA_WITH_STATIC_AIPP);
  EXPECT_EQ(attached, size_t{ACL_INVALID_NODE_INDEX});
  const Memory in(12), out(48), sum(16);
  EXPECT_OK(aclrtMemset(in.get(), 12, 5, 12));
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_EQ(floats(out.get(), 3), (std::vector<float>{8, 9, 8})) << "(5 - mean) * {2, 3, 4}";
  aclmdlAIPP* parameters = aclmdlCreateAIPP(1);
  expect_refused(145015, "aclmdlGetAippType", aclmdlSetInputAIPP(id, inputs, 0, parameters));
  EXPECT_OK(aclmdlDestroyAIPP(parameters));
}

TEST_F(Models, TakeThePicturesParametersWithTheRun) {
  const ModelPath conf("aipp_op { aipp_mode: dynamic max_src_image_size: 48 }");
  const uint32_t id = load(scaled_model({1, 2, 2, 3}, {{"input_format", "NHWC"}, {"insert_op_conf", conf.get()}}));
  aclmdlDesc* desc = describe(id);
  size_t index = 0;
  EXPECT_OK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_AIPP_NAME, &index));
  EXPECT_EQ(index, 1u);
  aclmdlInputAippType type;
  size_t attached = 0;
  EXPECT_OK(aclmdlGetAippType(id, 0, &type, &attached));
  EXPECT_EQ(type, ACL_DATA_WITH_DYNAMIC_AIPP);
  EXPECT_EQ(attached, 1u);
  const Memory in(48), block(aclmdlGetInputSizeByIndex(desc, index)), out(48), sum(16);
  EXPECT_OK(aclrtMemset(in.get(), 48, 5, 48));
  Dataset inputs, outputs;
  inputs.add(in).add(block);
  outputs.add(out).add(sum);
  aclmdlAIPP* parameters = aclmdlCreateAIPP(1);
  EXPECT_OK(aclmdlSetAIPPInputFormat(parameters, ACL_RGB888_U8));
  EXPECT_OK(aclmdlSetAIPPSrcImageSize(parameters, 2, 2));
  EXPECT_OK(aclmdlSetAIPPDtcPixelMean(parameters, 1, 2, 3, 0, 0));
  EXPECT_OK(aclmdlSetInputAIPP(id, inputs, index, parameters));
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_EQ(floats(out.get(), 3), (std::vector<float>{8, 9, 8}));
  EXPECT_OK(aclmdlSetAIPPByInputIndex(id, inputs, 0, parameters));
  expect_refused(145015, "index is 0", aclmdlSetInputAIPP(id, inputs, 0, parameters));
  EXPECT_OK(aclmdlDestroyAIPP(parameters));
}

struct Told {
  uint32_t device = 0, stream = 0, task = 0;
};
Told told_failure;

TEST_F(Models, TellWhichOperatorFailed) {
  // An index that is out of range is found when the model runs.
  graph::TestFunction f("main");
  const graph::Edge x = f.argument("x", graph::ValueType::tensor(DType::kInt32));
  const graph::Edge table = f.constant<float>({3}, {1, 2, 3}), axis = f.constant<int32_t>({}, {0});
  const graph::Edge out = f.node("GatherV2", {table, x, axis});
  const uint32_t id = load(model_of(f, {2}, {{"out", out}}));
  const Memory in(8), result(8);
  const int32_t wrong[] = {1, 99};
  EXPECT_OK(aclrtMemcpy(in.get(), 8, wrong, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(result);
  EXPECT_OK(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo* info) {
    told_failure = {aclrtGetDeviceIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
                    aclrtGetTaskIdFromExceptionInfo(info)};
  }));
  const OwnStream stream;
  EXPECT_OK(aclmdlExecuteAsync(id, inputs, outputs, stream));
  EXPECT_NE(aclrtSynchronizeStream(stream), 0);
  EXPECT_OK(aclrtSetExceptionInfoCallback(nullptr));
  char name[64] = {}, small[2] = {};
  aclTensorDesc *takes = nullptr, *gives = nullptr;
  size_t input_count = 0, output_count = 0;
  const auto [device, stream_id, task] = told_failure;
  EXPECT_OK(aclmdlCreateAndGetOpDesc(device, stream_id, task, name, sizeof name, &takes, &input_count, &gives,
                                     &output_count));
  EXPECT_STREQ(name, "n_GatherV2");
  ASSERT_EQ(input_count, 3u);
  EXPECT_EQ(output_count, 1u);
  EXPECT_EQ(aclGetTensorDescType(aclGetTensorDescByIndex(takes, 1)), ACL_INT32);
  EXPECT_EQ(aclGetTensorDescByIndex(takes, 3), nullptr);
  aclDestroyTensorDesc(takes);
  aclDestroyTensorDesc(gives);
  expect_refused(100000, "no model whose operator failed",
                 aclmdlCreateAndGetOpDesc(device, stream_id, task + 7, name, sizeof name, &takes, &input_count, &gives,
                                          &output_count));
  expect_refused(
      100000, "opNameLen is 2",
      aclmdlCreateAndGetOpDesc(device, stream_id, task, small, 2, &takes, &input_count, &gives, &output_count));
}

TEST_F(Models, NamesThatAreTooLongAreTurnedBack) {
  const std::string name(200, 'n');
  graph::TestFunction f("main");
  const graph::Edge x = f.argument(name);
  const uint32_t id = load(model_of(f, {2}, {{"out", f.node("Neg", {x})}}));
  aclmdlIODims dims;
  EXPECT_OK(aclmdlGetInputDims(describe(id), 0, &dims));
  EXPECT_EQ(dims.name, "acl_modelId_" + std::to_string(id) + "_input_0");
  EXPECT_EQ(aclmdlGetTensorRealName(desc_, dims.name), name);
  EXPECT_EQ(aclmdlGetTensorRealName(desc_, "other"), nullptr);
}

TEST_F(Models, AreCalledAsTheirFile) {
  graph::TestFunction f("graph_of_the_framework");
  const graph::Edge x = f.argument("x");
  graph::Function& made = *f.function();
  made.results = {{"out", f.node("Neg", {x})}};
  made.arguments[0].value.shape = made.nodes[0].outputs[0].shape = {Dims{2}};
  graph::Imported imported;
  imported.program.add(f.function());
  imported.function = made.name;
  graph::convert::Request request = graph::convert::read_request({});
  request.name = "chosen";
  const uint32_t id = load(graph::model::to_bytes(graph::convert::convert(std::move(imported), request)));
  EXPECT_EQ(aclmdlGetNumInputs(describe(id)), 1U);
  EXPECT_EQ(find_model(id)->executable().function().name, "chosen");
}

TEST_F(Models, WrongFiles) {
  uint32_t id = 0;
  size_t work = 0, weights = 0;
  expect_refused(145002, "/nowhere.om", aclmdlLoadFromFile("/nowhere.om", &id));
  expect_refused(145002, "no file", aclmdlLoadFromFile("/tmp", &id));
  expect_refused(100000, "modelPath is null", aclmdlLoadFromFile(nullptr, &id));
  expect_refused(145002, "/nowhere.om", aclmdlQuerySize("/nowhere.om", &work, &weights));
  const ModelPath vendor(std::string("IMOD") + std::string(500, '\1')), text("hello"), empty("");
  expect_refused(100012, "vendor's atc", aclmdlLoadFromFile(vendor.get(), &id));
  expect_refused(100012, "no container", aclmdlLoadFromFile(text.get(), &id));
  expect_refused(145006, "empty", aclmdlLoadFromFile(empty.get(), &id));
  const std::string good = scaled_model({2, 3});
  expect_refused(100012, "damaged", aclmdlLoadFromMem(good.data(), good.size() - 1, &id));
  expect_refused(145006, "modelSize is 0", aclmdlLoadFromMem(good.data(), 0, &id));
  expect_refused(100000, "model is null", aclmdlLoadFromMem(nullptr, 4, &id));
  expect_refused(100000, "modelId is null", aclmdlLoadFromMem(good.data(), good.size(), nullptr));
}

TEST_F(Models, WrongMemory) {
  const ModelPath path(scaled_model({2, 3}));
  uint32_t id = 0;
  size_t work = 0, weights = 0;
  EXPECT_OK(aclmdlQuerySize(path.get(), &work, &weights));
  const Memory memory(weights);
  std::vector<char> host(weights);
  expect_refused(145007, "weightPtr is null", aclmdlLoadFromFileWithMem(path.get(), &id, nullptr, 0, nullptr, weights));
  expect_refused(145007, "weightPtr has 1 bytes",
                 aclmdlLoadFromFileWithMem(path.get(), &id, nullptr, 0, memory.get(), 1));
  expect_refused(107000, "weightPtr", aclmdlLoadFromFileWithMem(path.get(), &id, nullptr, 0, host.data(), weights));
  expect_refused(145007, "workPtr", aclmdlLoadFromFileWithMem(path.get(), &id, memory.get(), 1, nullptr, 0));
}

TEST_F(Models, WrongConfigurations) {
  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  uint32_t id = 0;
  size_t type = 9;
  int32_t priority = 8;
  expect_refused(100000, "no load type", aclmdlLoadWithConfig(config, &id));
  expect_refused(100000, "the load type is 9", aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, 8));
  expect_refused(100000, "8 bytes", aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, 4));
  expect_refused(100000, "priority is 8", aclmdlSetConfigOpt(config, ACL_MDL_PRIORITY_INT32, &priority, 4));
  expect_refused(100000, "attr is 99", aclmdlSetConfigOpt(config, static_cast<aclmdlConfigAttr>(99), &type, 8));
  expect_refused(100000, "attrValue is null", aclmdlSetConfigOpt(config, ACL_MDL_PATH_PTR, nullptr, 8));
  type = ACL_MDL_LOAD_FROM_FILE_WITH_Q;
  EXPECT_OK(aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, 8));
  expect_refused(207000, "queues", aclmdlLoadWithConfig(config, &id));
  EXPECT_OK(aclmdlDestroyConfigHandle(config));
  expect_refused(100000, "not alive", aclmdlDestroyConfigHandle(config));
}

TEST_F(Models, WrongRuns) {
  const uint32_t id = load(scaled_model({2, 3}));
  const Memory in(24), out(24), sum(8), small(4);
  write(in, kIn);
  std::vector<float> host(6);
  Dataset good, none, results, few, null, tiny, from_host, short_out;
  good.add(in);
  results.add(out).add(sum);
  few.add(out);
  null.add(nullptr, 0);
  tiny.add(small);
  from_host.add(host.data(), 24);
  short_out.add(small).add(sum);
  expect_refused(145003, "no model 77", aclmdlExecute(77, good, results));
  expect_refused(100017, "0 buffers", aclmdlExecute(id, none, results));
  expect_refused(100018, "1 buffers", aclmdlExecute(id, good, few));
  expect_refused(145011, "null", aclmdlExecute(id, null, results));
  expect_refused(145012, "24 are needed", aclmdlExecute(id, tiny, results));
  expect_refused(145012, "output out", aclmdlExecute(id, good, short_out));
  expect_refused(107000, "input", aclmdlExecute(id, from_host, results));
  expect_refused(100000, "input is null", aclmdlExecute(id, nullptr, results));
  expect_refused(100000, "output is null", aclmdlExecute(id, good, nullptr));
  expect_refused(100019, "--dynamic_batch_size", aclmdlSetDynamicBatchSize(id, good, 0, 2));
  aclmdlDataset* gone = aclmdlCreateDataset();
  EXPECT_OK(aclmdlDestroyDataset(gone));
  expect_refused(100000, "not alive", aclmdlExecute(id, gone, results));
  expect_refused(100000, "not alive", aclmdlDestroyDataset(gone));
  expect_refused(100000, "dataBuffer is null", aclmdlAddDatasetBuffer(good, nullptr));
  EXPECT_EQ(aclmdlGetDatasetBuffer(good, 5), nullptr);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(gone), 0u);
  EXPECT_EQ(aclmdlGetDatasetTensorDesc(good, 5), nullptr);
  EXPECT_OK(aclmdlExecute(id, good, results));
}

TEST_F(Models, WrongDescriptions) {
  aclmdlDesc* empty = aclmdlCreateDesc();
  aclmdlIODims dims;
  EXPECT_EQ(aclmdlGetNumInputs(empty), 0u);
  expect_refused(100000, "empty", aclmdlGetInputDims(empty, 0, &dims));
  expect_refused(145003, "no model", aclmdlGetDesc(empty, 4711));
  EXPECT_OK(aclmdlDestroyDesc(empty));
  expect_refused(100000, "not alive", aclmdlDestroyDesc(empty));
  EXPECT_EQ(aclmdlGetNumInputs(empty), 0u);
  EXPECT_EQ(aclmdlGetNumOutputs(nullptr), 0u);
  aclmdlDesc* desc = describe(load(scaled_model({2, 3})));
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 1), 0u);
  EXPECT_EQ(aclmdlGetInputNameByIndex(desc, 1), nullptr);
  EXPECT_EQ(aclmdlGetOutputDataType(desc, 2), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclmdlGetInputFormat(desc, 2), ACL_FORMAT_UNDEFINED);
  expect_refused(100000, "1 inputs", aclmdlGetInputDims(desc, 1, &dims));
  expect_refused(100000, "dims is null", aclmdlGetInputDims(desc, 0, nullptr));
  size_t index = 0;
  expect_refused(100000, "there are out, sum", aclmdlGetOutputIndexByName(desc, "y", &index));
}

TEST_F(Models, BelongToTheirContext) {
  const uint32_t id = load(scaled_model({2, 3}));
  aclrtContext first = nullptr, second = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&first));
  EXPECT_OK(aclrtCreateContext(&second, 0));
  const Memory in(24), out(24), sum(8);
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  expect_refused(107004, "another context", aclmdlExecute(id, inputs, outputs));
  expect_refused(107004, "another context", aclmdlUnload(id));
  EXPECT_OK(aclrtSetCurrentContext(first));
  EXPECT_OK(aclmdlExecute(id, inputs, outputs));
  EXPECT_OK(aclrtDestroyContext(second));
}

TEST_F(Models, UnloadingWaitsForTheirRuns) {
  const uint32_t id = load(scaled_model({2, 3}));
  loaded_.clear();
  const Memory in(24), out(24), sum(8);
  write(in, kIn);
  const OwnStream stream;
  Dataset inputs, outputs;
  inputs.add(in);
  outputs.add(out).add(sum);
  for (int i = 0; i < 50; ++i) EXPECT_OK(aclmdlExecuteAsync(id, inputs, outputs, stream));
  EXPECT_OK(aclmdlUnload(id));
  EXPECT_EQ(floats(out.get(), 6), kOut);
  expect_refused(145003, "unloaded", aclmdlExecute(id, inputs, outputs));
  expect_refused(145003, "unloaded", aclmdlUnload(id));
  EXPECT_OK(aclrtSynchronizeStream(stream));
}

TEST_F(Models, RunInManyThreadsAtOnce) {
  const uint32_t id = load(scaled_model({2, 3}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      EXPECT_OK(aclrtSetDevice(0));
      const Memory in(24), out(24), sum(8);
      write(in, kIn);
      Dataset inputs, outputs;
      inputs.add(in);
      outputs.add(out).add(sum);
      for (int i = 0; i < 50; ++i) EXPECT_OK(aclmdlExecute(id, inputs, outputs));
      EXPECT_EQ(floats(out.get(), 6), kOut);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace npu::acl
