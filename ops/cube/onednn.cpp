// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled for one shape each and kept in a table by that shape: making one takes a millisecond, and
// finding it again in oneDNN's own cache still costs microseconds a call. All of them are made and run with one thread,
// so their order of summation does not depend on the machine's cores; parallelism is the caller's, over coarse fixed
// tiles.
#include "ops/cube/onednn.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <list>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/setting.h"
#include "base/thread_pool.h"
#include "ops/cube/one_thread.h"
#include "ops/scratch.h"

namespace npu::ops::cube {
namespace {

NPU_SETTING(bool, widen, "ANYNPU_WIDEN", false,
            "Compute bfloat16 and float16 matrix products in float32 even where the CPU has faster instructions.");

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

// Never destroyed: kernels may run until the process is gone.
dnnl::engine& engine() {
  static dnnl::engine& instance = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return instance;
}

// One a thread: kernels run in many threads at once, and none waits for another.
dnnl::stream& stream() {
  thread_local dnnl::stream instance(engine());
  return instance;
}

dnnl::memory memory(const Desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

// The arguments of a call in oneDNN's words: making them costs as much as a small convolution, so they are made once
// for each thread that runs a kernel at one time, and only addresses change.
class Call {
 public:
  using Arguments = std::vector<std::pair<int, Desc>>;
  explicit Call(const Arguments& arguments) {
    for (const auto& [name, desc] : arguments) memory_.push_back(memory(desc, nullptr));
    for (size_t i = 0; i < arguments.size(); ++i) arguments_.push_back({arguments[i].first, memory_[i].get()});
  }
  void run(const dnnl::primitive& primitive, std::span<void* const> addresses) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i].set_data_handle(addresses[i]);
    const auto count = static_cast<int>(arguments_.size());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream().get(), count, arguments_.data()),
                            "a kernel could not be run");
  }

 private:
  std::vector<dnnl::memory> memory_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Calls that no thread runs now.
class Calls {
 public:
  void run(const Call::Arguments& arguments, const dnnl::primitive& primitive, std::span<void* const> addresses) {
    std::unique_ptr<Call> call = taken();
    if (call == nullptr) call = std::make_unique<Call>(arguments);
    call->run(primitive, addresses);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(call));
  }

 private:
  std::unique_ptr<Call> taken() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto call = std::move(idle_.back());
    idle_.pop_back();
    return call;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Call>> idle_;
};

// All that `compile` reads.
struct Key {
  ConvPass pass;
  bool bias;
  DType dtype;
  ConvShape shape;
  WeightLayout layout;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    const ConvShape& s = key.shape;
    size_t hash = mix(static_cast<size_t>(key.pass) * 2 + key.bias, static_cast<int64_t>(key.dtype));
    for (const int64_t v : {static_cast<int64_t>(key.layout.order), key.layout.outputs, key.layout.inputs})
      hash = mix(hash, v);
    for (const int64_t v : {s.n, s.c, s.o, s.groups, s.rank}) hash = mix(hash, v);
    for (const Spatial* values : {&s.in, &s.out, &s.kernel, &s.stride, &s.dilation, &s.pad}) {
      for (const int64_t v : *values) hash = mix(hash, v);
    }
    return hash;
  }
  size_t operator()(const OnednnMatmul::Shape& s) const {
    size_t hash = mix(static_cast<size_t>(s.trans_a) * 2 + s.trans_b, static_cast<int64_t>(s.dtype));
    for (const int64_t v : {s.m, s.n, s.k, s.lda, s.ldb, static_cast<int64_t>(s.out) * 4 + s.ordered * 2 + s.bias})
      hash = mix(hash, v);
    return hash;
  }
  static size_t mix(size_t hash, int64_t v) {
    return (hash ^ static_cast<size_t>(v)) * 0x9e3779b97f4a7c15u + (hash >> 29);
  }
};

// What oneDNN wants to know, in its words.
struct Problem {
  explicit Problem(const Key& key);
  Desc src, weights, bias, dst, client_weights;
  dnnl::memory::dims stride, dilation, pad_before, pad_after;
  dnnl::primitive_attr attributes;
};

Tag images_tag(int64_t rank) { return rank == 2 ? Tag::nhwc : Tag::ndhwc; }

