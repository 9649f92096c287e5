/* SPDX-License-Identifier: Apache-2.0 */
/* What the CANN back end of ggml includes and calls: it builds against our headers and links with our libraries when
 * this does. */
#include <acl/acl.h>
#include <aclnnop/aclnn_abs.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_add_rms_norm.h>
#include <aclnnop/aclnn_addcdiv.h>
#include <aclnnop/aclnn_arange.h>
#include <aclnnop/aclnn_argmax.h>
#include <aclnnop/aclnn_argsort.h>
#include <aclnnop/aclnn_avgpool2d.h>
#include <aclnnop/aclnn_batch_matmul.h>
#include <aclnnop/aclnn_cast.h>
#include <aclnnop/aclnn_cat.h>
#include <aclnnop/aclnn_clamp.h>
#include <aclnnop/aclnn_constant_pad_nd.h>
#include <aclnnop/aclnn_convolution.h>
#include <aclnnop/aclnn_copy.h>
#include <aclnnop/aclnn_cos.h>
#include <aclnnop/aclnn_cumsum.h>
#include <aclnnop/aclnn_div.h>
#include <aclnnop/aclnn_elu.h>
#include <aclnnop/aclnn_embedding.h>
#include <aclnnop/aclnn_eq_tensor.h>
#include <aclnnop/aclnn_exp.h>
#include <aclnnop/aclnn_fill_scalar.h>
#include <aclnnop/aclnn_fused_infer_attention_score_v2.h>
#include <aclnnop/aclnn_gather_v2.h>
#include <aclnnop/aclnn_geglu.h>
#include <aclnnop/aclnn_gelu.h>
#include <aclnnop/aclnn_gelu_v2.h>
#include <aclnnop/aclnn_ger.h>
#include <aclnnop/aclnn_group_norm.h>
#include <aclnnop/aclnn_grouped_matmul_v3.h>
#include <aclnnop/aclnn_gt_scalar.h>
#include <aclnnop/aclnn_hardsigmoid.h>
#include <aclnnop/aclnn_hardswish.h>
#include <aclnnop/aclnn_im2col.h>
#include <aclnnop/aclnn_index_copy.h>
#include <aclnnop/aclnn_index_fill_tensor.h>
#include <aclnnop/aclnn_index_select.h>
#include <aclnnop/aclnn_layer_norm.h>
#include <aclnnop/aclnn_leaky_relu.h>
#include <aclnnop/aclnn_log.h>
#include <aclnnop/aclnn_logical_not.h>
#include <aclnnop/aclnn_logsoftmax.h>
#include <aclnnop/aclnn_masked_fill_scalar.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_max_pool.h>
#include <aclnnop/aclnn_mean.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_mul.h>
#include <aclnnop/aclnn_mv.h>
#include <aclnnop/aclnn_neg.h>
#include <aclnnop/aclnn_norm.h>
#include <aclnnop/aclnn_permute.h>
#include <aclnnop/aclnn_pow.h>
#include <aclnnop/aclnn_pow_tensor_tensor.h>
#include <aclnnop/aclnn_recurrent_gated_delta_rule.h>
#include <aclnnop/aclnn_reduce_sum.h>
#include <aclnnop/aclnn_reflection_pad1d.h>
#include <aclnnop/aclnn_relu.h>
#include <aclnnop/aclnn_repeat.h>
#include <aclnnop/aclnn_repeat_interleave.h>
#include <aclnnop/aclnn_rms_norm.h>
#include <aclnnop/aclnn_roll.h>
#include <aclnnop/aclnn_rotary_position_embedding.h> /* which ggml declares itself */
#include <aclnnop/aclnn_scatter.h>
#include <aclnnop/aclnn_sigmoid.h>
#include <aclnnop/aclnn_sign.h>
#include <aclnnop/aclnn_silu.h>
#include <aclnnop/aclnn_sin.h>
#include <aclnnop/aclnn_slice.h>
#include <aclnnop/aclnn_softmax.h>
#include <aclnnop/aclnn_softmax_cross_entropy_with_logits.h>
#include <aclnnop/aclnn_softplus.h>
#include <aclnnop/aclnn_sqrt.h>
#include <aclnnop/aclnn_sub.h>
#include <aclnnop/aclnn_sum.h>
#include <aclnnop/aclnn_swi_glu.h>
#include <aclnnop/aclnn_tanh.h>
#include <aclnnop/aclnn_threshold.h>
#include <aclnnop/aclnn_trans_matmul_weight.h>
#include <aclnnop/aclnn_triangular_solve.h>
#include <aclnnop/aclnn_tril.h>
#include <aclnnop/aclnn_triu.h>
#include <aclnnop/aclnn_upsample_nearest_2d.h>
#include <aclnnop/aclnn_weight_quant_batch_matmul_v2.h>
#include <aclnnop/aclnn_zero.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*Function)(void);
#define TWO_PHASES(name) (Function) name##GetWorkspaceSize, (Function)name

