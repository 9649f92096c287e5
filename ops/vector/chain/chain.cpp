// SPDX-License-Identifier: Apache-2.0
// A tile goes through all steps before the next one begins, so a chain reads its inputs and writes its outputs once,
// whatever lies between. Operands that kernels can read where they lie cost no copy; the step that makes an output
// writes to memory directly where it may. Parts depend on sizes and on the number of steps alone.
#include "ops/vector/chain/chain.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/thread_pool.h"
#include "ops/scratch.h"
#include "ops/tuning/parts.h"
#include "ops/vector/conversion/stored.h"

namespace npu::ops {
namespace {

constexpr int64_t kWorkingSet = 24 << 10;  // bytes of a tile's registers: they stay in the first-level cache
constexpr int64_t kTile = 1024;            // elements, at most
constexpr int64_t kLeastTile = 256;        // below it calls of kernels cost more than misses
constexpr int64_t kMillion = 1 << 20;      // elements times steps, of which …
constexpr int64_t kParts = 32;             // … so many parts are made: some twenty microseconds each
constexpr int64_t kGrain = kMillion / kParts;
constexpr int64_t kLongRow = 256;  // elements; shorter rows are put together in a buffer
constexpr int64_t kStagger = 128;  // bytes between buffers, so that they do not meet in one set of the cache
// As in chain_program.cpp, which refuses more.
constexpr size_t kMostRegisters = 512;

const tuning::Point kTilePoint("chain_tile", "Elements that go through all steps of a chain before the next ones.",
                               tuning::kSizeNames);
const tuning::Point kPartsPoint("chain_parts", "Into how many parts a chain over a million elements and steps is cut.",
                                tuning::kPartNames);

std::string key_of(const ChainGroup& source, const Dims& shape) {
  std::string out = fmt::format("{} of", shape);
  for (const DType input : source.inputs) out += fmt::format(" {}", name_of(input));
  for (const ChainStep& step : source.steps) out += fmt::format(" {}>{}", step.op, name_of(step.result));
  return out;
}

// Parts begin at multiples of 64 elements, so that threads share no cache line of an aligned output.
int64_t rounded(int64_t count) { return (count + 63) / 64 * 64; }

int64_t span_bytes(const Tensor& t) { return t.span() * static_cast<int64_t>(size_of(t.dtype)); }

/// Merges neighbouring axes along which every one of `strides` goes on evenly.
Dims merge(const Dims& shape, std::vector<Dims>& strides) {
  Dims out;
  std::vector<Dims> merged(strides.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool even = !out.empty();
    for (size_t k = 0; k < strides.size() && even; ++k) even = merged[k].back() == strides[k][axis] * shape[axis];
    if (even)
      out.back() *= shape[axis];
    else
      out.push_back(shape[axis]);
    for (size_t k = 0; k < strides.size(); ++k) {
      if (even)
        merged[k].back() = strides[k][axis];
      else
        merged[k].push_back(strides[k][axis]);
    }
  }
  strides = std::move(merged);
  return out;
}

}  // namespace

int64_t Chain::cost() const {
  int64_t sum = 200;
  for (const Group& g : groups_) sum += g.count * static_cast<int64_t>(g.program->steps.size());
  return sum;
}

void Chain::bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  groups_.assign(program_->groups_.size(), {});
  parts_.clear();
  size_t in = 0, out = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    Group& g = groups_[i];
    g.program = &program_->groups_[i];
    const size_t next_in = in + g.program->inputs, next_out = out + g.program->outputs.size();
    require(next_in <= inputs.size() && next_out <= outputs.size(), "a chain has {} inputs and {} outputs; more needed",
            inputs.size(), outputs.size());
    for (; in < next_in; ++in) g.inputs.push_back({inputs[in]});
    for (; out < next_out; ++out) g.outputs.push_back({outputs[out]});
    bind(g, program_->source_[i]);
    for (int64_t begin = 0; begin < g.count; begin += g.grain)
      parts_.push_back({i, begin, std::min(g.count, begin + g.grain)});
  }
  require(in == inputs.size() && out == outputs.size(), "a chain of {} inputs and {} outputs is given {} and {}", in,
          out, inputs.size(), outputs.size());
  copies_ = false;
  for (Group& g : groups_) meet(g);
}

