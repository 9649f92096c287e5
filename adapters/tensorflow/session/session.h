// SPDX-License-Identifier: Apache-2.0
// A session of TensorFlow 1 on an NPU: what its runs name is cut out of its graph and compiled once; variables,
// iterators and tables are its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/tensorflow/engine.h"
#include "anynpu/session.h"

namespace npu::tensorflow {

/// What a run names, as the C interface has it.
struct SliceNames {
  std::vector<const char*> feeds, fetches, targets, replaced;  ///< `replaced` in pairs
};

/// One run that a session has met: a function of the engine, and what it is given besides the feeds.
struct Slice {
  std::string function;
  size_t feeds = 0, fetches = 0;
  std::vector<anynpu_value*> resources;  ///< of the session
};

class Session {
 public:
  Session(Engine& engine, TFE_Context* context);
  /// Nothing of it may be running.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// TensorFlow's name of the NPU.
  const std::string& device() const { return engine_.name(); }
  /// Slices made from now on are made of this GraphDef.
  void set_graph(std::string_view graph_def);
  /// A new one, which lives as long as the session.
  const Slice& slice(const SliceNames& names);
  /// Runs it `times` times; gives the fetches of the last time.
  std::vector<Value> run(const Slice& slice, const std::vector<Value>& feeds, int times);
  /// Ends what runs wait for, and what of the session TensorFlow keeps by name.
  void close();

 private:
  struct Resource {
    std::string op;  ///< that makes it; empty for a variable
    Value value;
  };
  anynpu_value* resource(const anynpu_slice_resource& one);
  Resource made(const anynpu_slice_resource& one);
  void end(const Resource& one);

  Engine& engine_;
  TFE_Context* const context_;
  const std::string name_;
  std::mutex mutex_;
  std::unique_ptr<anynpu_session_graph, Deleter<anynpu_session_graph_release>> graph_;
  std::vector<std::unique_ptr<Slice>> slices_;
  std::map<std::string, Resource> resources_;  ///< by key
};

}  // namespace npu::tensorflow