/// Strides over [groups,] o, c / groups, kernel….
dnnl::memory::dims weight_strides(const WeightLayout& layout, const ConvShape& s) {
  // Of the whole tensor, not of the shape: a kernel may see some of its channels only.
  const int64_t taps = ConvShape::product(s.kernel), pair = layout.outputs * layout.inputs;
  const auto strides = [&](int64_t output, int64_t input, int64_t step) {
    dnnl::memory::dims out{output, input};
    if (s.groups > 1) out.insert(out.begin(), s.o / s.groups * output);
    const auto kernel = out.end() - out.begin();
    for (size_t d = kMaxSpatial; d-- > kMaxSpatial - static_cast<size_t>(s.rank); step *= s.kernel[d])
      out.insert(out.begin() + kernel, step);
    return out;
  };
  switch (layout.order) {
    case WeightOrder::kRows: return strides(layout.inputs * taps, taps, 1);
    case WeightOrder::kInputsLast: return strides(layout.inputs * taps, 1, layout.inputs);
    default: return strides(1, layout.outputs, pair);
  }
}

Problem::Problem(const Key& key) {
  const ConvShape& s = key.shape;
  const bool grouped = s.groups > 1, gradient = key.pass == ConvPass::kBackwardWeights;
  const Type type = key.dtype == DType::kFloat ? Type::f32 : Type::bf16;
  const Type weight_type = gradient ? Type::f32 : type;
  dnnl::memory::dims from{s.n, s.c}, to{s.n, s.o}, w{s.o / s.groups, s.c / s.groups};
  if (grouped) w.insert(w.begin(), s.groups);
  // Two-dimensional convolutions use the last two of three axes. oneDNN counts a dilation from 0.
  for (size_t d = kMaxSpatial - static_cast<size_t>(s.rank); d < kMaxSpatial; ++d) {
    from.push_back(s.in[d]), to.push_back(s.out[d]), w.push_back(s.kernel[d]);
    stride.push_back(s.stride[d]), dilation.push_back(s.dilation[d] - 1);
    pad_before.push_back(s.pad[d]), pad_after.push_back(s.pad_after(d));
  }
  src = Desc(from, type, images_tag(s.rank));
  dst = Desc(to, type, images_tag(s.rank));
  // Images lie channels last, the order in which oneDNN is level with the frameworks in all three passes. Of weights it
  // chooses the order, usually blocked to its vectors; WeightReorder leads there from the client's.
  weights = Desc(w, weight_type, Tag::any);
  client_weights = Desc(w, weight_type, weight_strides(key.layout, s));
  if (key.bias) bias = Desc({s.o}, Type::f32, Tag::a);
  // The library's own scratch memory belongs to the thread that compiled the kernel.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
}

// Never Winograd, which `auto` may pick: its transforms lose digits.
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

auto forward_desc(const Problem& p) {
  const auto kind = dnnl::prop_kind::forward_training;
  return p.bias.is_zero()
             ? dnnl::convolution_forward::primitive_desc(engine(), kind, kDirect, p.src, p.weights, p.dst, p.stride,
                                                         p.dilation, p.pad_before, p.pad_after, p.attributes)
             : dnnl::convolution_forward::primitive_desc(engine(), kind, kDirect, p.src, p.weights, p.bias, p.dst,
                                                         p.stride, p.dilation, p.pad_before, p.pad_after, p.attributes);
}

// Gradients are described with the forward kernel they belong to, as oneDNN asks.
auto data_desc(const Problem& p) {
  return dnnl::convolution_backward_data::primitive_desc(engine(), kDirect, p.src, p.weights, p.dst, p.stride,
                                                         p.dilation, p.pad_before, p.pad_after, forward_desc(p),
                                                         p.attributes);
}

auto weights_desc(const Problem& p, DType dtype) {
  // Weight gradients are float32, but a forward kernel exists for weights of the images' type only.
  Problem hint = p;
  if (dtype != DType::kFloat) hint.weights = Desc(p.weights.get_dims(), Type::bf16, Tag::any);
  return dnnl::convolution_backward_weights::primitive_desc(engine(), kDirect, p.src, p.weights, p.dst, p.stride,
                                                            p.dilation, p.pad_before, p.pad_after, forward_desc(hint),
                                                            p.attributes);
}

