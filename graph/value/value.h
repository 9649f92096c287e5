// SPDX-License-Identifier: Apache-2.0
// What flows along an edge while a function runs: a tensor and whoever keeps its memory, or an object.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/tensor.h"
#include "graph/ir/attribute.h"

namespace npu::graph {

/// A variable, a list of tensors, or something of the client's that only its own nodes understand.
class Object {
 public:
  virtual ~Object() = default;
  /// What plans may count on, spelled out; two objects of equal traits may share a plan.
  virtual std::string traits() const = 0;
  /// The same for keys that many runs ask for, not to be read.
  virtual void add_traits(std::string& key) const { key += traits(); }
  /// Zeros in its form, and its sum with another, for gradients (arithmetic.h); null for objects that have none.
  virtual std::shared_ptr<Object> zeros(int /*device*/) const { return nullptr; }
  virtual std::shared_ptr<Object> plus(int /*device*/, const Object& /*other*/) const { return nullptr; }
};

struct Value {
  Tensor tensor;                      ///< undefined for objects
  std::shared_ptr<const void> owner;  ///< keeps the tensor's memory; null when somebody else does for long enough
  std::shared_ptr<Object> object;
};

/// A row-major tensor in fresh device memory, content undefined. Raises 207001 when the device is full.
Value make_value(int device, DType dtype, const Dims& shape);
/// The elements of `tensor`, any strides, in memory of their own.
Value copy_of(int device, const Tensor& tensor);

/// A tensor of strings: opaque to every node of ours, handed to the client's.
class StringTensor final : public Object {
 public:
  explicit StringTensor(Literal literal) : literal_(std::move(literal)) {}
  std::string traits() const override { return "string"; }
  const Literal& literal() const { return literal_; }

 private:
  Literal literal_;
};

/// State that lives between runs. Values are shared, not copied: who reads holds the memory, and a writer that finds it
/// held writes a copy, so a read never changes under its reader.
class Variable final : public Object {
 public:
  /// Where the value of a variable is kept that the client works on by itself.
  class Home {
   public:
    virtual ~Home() = default;
    virtual Value load() const = 0;
    virtual void store(const Value& value) = 0;
  };

  explicit Variable(int device) : device_(device) { ++live_; }
  ~Variable() override { --live_; }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  /// How many there are in the process.
  static size_t live() { return live_; }
  std::string traits() const override;
  /// dtype and shape are in every key; what is left is an object that is the value.
  void add_traits(std::string& key) const override;

  /// From now on the value is where `home` keeps it; it is loaded for every read and stored after every write.
  void move_to(std::shared_ptr<Home> home);
  std::shared_ptr<Home> home() const;

  bool initialized() const;
  /// Whether the value is an object of the client's (strings), about which plans know nothing.
  bool holds_object() const;
  /// dtype and shape of the value, undefined when nothing was assigned yet; no address.
  Tensor meta() const;
  /// The value now. Raises 161002 when nothing was assigned yet.
  Value read() const;
  void assign(Value value);
  void clear();
  /// Calls `write(tensor)` with memory that nobody else reads, while other writers wait. Raises 161002 when nothing
  /// was assigned yet.
  template <class Write>
  void update(Write&& write) {
    const std::lock_guard lock(mutex_);
    if (home_) value_ = home_->load();
    make_exclusive();
    write(value_.tensor);
    if (home_) home_->store(value_);
  }

 private:
  void make_exclusive();
  void check_initialized() const;
  /// The value, or nothing.
  Value peek() const;
  inline static std::atomic<size_t> live_{0};
  const int device_;
  mutable std::mutex mutex_;
  std::shared_ptr<Home> home_;
  Value value_;
};

}  // namespace npu::graph
