// SPDX-License-Identifier: Apache-2.0
// pictures static|dynamic MODEL OUTPUT PICTURE WIDTH HEIGHT: AIPP in front of a model. With static parameters the
// picture's bytes are all it takes; dynamic ones are set here: RGB with R and B swapped, mean and scale.
#include "model.h"

namespace {

void set_parameters(const Model& model, const Buffers& inputs, int32_t width, int32_t height) {
  size_t index = 0;
  MUST(aclmdlGetInputIndexByName(model.desc(), ACL_DYNAMIC_AIPP_NAME, &index));
  aclmdlAIPP* aipp = aclmdlCreateAIPP(1);
  MUST(aclmdlSetAIPPInputFormat(aipp, ACL_RGB888_U8));
  MUST(aclmdlSetAIPPSrcImageSize(aipp, width, height));
  MUST(aclmdlSetAIPPCscParams(aipp, 0, 256, 0, 0, 0, 256, 0, 0, 0, 256, 0, 0, 0, 0, 0, 0));
  MUST(aclmdlSetAIPPRbuvSwapSwitch(aipp, 1));
  MUST(aclmdlSetAIPPAxSwapSwitch(aipp, 0));
  MUST(aclmdlSetAIPPScfParams(aipp, 0, 0, 0, 0, 0, 0));
  MUST(aclmdlSetAIPPCropParams(aipp, 0, 0, 0, 0, 0, 0));
  MUST(aclmdlSetAIPPPaddingParams(aipp, 0, 0, 0, 0, 0, 0));
  MUST(aclmdlSetAIPPDtcPixelMean(aipp, 10, 20, 30, 0, 0));
  MUST(aclmdlSetAIPPDtcPixelMin(aipp, 0, 0, 0, 0, 0));
  MUST(aclmdlSetAIPPPixelVarReci(aipp, 0.5F, 0.25F, 0.125F, 1, 0));
  MUST(aclmdlSetInputAIPP(model.id(), inputs.set(), index, aipp));
  MUST(aclmdlDestroyAIPP(aipp));
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc == 7, "pictures static|dynamic MODEL OUTPUT PICTURE WIDTH HEIGHT");
  const bool dynamic = std::string(argv[1]) == "dynamic";
  const Session session;
  const Model model(argv[2], "file");
  aclmdlInputAippType type;
  size_t attached = 0;
  MUST(aclmdlGetAippType(model.id(), 0, &type, &attached));
  demand(type == (dynamic ? ACL_DATA_WITH_DYNAMIC_AIPP : ACL_DATA_WITH_STATIC_AIPP), "the model has another AIPP");
  Buffers inputs, outputs;
  model.make_inputs(&inputs), model.make_outputs(&outputs);
  const std::vector<char> picture = read_file(argv[4]);
  inputs.memory(0).put(picture.data(), picture.size());
  if (dynamic) set_parameters(model, inputs, std::atoi(argv[5]), std::atoi(argv[6]));
  MUST(aclmdlExecute(model.id(), inputs.set(), outputs.set()));
  const std::vector<char> out = model.output(outputs, 0);
  write_file(argv[3], out.data(), out.size());
  return 0;
}