void Chain::bind(Group& g, const ChainGroup& source) {
  const ChainProgram::Group& p = *g.program;
  require(!g.outputs.empty(), "a group of a chain has no output");
  const Dims shape = g.outputs.front().tensor.shape;
  g.count = count_of(shape);
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    Target& t = g.outputs[k];
    const auto reg = static_cast<size_t>(p.outputs[k]);
    require(t.tensor.shape == shape && t.tensor.contiguous() && t.tensor.dtype == p.dtype[reg],
            "an output of a chain is {}; it must be {}, row-major, {}", t.tensor, shape, p.dtype[reg]);
    t.convert = converter(p.slot[reg], t.tensor.dtype);
    t.size = static_cast<int64_t>(size_of(t.tensor.dtype));
  }
  std::vector<Dims> strides;
  for (size_t k = 0; k < g.inputs.size(); ++k) {
    Side& s = g.inputs[k];
    require(s.tensor.dtype == p.dtype[k], "input {} of a chain is {}; it must be {}", k, s.tensor, p.dtype[k]);
    // A number handed over as a one-element tensor broadcasts whatever its rank, as in Elementwise.
    const bool number = s.tensor.rank() > shape.size() && s.tensor.count() == 1;
    s.tensor = (number ? s.tensor.view({}, {}) : s.tensor).expanded(shape);
    s.convert = converter(s.tensor.dtype, p.slot[k]);
    s.size = static_cast<int64_t>(size_of(s.tensor.dtype));
    const bool same = reads_as(s.tensor.dtype, p.slot[k]);
    const bool constant = std::all_of(s.tensor.strides.begin(), s.tensor.strides.end(), [](auto v) { return v == 0; });
    s.mode = same && s.tensor.contiguous() ? Mode::kDirect : constant && g.count > 1 ? Mode::kConstant : Mode::kStrided;
    if (s.mode == Mode::kStrided) strides.push_back(s.tensor.strides);
  }
  g.walk = merge(shape, strides);
  size_t at = 0;
  for (Side& s : g.inputs)
    if (s.mode == Mode::kStrided) s.strides = strides[at++];
  g.by_rows = at > 0 && g.walk.size() > 1 && g.walk.back() >= kLongRow;
  const auto steps = std::max<int64_t>(1, static_cast<int64_t>(p.steps.size()));
  g.tile = std::clamp(kWorkingSet / std::max(1, p.buffers) / p.widest / 64 * 64, kLeastTile, kTile);
  g.grain = std::max(kTile, rounded(kGrain / steps));
  if (g.count > g.grain) {  // smaller ones are done before it would matter
    g.tile = tuning::size_for(kTilePoint, g.tile, [&] { return key_of(source, shape); });
    const int64_t parts = tuning::parts_for(kPartsPoint, kParts, [&] { return key_of(source, shape); });
    g.grain = std::max({kTile, g.tile, rounded(kMillion / parts / steps)});
  }
  // Even parts, so that two or four threads end together.
  const int64_t parts = (g.count + g.grain - 1) / g.grain, even = parts > 2 ? (parts + 3) / 4 * 4 : parts;
  if (parts > 1) g.grain = rounded((g.count + even - 1) / even);
}

void Chain::move(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  size_t in = 0, out = 0;
  copies_ = false;
  for (Group& g : groups_) {
    for (Side& s : g.inputs) s.tensor.data = inputs[in++].data;
    for (Target& t : g.outputs) t.tensor.data = outputs[out++].data;
    meet(g);
  }
}

