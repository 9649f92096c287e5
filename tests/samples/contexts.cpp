// SPDX-License-Identifier: Apache-2.0
// contexts MODEL OUTPUT INPUT: the same model on two devices, in two contexts of one of them, in a thread each; then
// two streams whose work an event puts in order. All results must be the same; they go to OUTPUT.
#include <thread>

#include "model.h"

namespace {

void run(int32_t device, const std::string& path, const std::vector<char>& input, std::vector<char>* result) {
  MUST(aclrtSetDevice(device));
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  MUST(aclrtCreateContext(&context, device));
  MUST(aclrtCreateStream(&stream));
  {
    const Model model(path, "file");
    Buffers inputs, outputs;
    model.make_inputs(&inputs), model.make_outputs(&outputs);
    inputs.memory(0).put(input.data(), input.size());
    for (int i = 0; i < 20; ++i) MUST(aclmdlExecuteAsync(model.id(), inputs.set(), outputs.set(), stream));
    MUST(aclrtSynchronizeStream(stream));
    *result = model.output(outputs, 0);
  }
  MUST(aclrtDestroyStream(stream));
  MUST(aclrtDestroyContext(context));
  MUST(aclrtResetDevice(device));
}

/// What one stream writes, another reads after an event.
void order_streams() {
  aclrtStream writer = nullptr, reader = nullptr;
  aclrtEvent written = nullptr;
  MUST(aclrtCreateStream(&writer));
  MUST(aclrtCreateStream(&reader));
  MUST(aclrtCreateEvent(&written));
  const size_t bytes = 1 << 20;
  const DeviceMemory from(bytes), to(bytes);
  MUST(aclrtMemsetAsync(from.data(), bytes, 7, bytes, writer));
  MUST(aclrtRecordEvent(written, writer));
  MUST(aclrtStreamWaitEvent(reader, written));
  MUST(aclrtMemcpyAsync(to.data(), bytes, from.data(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, reader));
  MUST(aclrtSynchronizeStream(reader));
  const std::vector<char> got = to.get();
  demand(std::count(got.begin(), got.end(), 7) == static_cast<std::ptrdiff_t>(bytes), "the reader was too early");
  MUST(aclrtDestroyEvent(written));
  MUST(aclrtDestroyStream(writer));
  MUST(aclrtDestroyStream(reader));
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc == 4, "contexts MODEL OUTPUT INPUT");
  const std::vector<char> input = read_file(argv[3]);
  MUST(aclInit(nullptr));
  uint32_t devices = 0;
  MUST(aclrtGetDeviceCount(&devices));
  demand(devices >= 2, "two devices are needed");
  const int32_t places[] = {0, 0, 1};
  std::vector<char> results[3];
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) threads.emplace_back(run, places[i], argv[1], std::cref(input), &results[i]);
  for (std::thread& thread : threads) thread.join();
  demand(results[0] == results[1] && results[0] == results[2], "the results differ");
  MUST(aclrtSetDevice(0));
  order_streams();
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
  write_file(argv[2], results[0].data(), results[0].size());
  return 0;
}
