// SPDX-License-Identifier: Apache-2.0
// Between TensorFlow's tensor handles and the engine's values. Nothing is copied: each side keeps the other's memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/tensorflow/c_api/owned.h"
#include "adapters/tensorflow/host/host.h"

namespace npu::tensorflow {

struct Pipeline;

/// An iterator that is read ahead (input/feed.h).
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  /// What IteratorGetNext, IteratorGetNextSync or IteratorGetNextAsOptional (`op`) gives, elements in order; raises
  /// what TensorFlow raises.
  virtual std::vector<Value> next(const std::string& op, const std::vector<Attribute>& attributes,
                                  size_t output_count) = 0;
  /// Gives the iterator back to TensorFlow for good, as if it had only given what was asked for. FailedPrecondition
  /// where that cannot be: elements are waiting here of one that serves a single loop.
  virtual void retire() = 0;
  /// The same, but what waits here is dropped: the iterator gets a new state.
  virtual void reset() = 0;
};

/// What the engine holds for TensorFlow: ANYNPU_OBJECT values stand for one of these.
struct Object {
  TensorHandle handle;
  std::shared_ptr<const Pipeline> pipeline;  ///< of a data set that may be read ahead
  std::shared_ptr<ElementSource> feed;       ///< of an iterator that is
  /// Goes out behind a handle of the NPU, so that every use of it comes back here.
  bool kept = false;
  /// Of an iterator that the program made itself: it may save it, or go on with it elsewhere.
  bool shared = false;
};

/// The object behind a value; null for the other kinds.
Object* object_of(const anynpu_value* value);

/// Tells that handles of this name are ours.
void add_device(const std::string& name);
/// TensorFlow refuses operators with inputs on two NPUs, so what is no number stays on the host where there are two.
bool is_only_device();
/// The value behind a handle of `device`, another NPU, or the host. Values never change, so that devices share the
/// memory of numbers; what else the host has is an object.
Value value_of(TFE_TensorHandle* handle, const std::string& device);
std::vector<Value> values_of(std::span<const TensorHandle> handles, const std::string& device);
/// The same values, for calls of the engine; they keep belonging to `values`.
std::vector<anynpu_value*> pointers(std::span<const Value> values);
/// A handle that lives on `device`; objects of the client's come back as the handles they are.
TensorHandle device_handle(TFE_Context* context, const std::string& device, anynpu_value* value);
/// A handle of the host; a list of tensors becomes one of TensorFlow's. Raises Unimplemented for variables, stacks,
/// arrays and optionals.
TensorHandle host_handle(TFE_Context* context, anynpu_value* value);

anynpu_value_view inspect(const anynpu_value* value);

}  // namespace npu::tensorflow
