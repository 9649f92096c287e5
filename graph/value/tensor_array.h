// SPDX-License-Identifier: Apache-2.0
// An array of tensors that its nodes write and read at positions, each position once: what loops over time steps take
// their inputs from and leave their outputs in. Elements of one shape lie in one block, in order, so that all of them
// together are one tensor without a copy, and each is a view of it. What was read is never written again, so a view
// stays as it is.
//
// An array of gradients belongs to the array whose gradients it holds: what is written to one position adds up.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graph/value/tensor_list.h"

namespace npu::graph {

class TensorArray final : public Object {
 public:
  struct Form {
    std::string name;    ///< for error texts
    bool grows = false;  ///< writing behind the end makes it longer
    bool clears = true;  ///< an element is let go of once it was read
    bool alike = false;  ///< the first element's shape becomes that of all
    bool sums = false;   ///< of gradients
  };

  /// `elements` says what is declared of each. Raises 161002 for a size below 0 or above kMostElements.
  TensorArray(int device, ListType elements, int64_t size, Form form);
  /// The same with a name that no other array has.
  static std::shared_ptr<TensorArray> make(int device, ListType elements, int64_t size, Form form);

  std::string traits() const override;
  void add_traits(std::string& key) const override;
  /// What plans may count on now.
  ListType type() const;
  int64_t size() const;

  // All of these raise 161002 when the array is closed, a position is not one of the array's, or an element's shape is
  // not what was declared.
  /// Raises 161002 when the position was read, or written unless it is for gradients.
  void write(int64_t at, const Tensor& element);
  /// The rows of `rows`, one to each position.
  void scatter(std::span<const int64_t> positions, const Value& rows);
  /// Consecutive rows of `rows`, as many for each position as `lengths` says.
  void split(std::span<const int64_t> lengths, const Value& rows);
  /// What was never written is zeros where its shape is declared, and counts as written.
  Value read(int64_t at);
  /// Elements as the rows of one tensor. `asked`: what else is known of their shape, and declared of it from now on.
  /// Raises 207000 for no elements of an unknown shape.
  Value gather(std::span<const int64_t> positions, const PartialShape& asked);
  /// All elements one behind the other; `asked`: the shape of their rows. `lengths` gets the number of rows of each.
  Value concat(const PartialShape& asked, std::vector<int64_t>& lengths);
  void close();

  /// The gradients of this array that `source` asks for, made when it asks first: elements of the same shape with
  /// `outer` sizes in front.
  std::shared_ptr<TensorArray> gradient(const std::string& source, const Dims& outer);
  /// What plans may count on of them.
  ListType gradient_type(const std::string& source, const Dims& outer) const;
  /// Of gradients that are not there yet.
  static ListType gradient_type(ListType type, const Dims& outer);

 private:
  /// What an element has that is no row of the block.
  struct Alone {
    Value value;  ///< none: zeros
    Dims shape;
  };
  struct Element {
    std::unique_ptr<Alone> alone;
    bool written = false, read = false, cleared = false;
    bool in_block = false;  ///< the row of `block_` at its position
    bool own = false;       ///< in memory that nobody else sees

    bool has_value() const { return in_block || (alone && alone->value.tensor.defined()); }
  };

  Element& at(int64_t index) { return elements_[static_cast<size_t>(index)]; }
  const Element& at(int64_t index) const { return elements_[static_cast<size_t>(index)]; }
  int64_t count() const { return static_cast<int64_t>(elements_.size()); }
  /// Of an element that was written.
  const Dims& shape_of(const Element& element) const { return element.alone ? element.alone->shape : usual_; }
  void set_shape(Element& element, const Dims& shape);
  bool can_grow() const { return form_.grows && !fixed_; }
  void check_open() const;
  // Writing.
  Element& writable(int64_t index, const Dims& shape);
  void make_longer(int64_t index);
  void fit(int64_t index, const Dims& shape);
  void put_view(int64_t index, Value element);
  void add(int64_t index, const Tensor& element);
  void keep_copy(int64_t index, const Tensor& element);
  bool make_room(int64_t index, const Dims& shape);
  void move_block(int64_t rows, const Dims& shape);
  bool takes_whole(std::span<const int64_t> positions, const Dims& row) const;
  void take_whole(const Value& rows, const Dims& row);
  // Reading.
  Value held(int64_t index) const;
  Value take(int64_t index);
  void leave(int64_t index);
  Value unwritten(int64_t index) const;
  bool in_order(std::span<const int64_t> positions) const;
  Value rows_in_order(std::span<const int64_t> positions);
  std::vector<Value> take_all(std::span<const int64_t> positions);

  const int device_;
  const Form form_;
  mutable std::mutex mutex_;
  ListType type_;
  std::vector<Element> elements_;
  Dims usual_;              ///< the shape of elements that say no other: that of the first one written
  bool some_ = false;       ///< one was written
  Value block_;             ///< [rows, shape of an element...]; none as long as nothing was written
  bool own_block_ = false;  ///< made here, to be written to
  bool fixed_ = false;      ///< gradients were asked for: it grows no more
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
};

}  // namespace npu::graph