static const Function kCalled[] = {
    TWO_PHASES(aclnnAdd),
    TWO_PHASES(aclnnAddRmsNorm),
    TWO_PHASES(aclnnArange),
    TWO_PHASES(aclnnArgMax),
    TWO_PHASES(aclnnArgsort),
    TWO_PHASES(aclnnAvgPool2d),
    TWO_PHASES(aclnnBatchMatMul),
    TWO_PHASES(aclnnCast),
    TWO_PHASES(aclnnCat),
    TWO_PHASES(aclnnClamp),
    TWO_PHASES(aclnnClampMin),
    TWO_PHASES(aclnnConstantPadNd),
    TWO_PHASES(aclnnConvolution),
    TWO_PHASES(aclnnCos),
    TWO_PHASES(aclnnCumsum),
    TWO_PHASES(aclnnDiv),
    TWO_PHASES(aclnnElu),
    TWO_PHASES(aclnnEqTensor),
    TWO_PHASES(aclnnFusedInferAttentionScoreV2),
    TWO_PHASES(aclnnGatherV2),
    TWO_PHASES(aclnnGeGluV3),
    TWO_PHASES(aclnnGelu),
    TWO_PHASES(aclnnGeluV2),
    TWO_PHASES(aclnnGroupNorm),
    TWO_PHASES(aclnnGtScalar),
    TWO_PHASES(aclnnIm2col),
    TWO_PHASES(aclnnIndexSelect),
    TWO_PHASES(aclnnInplaceAdd),
    TWO_PHASES(aclnnInplaceAdds),
    TWO_PHASES(aclnnInplaceClampMax),
    TWO_PHASES(aclnnInplaceCopy),
    TWO_PHASES(aclnnInplaceCos),
    TWO_PHASES(aclnnInplaceDiv),
    TWO_PHASES(aclnnInplaceDivs),
    TWO_PHASES(aclnnInplaceExp),
    TWO_PHASES(aclnnInplaceFillScalar),
    TWO_PHASES(aclnnInplaceIndexCopy),
    TWO_PHASES(aclnnInplaceIndexFillTensor),
    TWO_PHASES(aclnnInplaceMul),
    TWO_PHASES(aclnnInplaceMuls),
    TWO_PHASES(aclnnInplacePowTensorTensor),
    TWO_PHASES(aclnnInplaceSin),
    TWO_PHASES(aclnnInplaceSub),
    TWO_PHASES(aclnnInplaceSubs),
    TWO_PHASES(aclnnInplaceThreshold),
    TWO_PHASES(aclnnInplaceTriu),
    TWO_PHASES(aclnnInplaceZero),
    TWO_PHASES(aclnnLayerNorm),
    TWO_PHASES(aclnnLeakyRelu),
    TWO_PHASES(aclnnMatmul),
    TWO_PHASES(aclnnMaxPool),
    TWO_PHASES(aclnnMean),
    TWO_PHASES(aclnnMm),
    TWO_PHASES(aclnnMul),
    TWO_PHASES(aclnnMuls),
    TWO_PHASES(aclnnMv),
    TWO_PHASES(aclnnNorm),
    TWO_PHASES(aclnnPermute),
    TWO_PHASES(aclnnPowScalarTensor),
    TWO_PHASES(aclnnReduceSum),
    TWO_PHASES(aclnnReflectionPad1d),
    TWO_PHASES(aclnnRepeat),
    TWO_PHASES(aclnnRepeatInterleaveIntWithDim),
    TWO_PHASES(aclnnRmsNorm),
    TWO_PHASES(aclnnRoll),
    TWO_PHASES(aclnnRotaryPositionEmbedding),
    TWO_PHASES(aclnnSilu),
    TWO_PHASES(aclnnSin),
    TWO_PHASES(aclnnSlice),
    TWO_PHASES(aclnnSoftmax),
    TWO_PHASES(aclnnSoftmaxCrossEntropyWithLogits),
    TWO_PHASES(aclnnSoftplus),
    TWO_PHASES(aclnnSub),
    TWO_PHASES(aclnnSwiGlu),
    TWO_PHASES(aclnnTransMatmulWeight),
    TWO_PHASES(aclnnTriangularSolve),
    TWO_PHASES(aclnnTril),
    TWO_PHASES(aclnnTriu),
    TWO_PHASES(aclnnUpsampleNearest2d),
    TWO_PHASES(aclnnWeightQuantBatchMatmulV2),
    (Function)aclnnCalculateMatmulWeightSizeV2,
    (Function)aclmdlRICaptureBegin,
    (Function)aclmdlRICaptureEnd,
    (Function)aclmdlRIExecuteAsync,
    (Function)aclmdlRIDestroy,
};

int main(void) {
  int missing = 0;
  for (size_t i = 0; i < sizeof(kCalled) / sizeof(kCalled[0]); ++i) missing += kCalled[i] == NULL;
  /* A number that only the real functions know: two blocks of 16 x 16 for 16 x 17 elements. */
  const int64_t shape[] = {16, 17};
  const aclIntArray* sizes = aclCreateIntArray(shape, 2);
  uint64_t elements = 0;
  missing += sizes == NULL || aclnnCalculateMatmulWeightSizeV2(sizes, ACL_FLOAT16, &elements) != 0 || elements != 512;
  missing += aclDestroyIntArray(sizes) != 0;
  if (missing == 0) puts("ggml client: all names reach libanynpu.so");
  return missing;
}