// Weights between the client's order and a kernel's, cut along the kernel's outermost axis into pieces for the pool.
class WeightReorder {
 public:
  WeightReorder(const Desc& client, const Desc& packed, bool pack) : pack_(pack) {
    const auto dims = packed.get_dims(), strides = packed.get_strides(), inner = packed.get_inner_idxs();
    const auto axis = static_cast<size_t>(std::max_element(strides.begin(), strides.end()) - strides.begin());
    int64_t block = 1, elements = 1;
    for (size_t i = 0; i < inner.size(); ++i)
      if (inner[i] == static_cast<int64_t>(axis)) block *= packed.get_inner_blks()[i];
    for (const int64_t size : dims) elements *= size;
    // Halved while a piece keeps 1 MiB of float32 and cuts no block.
    while (elements / pieces_ >= 2 * kPieceElements && dims[axis] % (2 * pieces_ * block) == 0) pieces_ *= 2;
    auto part = dims;
    part[axis] /= pieces_;
    const auto bytes = static_cast<int64_t>(dnnl::memory::data_type_size(packed.get_data_type()));
    client_step_ = part[axis] * client.get_strides()[axis] * bytes;
    packed_step_ = part[axis] / block * strides[axis] * bytes;
    // A single piece keeps what pads its blocks.
    const dnnl::memory::dims origin(dims.size(), 0);
    client_ = pieces_ == 1 ? client : client.submemory_desc(part, origin);
    packed_ = pieces_ == 1 ? packed : packed.submemory_desc(part, origin);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc desc(engine(), pack ? client_ : packed_, engine(), pack ? packed_ : client_,
                                             attributes);
    primitive_ = dnnl::reorder(desc);
    scratch_ = desc.scratchpad_desc();
  }

  void run(const void* client, const void* packed) const {
    parallel_parts(pieces_, [&](int64_t i) {
      const OneThread one;
      const Scratch<std::byte> scratch(static_cast<int64_t>(scratch_.get_size()));
      const auto from = memory(client_, static_cast<const std::byte*>(client) + i * client_step_);
      const auto to = memory(packed_, static_cast<const std::byte*>(packed) + i * packed_step_);
      primitive_.execute(stream(), {{DNNL_ARG_FROM, pack_ ? from : to},
                                    {DNNL_ARG_TO, pack_ ? to : from},
                                    {DNNL_ARG_SCRATCHPAD, memory(scratch_, scratch.data())}});
    });
  }

 private:
  static constexpr int64_t kPieceElements = int64_t{1} << 18;
  bool pack_;
  int64_t pieces_ = 1, client_step_ = 0, packed_step_ = 0;
  Desc client_, packed_, scratch_;
  dnnl::primitive primitive_;
};

class Conv final : public OnednnConv {
 public:
  template <class PrimitiveDesc>
  Conv(const Key& key, const PrimitiveDesc& desc, const dnnl::primitive& primitive, const Desc& weights)
      : key_(key),
        problem_(key),
        primitive_(primitive),
        weights_(weights),
        scratch_(desc.scratchpad_desc()),
        scratch_bytes_(static_cast<int64_t>(scratch_.get_size())),
        arguments_(arguments()),
        reorder_(problem_.client_weights, weights, key.pass != ConvPass::kBackwardWeights) {}

  size_t weight_bytes() const override { return weights_.get_size(); }
  bool same_weights(const OnednnConv& other) const override {
    return weights_ == static_cast<const Conv&>(other).weights_;
  }
  void pack_weights(const void* weights, void* packed) const override { reorder_.run(weights, packed); }
  void unpack_gradient(const float* packed, float* weights) const override { reorder_.run(weights, packed); }

  void run(void* src, void* weights, const float* bias, void* dst) const override {
    const OneThread one;
    const Scratch<std::byte> scratch(scratch_bytes_);
    const std::array<void*, 5> addresses{src, weights, dst, scratch.data(), const_cast<float*>(bias)};
    calls_.run(arguments_, primitive_, addresses);
  }

 private:
  /// `src`, `weights` and `dst` are named as in the forward pass; oneDNN has names of its own for their gradients.
  Call::Arguments arguments() const {
    const bool data = key_.pass == ConvPass::kBackwardData, gradient = key_.pass == ConvPass::kBackwardWeights;
    Call::Arguments out{{data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, problem_.src},
                        {gradient ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weights_},
                        {data || gradient ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, problem_.dst},
                        {DNNL_ARG_SCRATCHPAD, scratch_}};
    if (key_.bias) out.emplace_back(DNNL_ARG_BIAS, problem_.bias);
    return out;
  }

