// SPDX-License-Identifier: Apache-2.0
// Several element-wise operators in one pass: tile by tile, so that what lies between them never leaves the first-level
// cache. Each step calls the kernel of the operator it stands for and rounds as that operator does, so results are
// those of the operators one by one, bit for bit.
//
// A chain has groups, each over a shape of its own; a group is a list of steps on registers. Registers are numbered:
// first the group's inputs, then the result of each step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/elementwise/pointwise.h"

namespace npu::ops {

struct ChainStep {
  std::string op;  ///< a line of a PointFamily, or "cast"
  DType result = DType::kUndefined;
  std::vector<std::pair<std::string, int>> operands = {};    ///< field of the line, register
  std::vector<std::pair<std::string, double>> numbers = {};  ///< fields that are the same for all elements
};

struct ChainGroup {
  std::vector<DType> inputs = {};
  std::vector<ChainStep> steps = {};
  std::vector<int> outputs = {};  ///< registers
};

/// The steps with their kernels; never changes, so any number of chains may use one.
class ChainProgram {
 public:
  /// Raises 161002 naming the step that there is no kernel for.
  explicit ChainProgram(std::vector<ChainGroup> groups);
  /// What it was made of.
  const std::vector<ChainGroup>& source() const { return source_; }
  /// Whether there is a kernel for such a step on operands of `dtype`, with a result of `result`.
  static bool knows(std::string_view op, DType dtype, DType result);

 private:
  friend class Chain;
  struct Step {
    BlockKernel run = nullptr;  ///< null for a cast
    std::vector<int> operands;
    int result = 0;
    int64_t size = 0;                           ///< bytes of an element of the result
    Convert narrow = nullptr, widen = nullptr;  ///< the rounding of results that are kept wider than they are
  };
  struct Number {
    int reg;
    DType slot;
    Scalar value;
  };
  struct Group {
    size_t inputs = 0;
    std::vector<DType> dtype, slot;  ///< of registers: as stored, and as kept
    std::vector<Step> steps;
    std::vector<Number> numbers;
    std::vector<int> outputs;
    std::vector<int> buffer;    ///< by register: which piece of the working memory it may use
    std::vector<int> last_use;  ///< by register: the step that reads it last
    int buffers = 0;
    int64_t widest = 1;
  };
  static Group compiled(const ChainGroup& group);
  static void add_step(Group& g, const ChainStep& step);
  static void find_buffers(Group& g);
  std::vector<ChainGroup> source_;
  std::vector<Group> groups_;
};

/// A program as fields of operators hold it.
inline std::shared_ptr<const ChainProgram> chain_program(std::vector<ChainGroup> groups) {
  return std::make_shared<const ChainProgram>(std::move(groups));
}

/// A program and its tensors.
class Chain {
 public:
  explicit Chain(std::shared_ptr<const ChainProgram> program) : program_(std::move(program)) {}
  /// Inputs and outputs of all groups, in order. Outputs are row-major and give the group its shape, to which inputs
  /// broadcast; an output may be an input's memory. Raises 161002 when they do not fit the program.
  void bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  /// The same tensors elsewhere.
  void move(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  void run() const;
  /// Whether any piece of the elements may be computed on its own, in any order: a chain of one group that writes
  /// nothing over what other elements still read.
  bool by_pieces() const { return groups_.size() == 1 && !copies_; }
  /// The elements [begin + i * stride, begin + i * stride + width) for each i in [0, rows), in the calling thread. For
  /// chains that by_pieces says this of.
  void run_piece(int64_t begin, int64_t rows, int64_t stride, int64_t width) const;
  int64_t cost() const;

 private:
  enum class Mode : uint8_t { kDirect, kConstant, kStrided };
  struct Side {
    Tensor tensor;
    Convert convert = nullptr;
    Mode mode = Mode::kDirect;
    bool copied = false;  ///< an output lies over it, not position by position
    Dims strides = {};    ///< over Group::walk
    int64_t size = 0;     ///< bytes of an element
  };
  struct Target {
    Tensor tensor;
    Convert convert = nullptr;
    bool direct = false;  ///< its step writes where it lies
    int64_t size = 0;
  };
  struct Group {
    const ChainProgram::Group* program = nullptr;
    std::vector<Side> inputs;
    std::vector<Target> outputs;
    Dims walk;  ///< the shape with merged axes, for strided inputs
    int64_t count = 0, tile = 0, grain = 0;
    bool by_rows = false;  ///< tiles end with the innermost axis
  };
  struct Part {
    size_t group;
    int64_t begin, end;
  };
  class Registers;

  void bind(Group& g, const ChainGroup& source);
  void meet(Group& g);
  static void run_range(const Group& g, Registers& registers, int64_t begin, int64_t end);
  std::shared_ptr<const ChainProgram> program_;
  std::vector<Group> groups_;
  std::vector<Part> parts_;
  bool copies_ = false;
};

}  // namespace npu::ops
