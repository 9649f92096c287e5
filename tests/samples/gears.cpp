// SPDX-License-Identifier: Apache-2.0
// gears batch|image|dims MODEL OUTPUT GEAR=INPUT…: runs of one model in gears; a GEAR is 4, or 416,416, or 2,3,7. The
// output of each run goes to OUTPUT with its number. A gear that the model does not have is refused, with its list.
#include "model.h"

namespace {

size_t gear_input(const Model& model) {
  size_t index = 0;
  MUST(aclmdlGetInputIndexByName(model.desc(), ACL_DYNAMIC_TENSOR_NAME, &index));
  return index;
}

void print_gears(const std::string& kind, const Model& model) {
  if (kind == "batch") {
    aclmdlBatch batch;
    MUST(aclmdlGetDynamicBatch(model.desc(), &batch));
    for (size_t i = 0; i < batch.batchCount; ++i) std::printf("gear %llu\n", (unsigned long long)batch.batch[i]);
  } else if (kind == "image") {
    aclmdlHW sizes;
    MUST(aclmdlGetDynamicHW(model.desc(), static_cast<size_t>(-1), &sizes));
    for (size_t i = 0; i < sizes.hwCount; ++i)
      std::printf("gear %llu,%llu\n", (unsigned long long)sizes.hw[i][0], (unsigned long long)sizes.hw[i][1]);
  } else {
    size_t count = 0;
    MUST(aclmdlGetInputDynamicGearCount(model.desc(), static_cast<size_t>(-1), &count));
    std::printf("%zu gears\n", count);
  }
}

aclError choose(const std::string& kind, const Model& model, const Buffers& inputs, const std::vector<int64_t>& gear) {
  const size_t index = gear_input(model);
  if (kind == "batch") return aclmdlSetDynamicBatchSize(model.id(), inputs.set(), index, (uint64_t)gear[0]);
  if (kind == "image")
    return aclmdlSetDynamicHWSize(model.id(), inputs.set(), index, (uint64_t)gear[0], (uint64_t)gear[1]);
  aclmdlIODims dims = {};
  dims.dimCount = gear.size();
  std::copy(gear.begin(), gear.end(), dims.dims);
  return aclmdlSetInputDynamicDims(model.id(), inputs.set(), index, &dims);
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc > 4, "gears batch|image|dims MODEL OUTPUT GEAR=INPUT...");
  const std::string kind = argv[1];
  const Session session;
  const Model model(argv[2], "own");
  print_gears(kind, model);
  Buffers inputs, outputs;
  model.make_inputs(&inputs), model.make_outputs(&outputs);
  for (int i = 4; i < argc; ++i) {
    const std::vector<std::string> run = split(argv[i], '=');
    if (run.size() == 1) {  // a gear without an input: one that there is not
      REFUSED(choose(kind, model, inputs, numbers(run[0])));
      continue;
    }
    const std::vector<char> bytes = read_file(run[1]);
    inputs.memory(0).put(bytes.data(), bytes.size());
    MUST(choose(kind, model, inputs, numbers(run[0])));
    MUST(aclmdlExecute(model.id(), inputs.set(), outputs.set()));
    const std::vector<char> out = model.output(outputs, 0);
    write_file(std::string(argv[3]) + std::to_string(i - 4), out.data(), out.size());
  }
  return 0;
}
