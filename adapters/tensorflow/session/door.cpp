// SPDX-License-Identifier: Apache-2.0
// The functions through which the Python package runs sessions.
#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/lifetime.h"
#include "adapters/tensorflow/session/session.h"
#include "adapters/tensorflow/session/tensor.h"

namespace npu::tensorflow {
namespace {

using Refused = void (*)(int code, const char* reason);

struct Run {
  Session& session;
  Slice& slice;
};

/// Runs `body`; what it raises goes to `refused`, and `nothing` is the answer.
template <class T, class Body>
T answered(Refused refused, T nothing, Body&& body) noexcept {
  try {
    require_own_process();
    return body();
  } catch (const Failure& e) {
    refused(e.code(), e.what());
  } catch (const std::exception& e) {
    refused(TF_INTERNAL, e.what());
  }
  return nothing;
}

std::vector<const char*> list(const char* const* texts, size_t count) { return {texts, texts + count}; }

}  // namespace
}  // namespace npu::tensorflow

using namespace npu::tensorflow;  // NOLINT: the functions below are the adapter's door

void* anynpu_tensorflow_session(void* device, void* context, void (*refused)(int code, const char* reason)) {
  return answered<void*>(
      refused, nullptr, [&] { return new Session(*static_cast<Engine*>(device), static_cast<TFE_Context*>(context)); });
}

void anynpu_tensorflow_session_close(void* session) {
  answered(
      +[](int, const char*) {}, 0,
      [&] {
        static_cast<Session*>(session)->close();
        return 0;
      });
}

void anynpu_tensorflow_session_release(void* session) {
  answered(
      +[](int, const char*) {}, 0,
      [&] {
        delete static_cast<Session*>(session);
        return 0;
      });
}

int anynpu_tensorflow_session_graph(void* session, const void* graph_def, size_t size,
                                    void (*refused)(int code, const char* reason)) {
  return answered(refused, 0, [&] {
    static_cast<Session*>(session)->set_graph({static_cast<const char*>(graph_def), size});
    return 1;
  });
}

void* anynpu_tensorflow_slice(void* session, const char* const* feeds, size_t feed_count, const char* const* fetches,
                              size_t fetch_count, const char* const* targets, size_t target_count,
                              const char* const* replaced, size_t replaced_count,
                              void (*refused)(int code, const char* reason)) {
  return answered<void*>(refused, nullptr, [&] {
    Session& live = *static_cast<Session*>(session);
    Slice& slice = live.slice({list(feeds, feed_count), list(fetches, fetch_count), list(targets, target_count),
                               list(replaced, 2 * replaced_count)});
    return new Run{live, slice};
  });
}

void* anynpu_tensorflow_run(void* slice, int times, const anynpu_session_tensor* feeds, anynpu_session_tensor* fetches,
                            void (*refused)(int code, const char* reason)) {
  return answered<void*>(refused, nullptr, [&] {
    const RunningCall call;
    const Run& run = *static_cast<Run*>(slice);
    std::vector<Value> values;
    for (size_t i = 0; i < run.slice.feed_count(); ++i) values.push_back(fed(feeds[i], run.session.device()));
    auto results = std::make_unique<Fetched>(run.session.run(run.slice, values, times));
    std::copy(results->tensors().begin(), results->tensors().end(), fetches);
    return results.release();
  });
}

int anynpu_tensorflow_compile(void* slice, void (*refused)(int code, const char* reason)) {
  return answered(refused, 0, [&] {
    const Run& run = *static_cast<Run*>(slice);
    run.session.compile(run.slice);
    return 1;
  });
}

void anynpu_tensorflow_fetched_release(void* fetched) { delete static_cast<Fetched*>(fetched); }

void anynpu_tensorflow_slice_release(void* slice) { delete static_cast<Run*>(slice); }
