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

/// A function of the engine, and what it is given besides the feeds.
struct Variant {
  std::string function;
  std::vector<anynpu_value*> resources;  ///< of the session
};

/// One run that a session has met.
class Slice {
 public:
  explicit Slice(const SliceNames& names);
  size_t feed_count() const { return feeds_.size(); }
  size_t fetch_count() const { return fetches_.size(); }

 private:
  friend class Session;
  SliceNames names() const;
  const std::vector<std::string> feeds_, fetches_, targets_, replaced_;
  std::map<std::vector<int8_t>, Variant> variants_;  ///< by what is decided (anynpu_slice.decided)
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
  Slice& slice(const SliceNames& names);
  /// Runs it `times` times; gives the fetches of the last time. Truth values that are fed decide branches: there is a
  /// function for each set of them.
  std::vector<Value> run(Slice& slice, const std::vector<Value>& feeds, int times);
  /// Makes the function for feeds that are not known yet.
  void compile(Slice& slice);
  /// Ends what runs wait for, and refuses others with Cancelled. What the session keeps goes with the last of its runs.
  void close();

 private:
  struct Resource {
    std::string op;  ///< that makes it; empty for a variable
    Value value;
  };
  /// A run under way, or a close.
  class Use;
  void leave();
  const Variant& variant(Slice& slice, const std::vector<int8_t>& decided);
  Variant made(const Slice& slice, const std::vector<int8_t>& decided);
  anynpu_value* resource(const anynpu_slice_resource& one);
  Resource made(const anynpu_slice_resource& one);
  Value one_shot(const std::vector<Attribute>& attributes);
  void end(const Resource& one);

  Engine& engine_;
  TFE_Context* const context_;
  const std::string name_;
  std::mutex mutex_;
  std::unique_ptr<anynpu_session_graph, Deleter<anynpu_session_graph_release>> graph_;
  std::vector<std::unique_ptr<Slice>> slices_;
  int functions_ = 0, running_ = 0;
  bool closed_ = false;
  std::map<std::string, Resource> resources_;  ///< by key
};

}  // namespace npu::tensorflow