  Key key_;
  Problem problem_;
  dnnl::primitive primitive_;
  Desc weights_, scratch_;
  int64_t scratch_bytes_;
  Call::Arguments arguments_;
  WeightReorder reorder_;
  mutable Calls calls_;
};

// The reference kernels are thousands of times slower than the others.
bool fast(const char* implementation) { return std::string_view(implementation).find("ref") == std::string_view::npos; }

// oneDNN 3.2 computes something else with AMX where a step along a line is of 64 channels or more, and a pixel has
// fewer than 32 (seen where those of a step and of the kernel's line are multiples of 32). Its next kernel is right.
bool miscounts(const char* implementation, const ConvShape& s) {
  const int64_t channels = s.c / s.groups;
  return std::string_view(implementation) == "brgconv:avx512_core_amx" && channels < 32 &&
         s.stride[kX] * channels >= 64;
}

std::shared_ptr<const OnednnConv> compile(const Key& key) {
  const OneThread one;  // the number of threads shapes the kernel
  try {
    const Problem p(key);
    const auto finish = [&]<class Primitive>(const auto& desc, const Desc& weights, Primitive*) {
      std::shared_ptr<const OnednnConv> made;
      if (fast(desc.impl_info_str())) made = std::make_shared<Conv>(key, desc, Primitive(desc), weights);
      return made;
    };
    if (key.pass == ConvPass::kForward) {
      auto desc = forward_desc(p);
      if (miscounts(desc.impl_info_str(), key.shape) && !desc.next_impl()) return nullptr;
      return finish(desc, desc.weights_desc(), static_cast<dnnl::convolution_forward*>(nullptr));
    }
    if (key.pass == ConvPass::kBackwardData) {
      const auto desc = data_desc(p);
      return finish(desc, desc.weights_desc(), static_cast<dnnl::convolution_backward_data*>(nullptr));
    }
    const auto desc = weights_desc(p, key.dtype);
    return finish(desc, desc.diff_weights_desc(), static_cast<dnnl::convolution_backward_weights*>(nullptr));
  } catch (const dnnl::error&) {
    return nullptr;  // not a convolution oneDNN knows; the caller has a way of its own
  }
}

class Matmul final : public OnednnMatmul {
 public:
  explicit Matmul(const Shape& s) : primitive_(nullptr) {
    const Type type = s.dtype == DType::kHalf ? Type::f16 : s.dtype == DType::kFloat ? Type::f32 : Type::bf16;
    using Dims = dnnl::memory::dims;
    a_ = Desc({s.m, s.k}, type, s.trans_a ? Dims{1, s.lda} : Dims{s.lda, 1});
    client_b_ = Desc({s.k, s.n}, type, s.trans_b ? Dims{1, s.ldb} : Dims{s.ldb, 1});
    b_ = s.ordered ? Desc({s.k, s.n}, type, Tag::any) : client_b_;
    // Mostly float32, even where operands are halves: the caller adds what else there is and rounds once.
    c_ = Desc({s.m, s.n}, s.out == DType::kFloat ? Type::f32 : type, Dims{s.n, 1});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const Desc bias = s.bias ? Desc({1, s.n}, Type::f32, Tag::ab) : Desc();
    const dnnl::matmul::primitive_desc desc(engine(), a_, b_, bias, c_, attributes);
    if (!fast(desc.impl_info_str())) return;
    scratch_bytes_ = static_cast<int64_t>(desc.scratchpad_desc().get_size());
    if (s.ordered) {
      // Others than this one are as fast on tiles of what lies as the client has it.
      if (std::string_view(desc.impl_info_str()).substr(0, 3) != "brg") return;
      b_ = desc.weights_desc();
      order_ = std::make_unique<dnnl::reorder>(dnnl::reorder::primitive_desc(engine(), client_b_, engine(), b_));
    }
    primitive_ = std::make_unique<dnnl::matmul>(desc);
    arguments_ = {
        {DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}, {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}};
    if (s.bias) arguments_.emplace_back(DNNL_ARG_BIAS, bias);
  }
  bool usable() const { return primitive_ != nullptr; }
  void run(const void* a, const void* b, void* c, const float* bias) const override {
    const OneThread one;
    const Scratch<std::byte> scratch(scratch_bytes_);
    const std::array<void*, 5> addresses{const_cast<void*>(a), const_cast<void*>(b), c, scratch.data(),
                                         const_cast<float*>(bias)};
    calls_.run(arguments_, *primitive_, addresses);
  }
  size_t right_bytes() const override { return b_.get_size(); }
  void order_right(const void* b, void* to) const override {
    const OneThread one;
    order_->execute(stream(), {{DNNL_ARG_FROM, memory(client_b_, b)}, {DNNL_ARG_TO, memory(b_, to)}});
  }
  bool same_right(const OnednnMatmul& other) const override { return b_ == static_cast<const Matmul&>(other).b_; }

