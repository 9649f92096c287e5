// SPDX-License-Identifier: Apache-2.0
// A plan: what running a function with arguments of certain types and shapes takes, step by step. It never changes once
// made; what a run writes is in its Frame, so any number of runs may use one plan at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/ir/attribute.h"
#include "graph/ir/function.h"
#include "ops/operator.h"

namespace npu::graph {

class Frame;
struct ListType;

/// Position in Plan::slots.
using SlotId = int32_t;

/// What an edge holds, as far as it is known before the run.
struct Planned {
  ValueType type;
  Tensor view = {};  ///< of tensors: dtype, shape, strides and offset over the slot's memory; no address
  SlotId slot = -1;  ///< -1: nothing known yet
  std::shared_ptr<const Literal> literal = {};  ///< the elements, where they are known
  int32_t argument = -1;                        ///< of objects: which argument of the function it is
  std::shared_ptr<const ListType> list = {};    ///< of lists of our own: what they hold
  bool dynamic = false;                         ///< a tensor whose shape only the run tells

  const Dims& shape() const { return view.shape; }
  DType dtype() const { return type.dtype; }
};

/// Whether its elements lie row-major and dense; what only the run brings does.
inline bool contiguous(const Planned& planned) { return planned.dynamic || planned.view.contiguous(); }

enum class SlotKind : uint8_t {
  kArena,     ///< memory of the frame, shared by slots that do not live at the same time
  kConstant,  ///< a literal of the plan
  kLate,      ///< a value that the run brings: an argument, a result, a variable's value, an object
};

struct Slot {
  SlotKind kind = SlotKind::kArena;
  int64_t bytes = 0;
  int64_t offset = 0;  ///< in the arena
  std::shared_ptr<const Literal> literal;
  int32_t first = -1, last = -1;  ///< steps that write it first and use it last; -1: none
  SlotId shares = -1;             ///< lives in the memory of this slot, whose lifetime covers both
  int64_t within = 0;             ///< where in it, in bytes
  bool result = false;            ///< late memory that the frame allocates at the start, given away as a result
  bool fresh = false;             ///< late memory that the frame allocates before the first step that writes it
};

struct TensorField {
  const ops::Field* field;
  std::vector<Planned> values;  ///< one, or a list
};

/// One operator, or one piece of work on values.
struct Step {
  std::shared_ptr<const Node> node;  ///< for error texts
  const ops::OperatorDef* def = nullptr;
  std::vector<TensorField> tensors;
  std::vector<std::function<void(ops::Operator&)>> attributes;
  std::function<void(Frame&)> body;  ///< when def is null
  std::vector<SlotId> uses;          ///< all it reads or writes
  std::vector<SlotId> fresh;         ///< late slots that get memory of their own before this step
  std::vector<SlotId> done;          ///< late slots nobody needs after this step
  /// Of an operator on a list that brings its tensors together in a block: the block, and where each lies in it, in
  /// bytes. Those that lie there from the start are not moved.
  SlotId block = -1;
  std::vector<int64_t> places;
  bool aside = false;           ///< it runs in a thread of its group's beside the steps that follow
  std::vector<int32_t> awaits;  ///< such steps that must be done before this one
};

/// A node that computes, for observers; its steps stand side by side. Nodes that the client runs are none of them, nor
/// are those that only bring values or run functions.
struct PlannedNode {
  std::shared_ptr<const Node> node;
  std::vector<std::string> origins;  ///< the client's nodes that a fused one stands for
  int32_t first = 0, end = 0;        ///< its steps
  std::vector<Planned> inputs, outputs;
};

struct Plan {
  std::string function;  ///< the client's name of it
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<PlannedNode> nodes;
  std::vector<std::vector<int32_t>> users;  ///< of each late slot: the operator steps that hold its address
  std::vector<Planned> arguments;
  std::vector<Planned> results;
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;  ///< most bytes alive at one step: what no arena can go below
  int64_t host_nodes = 0;  ///< nodes that the client runs
  bool asides = false;     ///< some step runs aside
  /// What comes after a shape or value that only the run tells; null when the plan goes to the end.
  std::shared_ptr<const Function> rest;
  std::vector<Planned> rest_arguments;
};

/// Lets outputs take the memory of inputs that die with the step; lifetimes must be known.
void share_slots(Plan& plan);

/// Lets what steps bring together be written where it will lie, see Step::block; lifetimes must be known, and what
/// share_slots does.
void pack_slots(Plan& plan);

/// Lets steps that meet other ranks run aside, until a step needs what they read or write; lifetimes must be known, and
/// what shares memory.
void run_aside(Plan& plan);

/// Gives every arena slot an offset so that slots alive at the same step do not overlap; fills arena_bytes, live_bytes.
void place_slots(Plan& plan);

}  // namespace npu::graph
