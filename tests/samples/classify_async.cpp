// SPDX-License-Identifier: Apache-2.0
// classify_async MODEL OUTPUT INTERVAL PICTURE…: runs are queued, each on buffers of its own; a callback after every
// INTERVAL of them takes the results, in a thread that does nothing else.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "model.h"

namespace {

/// What one callback takes: the runs since the last one.
struct Batch {
  const Model* model;
  aclrtContext context;
  std::vector<const Buffers*> outputs;
  std::vector<char>* scores;
};
std::atomic<int> callbacks(0);
std::atomic<bool> going(true);

void take(void* data) {
  const Batch& batch = *static_cast<Batch*>(data);
  MUST(aclrtSetCurrentContext(batch.context));  // the callback's thread has none of its own
  for (const Buffers* outputs : batch.outputs) {
    const std::vector<char> bytes = batch.model->output(*outputs, 0);
    batch.scores->insert(batch.scores->end(), bytes.begin(), bytes.end());
  }
  ++callbacks;
}

void serve() {
  while (going) aclrtProcessReport(50);  // a wait that ends without a callback is no mistake
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc > 4, "classify_async MODEL OUTPUT INTERVAL PICTURE...");
  const std::vector<std::string> pictures(argv + 4, argv + argc);
  const size_t interval = static_cast<size_t>(std::atoi(argv[3]));
  const Session session;
  std::thread server(serve);
  MUST(aclrtSubscribeReport(static_cast<uint64_t>(server.native_handle()), session.stream()));
  std::vector<char> scores;
  {
    const Model model(argv[1], "file");
    std::vector<std::unique_ptr<Buffers>> inputs, outputs;
    std::vector<std::unique_ptr<Batch>> batches;
    for (size_t i = 0; i < pictures.size(); ++i) {
      inputs.emplace_back(new Buffers), outputs.emplace_back(new Buffers);
      model.make_inputs(inputs.back().get()), model.make_outputs(outputs.back().get());
      const std::vector<char> bytes = read_file(pictures[i]);
      inputs.back()->memory(0).put(bytes.data(), bytes.size());
      MUST(aclmdlExecuteAsync(model.id(), inputs.back()->set(), outputs.back()->set(), session.stream()));
      if (i % interval == 0) batches.emplace_back(new Batch{&model, session.context(), {}, &scores});
      batches.back()->outputs.push_back(outputs.back().get());
      if (i % interval == interval - 1 || i + 1 == pictures.size())
        MUST(aclrtLaunchCallback(take, batches.back().get(), ACL_CALLBACK_BLOCK, session.stream()));
    }
    MUST(aclrtSynchronizeStream(session.stream()));
    MUST(aclrtUnSubscribeReport(static_cast<uint64_t>(server.native_handle()), session.stream()));
  }
  going = false;
  server.join();
  std::printf("%d callbacks\n", callbacks.load());
  write_file(argv[2], scores.data(), scores.size());
  return 0;
}