 private:
  std::unique_ptr<dnnl::matmul> primitive_;
  std::unique_ptr<dnnl::reorder> order_;
  Desc a_, b_, c_, client_b_;
  int64_t scratch_bytes_ = 0;
  Call::Arguments arguments_;
  mutable Calls calls_;
};

std::shared_ptr<const OnednnMatmul> compile(const OnednnMatmul::Shape& shape) {
  const OneThread one;
  try {
    auto made = std::make_shared<Matmul>(shape);
    if (made->usable()) return made;
  } catch (const dnnl::error&) {
    // A type or stride this CPU has no kernel for; the caller widens.
  }
  return nullptr;
}

// The least recently used kernels go when the table is full; calls that hold one keep it alive.
template <class Key, class Kernel>
class Table {
 public:
  std::shared_ptr<const Kernel> get(const Key& key) {
    std::lock_guard lock(mutex_);
    if (const auto at = by_key_.find(key); at != by_key_.end()) {
      order_.splice(order_.begin(), order_, at->second);
      return at->second->second;
    }
    // Under the lock, so that no kernel is compiled twice. A refusal is kept as well: null is an answer.
    order_.emplace_front(key, compile(key));
    by_key_[key] = order_.begin();
    if (order_.size() > kLimit) {
      by_key_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

 private:
  static constexpr size_t kLimit = 1024;
  using Entry = std::pair<Key, std::shared_ptr<const Kernel>>;
  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<Key, typename std::list<Entry>::iterator, KeyHash> by_key_;
};

bool cpu_has(dnnl::cpu_isa wanted) {
  static const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

bool is_amd() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

}  // namespace

void onednn_sgemm(const GemmArgs<float>& g) {
  const OneThread one;
  // Its own runs of up to 384 lose more digits than torch's do.
  constexpr int64_t kRun = 192;
  const int64_t parts = std::max<int64_t>(1, (g.k + kRun - 1) / kRun);
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = g.k * part / parts, depth = g.k * (part + 1) / parts - begin;
    dnnl_sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.m, g.n, depth, g.alpha,
               g.a + begin * (g.trans_a ? g.lda : 1), g.lda, g.b + begin * (g.trans_b ? 1 : g.ldb), g.ldb,
               part == 0 ? g.beta : 1.0f, g.c, g.ldc);
  }
}

std::shared_ptr<const OnednnConv> OnednnConv::get(ConvPass pass, DType dtype, const ConvShape& shape, bool bias,
                                                  const WeightLayout& layout) {
  static auto& table = *new Table<Key, OnednnConv>;
  return table.get({pass, bias, dtype, shape, layout});
}

std::shared_ptr<const OnednnMatmul> OnednnMatmul::get(const Shape& shape) {
  static auto& table = *new Table<Shape, OnednnMatmul>;
  return table.get(shape);
}

bool computes_natively(DType dtype) {
  if (widen()) return false;
  // Intel's bfloat16 dot products without matrix units run at half the float32 rate, AMD's at twice.
  if (dtype == DType::kBFloat16) {
    return cpu_has(dnnl::cpu_isa::avx512_core_amx) || (cpu_has(dnnl::cpu_isa::avx512_core_bf16) && is_amd());
  }
  return dtype == DType::kHalf && cpu_has(dnnl::cpu_isa::avx512_core_fp16);
}

}  // namespace npu::ops::cube