/// Where outputs lie over inputs: an input that is still read after its position was written must be waited for, and
/// one that lies there in another way must be copied first.
void Chain::meet(Group& g) {
  const ChainProgram::Group& p = *g.program;
  for (Side& s : g.inputs) s.copied = false;
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    Target& t = g.outputs[k];
    const auto reg = static_cast<size_t>(p.outputs[k]);
    const int written = static_cast<int>(reg) - static_cast<int>(p.dtype.size() - p.steps.size());
    // A register that is an input has no step to write it; of two outputs that are one register only the first is
    // written by the step, the other is a copy.
    t.direct = written >= 0 && t.tensor.dtype == p.slot[reg] && t.tensor.dtype != DType::kBool &&
               std::find(p.outputs.begin(), p.outputs.end(), p.outputs[k]) == p.outputs.begin() + static_cast<int>(k);
    const std::byte* b = t.tensor.bytes();
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      Side& s = g.inputs[i];
      const std::byte* a = s.tensor.bytes();
      if (a >= b + span_bytes(t.tensor) || b >= a + span_bytes(s.tensor)) continue;
      const bool in_place = a == b && s.tensor.dtype == t.tensor.dtype && s.tensor.strides == t.tensor.strides;
      if (!in_place) s.copied = true;
      // In place the step may write to memory only when no later step reads the input it overwrites.
      t.direct = t.direct && in_place && p.last_use[i] <= written;
    }
  }
  for (const Side& s : g.inputs) copies_ = copies_ || s.copied;
}

/// The registers of one part while its tiles are computed.
class Chain::Registers {
 public:
  explicit Registers(const Group& g)
      : g_(g),
        p_(*g.program),
        stride_(g.tile * p_.widest + kStagger),
        room_(static_cast<int64_t>(p_.buffers) * stride_ + 64) {
    for (size_t r = 0; r < p_.buffer.size(); ++r) at_[r] = p_.buffer[r] < 0 ? nullptr : room_ + p_.buffer[r] * stride_;
    // Numbers and constants fill their buffers once a part: no step writes over them.
    for (const ChainProgram::Number& number : p_.numbers) fill(number);
    for (size_t k = 0; k < g_.inputs.size(); ++k) {
      const Side& s = g_.inputs[k];
      if (s.mode == Mode::kConstant) s.convert(s.tensor.bytes(), 0, at_[k], 1, g_.tile);
    }
  }

  void tile(int64_t at, int64_t count) {
    load(at, count);
    for (const Target& t : g_.outputs)
      if (t.direct) at_[reg_of(t)] = t.tensor.bytes() + at * t.size;
    for (const ChainProgram::Step& step : p_.steps) compute(step, count);
    for (const Target& t : g_.outputs)
      if (!t.direct) t.convert(at_[reg_of(t)], 1, t.tensor.bytes() + at * t.size, 1, count);
  }

 private:
  size_t reg_of(const Target& t) const {
    return static_cast<size_t>(p_.outputs[static_cast<size_t>(&t - g_.outputs.data())]);
  }

  void fill(const ChainProgram::Number& number) {
    const double value = number.value.to_double();
    converter(DType::kDouble, number.slot)(&value, 0, at_[static_cast<size_t>(number.reg)], 1, g_.tile);
  }

  void load(int64_t at, int64_t count) {
    for (size_t k = 0; k < g_.inputs.size(); ++k) {
      const Side& s = g_.inputs[k];
      if (s.mode == Mode::kDirect) at_[k] = s.tensor.bytes() + at * s.size;
      if (s.mode == Mode::kStrided) load_strided(k, s, at, count);
    }
  }

  /// Row by row into the buffer; a long row whose elements lie side by side is read where it is.
  void load_strided(size_t k, const Side& s, int64_t at, int64_t count) {
    std::byte* const buffer = room_ + p_.buffer[k] * stride_;
    at_[k] = buffer;
    if (g_.walk.empty()) return s.convert(s.tensor.bytes(), 0, buffer, 1, count);
    const int64_t row = g_.walk.back(), stride = s.strides.back();
    const auto slot_size = static_cast<int64_t>(size_of(p_.slot[k]));
    const bool as_is = stride == 1 && reads_as(s.tensor.dtype, p_.slot[k]);
    // Two axes, as of a bias under short rows: stepped through without a division for each row.
    if (as_is && g_.walk.size() == 2 && at % row + count > row) return load_rows(s, at, count, buffer);
    for (int64_t done = 0; done < count;) {
      const int64_t n = std::min(count - done, row - (at + done) % row);
      std::byte* from = s.tensor.bytes() + offset(s, at + done) * s.size;
      if (n == count && as_is) {
        at_[k] = from;
        return;
      }
      s.convert(from, stride, buffer + done * slot_size, 1, n);
      done += n;
    }
  }

