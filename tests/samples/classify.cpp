// SPDX-License-Identifier: Apache-2.0
// classify file|memory|own MODEL CONFIG OUTPUT PICTURE…: pictures of bytes, as many a run as the model's batch takes,
// through host memory to the device; the scores go to OUTPUT, the three best classes of each picture are printed.
#include <numeric>

#include "model.h"

namespace {

void print_best(const float* scores, size_t classes, size_t picture) {
  std::vector<size_t> order(classes);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::printf("picture %zu:", picture);
  for (size_t i = 0; i < 3; ++i) std::printf(" %zu", order[i]);
  std::printf("\n");
}

/// Fills the input with the pictures [first, first + count), through memory that copies may read at any time.
void put(const std::vector<std::string>& pictures, size_t first, size_t count, const DeviceMemory& input) {
  void* host = nullptr;
  MUST(aclrtMallocHost(&host, input.size()));
  size_t at = 0;
  for (size_t i = first; i < first + count; ++i) {
    const std::vector<char> bytes = read_file(pictures[i]);
    demand(at + bytes.size() <= input.size(), pictures[i] + " is larger than the model's input");
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(host) + at);
    at += bytes.size();
  }
  input.put(host, input.size());
  MUST(aclrtFreeHost(host));
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc > 5, "classify file|memory|own MODEL CONFIG OUTPUT PICTURE...");
  const std::vector<std::string> pictures(argv + 5, argv + argc);
  const Session session(argv[3]);
  std::vector<char> scores;
  {
    const Model model(argv[2], argv[1]);
    Buffers inputs, outputs;
    model.make_inputs(&inputs), model.make_outputs(&outputs);
    aclmdlIODims dims;
    MUST(aclmdlGetInputDims(model.desc(), 0, &dims));
    const size_t batch = static_cast<size_t>(dims.dims[0]);
    demand(pictures.size() % batch == 0, "the pictures do not fill their last batch");
    for (size_t first = 0; first < pictures.size(); first += batch) {
      put(pictures, first, batch, inputs.memory(0));
      MUST(aclmdlExecute(model.id(), inputs.set(), outputs.set()));
      const std::vector<char> bytes = model.output(outputs, 0);
      const size_t classes = bytes.size() / sizeof(float) / batch;
      const float* numbers = reinterpret_cast<const float*>(bytes.data());
      for (size_t i = 0; i < batch; ++i) print_best(numbers + i * classes, classes, first + i);
      scores.insert(scores.end(), bytes.begin(), bytes.end());
    }
  }
  write_file(argv[4], scores.data(), scores.size());
  return 0;
}
