// SPDX-License-Identifier: Apache-2.0
#include "acl/model/model_fixture.h"

namespace npu::acl {
namespace {

using AippInfo = OnDevice;

/// A model of pictures [2, 4, 6, 3] with this configuration in front, loaded; unloaded with the object.
struct Loaded {
  uint32_t id = 0;
  explicit Loaded(const std::string& text) {
    const ModelPath conf(text);
    const std::string bytes = scaled_model({2, 4, 6, 3}, {{"input_format", "NHWC"}, {"insert_op_conf", conf.get()}});
    EXPECT_OK(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id));
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() { EXPECT_OK(aclmdlUnload(id)); }
};

TEST_F(AippInfo, TellsTheConfiguration) {
  const Loaded model(
      "aipp_op { aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 10 src_image_size_h: 8 crop: true\n"
      "load_start_pos_w: 2 load_start_pos_h: 4 csc_switch: true matrix_r1c2: -183 input_bias_0: 0\n"
      "mean_chn_1: 117 min_chn_2: 0.5 var_reci_chn_0: 0.25 }");
  aclAippInfo info;
  ASSERT_OK(aclmdlGetFirstAippInfo(model.id, 0, &info));
  EXPECT_EQ(info.inputFormat, ACL_YUV420SP_U8);
  EXPECT_EQ(info.srcImageSizeW, 10);
  EXPECT_EQ(info.cropSwitch, 1);
  EXPECT_EQ(info.loadStartPosH, 4);
  EXPECT_EQ(info.cropSizeW, 6);  // as the model takes it
  EXPECT_EQ(info.cropSizeH, 4);
  EXPECT_EQ(info.matrixR1C2, -183);
  EXPECT_EQ(info.inputBias0, 0);
  EXPECT_EQ(info.meanChn1, 117);
  EXPECT_EQ(info.minChn2, 0.5f);
  EXPECT_EQ(info.varReciChn0, 0.25f);
  EXPECT_EQ(info.srcFormat, ACL_FORMAT_NHWC);
  EXPECT_EQ(info.srcDatatype, ACL_FLOAT);
  EXPECT_EQ(info.srcDimNum, 4u);
  ASSERT_EQ(info.shapeCount, 1u);
  EXPECT_EQ(info.outDims[0].srcSize, 2u * 10 * 12);
  EXPECT_EQ(info.outDims[0].srcDims.dims[1], 12);
  EXPECT_EQ(info.outDims[0].aippOutdims.dims[2], 6);
  EXPECT_EQ(info.outDims[0].aippOutSize, 2u * 4 * 6 * 3 * 4);
}

TEST_F(AippInfo, OfDynamicOnesTellsWhatTheModelTakes) {
  const Loaded model("aipp_op { aipp_mode: dynamic max_src_image_size: 960 }");
  aclAippInfo info;
  ASSERT_OK(aclmdlGetFirstAippInfo(model.id, 0, &info));
  EXPECT_EQ(static_cast<int>(info.inputFormat), 0);
  EXPECT_EQ(info.varReciChn0, 0);
  EXPECT_EQ(info.outDims[0].srcSize, 960u);
  EXPECT_EQ(info.outDims[0].aippOutSize, 2u * 4 * 6 * 3 * 4);
}

TEST_F(AippInfo, RefusesWhatHasNone) {
  const Loaded model("aipp_op { aipp_mode: dynamic max_src_image_size: 960 }");
  aclAippInfo info;
  EXPECT_EQ(aclmdlGetFirstAippInfo(model.id, 1, &info), 145015);  // the parameters
  EXPECT_EQ(aclmdlGetFirstAippInfo(model.id, 7, &info), 100000);
  EXPECT_EQ(aclmdlGetFirstAippInfo(model.id, 0, nullptr), 100000);
  EXPECT_EQ(aclmdlGetFirstAippInfo(model.id + 999, 0, &info), 145003);
}

}  // namespace
}  // namespace npu::acl