  /// Several rows whose elements lie side by side.
  void load_rows(const Side& s, int64_t at, int64_t count, std::byte* buffer) const {
    const int64_t row = g_.walk[1], step = s.strides[0] * s.size;
    int64_t column = at % row;
    const std::byte* from = s.tensor.bytes() + at / row * step;
    for (int64_t done = 0; done < count; from += step, column = 0) {
      const int64_t n = std::min(count - done, row - column);
      std::memcpy(buffer + done * s.size, from + column * s.size, static_cast<size_t>(n * s.size));
      done += n;
    }
  }

  int64_t offset(const Side& s, int64_t position) const {
    int64_t sum = 0;
    for (size_t axis = g_.walk.size(); axis-- > 0; position /= g_.walk[axis])
      sum += position % g_.walk[axis] * s.strides[axis];
    return sum;
  }

  void compute(const ChainProgram::Step& step, int64_t count) {
    const void* in[kMaxOperands];
    for (size_t k = 0; k < step.operands.size(); ++k) in[k] = at_[static_cast<size_t>(step.operands[k])];
    std::byte* out = at_[static_cast<size_t>(step.result)];
    if (step.run != nullptr)
      step.run(in, out, count);
    else if (step.narrow == nullptr)
      step.widen(in[0], 1, out, 1, count);
    if (step.narrow == nullptr) return;
    // Rounded into the type the operator would have stored and widened again: so the bits are those of the operators
    // one by one.
    std::byte* const between = room_ + (p_.buffers - 1) * stride_;
    step.narrow(step.run != nullptr ? out : in[0], 1, between, 1, count);
    step.widen(between, 1, out, 1, count);
  }

  const Group& g_;
  const ChainProgram::Group& p_;
  const int64_t stride_;
  const Scratch<std::byte> room_;
  std::byte* at_[kMostRegisters];  // NOLINT: as many as the program has are filled
};

void Chain::run_range(const Group& g, Registers& registers, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end;) {
    int64_t count = std::min(g.tile, end - at);
    if (g.by_rows) count = std::min(count, g.walk.back() - at % g.walk.back());
    registers.tile(at, count);
    at += count;
  }
}

void Chain::run_piece(int64_t begin, int64_t rows, int64_t stride, int64_t width) const {
  const Group& g = groups_.front();
  Registers registers(g);
  if (stride == width) return run_range(g, registers, begin, begin + rows * width);
  for (int64_t i = 0; i < rows; ++i, begin += stride) run_range(g, registers, begin, begin + width);
}

void Chain::run() const {
  if (!copies_) {
    parallel_parts(static_cast<int64_t>(parts_.size()), [this](int64_t i) {
      const Part& part = parts_[static_cast<size_t>(i)];
      const Group& g = groups_[part.group];
      Registers registers(g);
      run_range(g, registers, part.begin, part.end);
    });
    return;
  }
  // Overlap is rare: work on copies of the inputs it concerns.
  Chain copy = *this;
  std::vector<std::vector<std::byte>> kept;
  for (Group& g : copy.groups_) {
    for (Side& s : g.inputs) {
      if (!s.copied) continue;
      const std::byte* first = s.tensor.bytes();
      kept.emplace_back(first, first + span_bytes(s.tensor));
      s.tensor.data = kept.back().data();
      s.tensor.offset = 0;
    }
    copy.meet(g);
  }
  copy.copies_ = false;
  copy.run();
}

namespace {

struct ChainOperator final : Operator {
  std::vector<Tensor> inputs, outputs;
  std::shared_ptr<const ChainProgram> program;

  void prepare() override {
    require(program != nullptr, "a chain has no program");
    chain_ = std::make_unique<Chain>(program);
    chain_->bind(inputs, outputs);
  }
  void moved() override { chain_->move(inputs, outputs); }
  void run() override { chain_->run(); }
  int64_t cost() const override { return chain_->cost(); }

 private:
  std::unique_ptr<Chain> chain_;
};

NPU_OPERATOR(ChainOperator, "chain", "math", in<&ChainOperator::inputs>("inputs"),
             out<&ChainOperator::outputs>("outputs"), attr<&ChainOperator::program>("program"));

}  // namespace
}  // namespace npu::ops
