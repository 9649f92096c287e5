// SPDX-License-Identifier: Apache-2.0
// What language models need beside attention: RotaryEmbedding turns pairs of numbers by an angle of their position,
// TensorScatter writes new positions into a cache. Both go over their input once.
#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

struct Rotation {
  int64_t batch = 0, heads = 0, positions = 0, size = 0;
  int64_t pairs = 0;         ///< of each head; what is behind them is copied
  bool interleaved = false;  ///< pairs are neighbours; otherwise the halves of what is turned
  int64_t rows = 0;          ///< of a cache that position_ids number; 0 where it has a row for each position
};

Rotation describe(const Lowering& l) {
  const Dims& shape = l.shape(at(l, 0));
  require(shape.size() == 3 || shape.size() == 4, "X is {}; it must have 3 or 4 axes", shape);
  Rotation r;
  r.batch = shape[0];
  if (shape.size() == 4) {
    r.heads = shape[1], r.positions = shape[2], r.size = shape[3];
  } else {
    r.heads = int_attribute(l, "num_heads", 0), r.positions = shape[1];
    require(r.heads > 0 && shape[2] % r.heads == 0,
            "X is {}, num_heads is {}: its last axis does not make that many heads", shape, r.heads);
    r.size = shape[2] / r.heads;
  }
  int64_t turned = int_attribute(l, "rotary_embedding_dim", 0);
  if (turned == 0) turned = r.size;
  require(turned > 0 && turned % 2 == 0 && turned <= r.size,
          "rotary_embedding_dim is {} for heads of {} numbers; it must be even and not above", turned, r.size);
  r.pairs = turned / 2, r.interleaved = int_attribute(l, "interleaved", 0) != 0;
  const Dims& cache = l.shape(at(l, 1));
  require(l.shape(at(l, 2)) == cache, "cos_cache is {}, sin_cache is {}; they must have one shape", cache,
          l.shape(at(l, 2)));
  if (has(l, 3)) {
    require(cache.size() == 2 && cache[1] == r.pairs, "cos_cache is {}; with position_ids it must be Nx{}", cache,
            r.pairs);
    require(l.shape(at(l, 3)) == (Dims{r.batch, r.positions}), "position_ids is {}; it must be {}x{}",
            l.shape(at(l, 3)), r.batch, r.positions);
    r.rows = cache[0];
  } else {
    require(cache == (Dims{r.batch, r.positions, r.pairs}), "cos_cache is {}; without position_ids it must be {}x{}x{}",
            cache, r.batch, r.positions, r.pairs);
  }
  return r;
}

template <class T>
void turn(const Rotation& r, const T* x, const T* cosine, const T* sine, T* y) {
  for (int64_t p = 0; p < r.pairs; ++p) {
    const int64_t first = r.interleaved ? 2 * p : p, second = r.interleaved ? 2 * p + 1 : p + r.pairs;
    y[first] = cosine[p] * x[first] - sine[p] * x[second];
    y[second] = sine[p] * x[first] + cosine[p] * x[second];
  }
  std::copy(x + 2 * r.pairs, x + r.size, y + 2 * r.pairs);
}

/// Row of the cache for each position of each batch. Raises 161002 for one that it does not have.
std::vector<int64_t> cache_rows(const Frame& frame, const Planned& ids, const Rotation& r) {
  std::vector<int64_t> out(static_cast<size_t>(r.batch * r.positions));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i);
  if (ids.slot < 0) return out;
  const auto* from = frame.tensor(ids).as<int64_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    require(from[i] >= -r.rows && from[i] < r.rows, "position_ids holds {}; cos_cache has {} rows", from[i], r.rows);
    out[i] = from[i] < 0 ? from[i] + r.rows : from[i];
  }
  return out;
}

void rotary(Lowering& l) {
  require_floats(l, 0);
  const Rotation r = describe(l);
  const Planned in = l.input(at(l, 0));
  const DType slot = slot_of(in.dtype());
  const bool flat = in.shape().size() == 3;
  const Planned x = rows_of(l, in, slot), cosine = rows_of(l, l.input(at(l, 1)), slot),
                sine = rows_of(l, l.input(at(l, 2)), slot);
  Planned ids;
  if (has(l, 3)) ids = rows_of(l, l.input(at(l, 3)), DType::kInt64);
  const Result out = result(l, 0, in.dtype(), in.shape(), slot);
  if (out.out.view.count() == 0) return;
  std::vector<Planned> reads{x, cosine, sine};
  if (ids.slot >= 0) reads.push_back(ids);
  l.run(reads, {out.rows}, [=, to = out.rows](Frame& frame) {
    const std::vector<int64_t> rows = cache_rows(frame, ids, r);
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      const T *from = frame.tensor(x).as<T>(), *c = frame.tensor(cosine).as<T>(), *s = frame.tensor(sine).as<T>();
      T* y = frame.tensor(to).as<T>();
      parallel_parts(r.batch * r.positions, [&](int64_t i) {
        const int64_t b = i / r.positions, p = i % r.positions, row = rows[static_cast<size_t>(i)] * r.pairs;
        for (int64_t h = 0; h < r.heads; ++h) {
          const int64_t place = (flat ? i * r.heads + h : (b * r.heads + h) * r.positions + p) * r.size;
          turn(r, from + place, c + row, s + row, y + place);
        }
      });
    });
  });
  out.store(l);
}

/// A cache [batch, …, positions, …]; `update` has fewer positions.
struct CacheWrite {
  int64_t batch = 1, between = 1;     ///< between: the axes from the batch's to that of the positions
  int64_t positions = 1, update = 1;  ///< of the cache, of what is written
  size_t bytes = 0;                   ///< of one position
  bool circular = false;
};

void write_positions(const CacheWrite& w, const int64_t* starts, const std::byte* update, std::byte* cache) {
  for (int64_t b = 0; b < w.batch; ++b) {
    const int64_t start = starts == nullptr ? 0 : starts[b];
    require(start >= 0 && (w.circular || start + w.update <= w.positions),
            "write_indices holds {}: {} positions from there on do not fit a cache of {}", start, w.update,
            w.positions);
    for (int64_t i = b * w.between; i < (b + 1) * w.between; ++i)
      for (int64_t p = 0; p < w.update; ++p)
        std::memcpy(cache + static_cast<size_t>(i * w.positions + (start + p) % w.positions) * w.bytes,
                    update + static_cast<size_t>(i * w.update + p) * w.bytes, w.bytes);
  }
}

void tensor_scatter(Lowering& l) {
  const Planned cache = l.input(at(l, 0)), update = in_rows(l, l.input(at(l, 1)));
  const Dims shape = cache.shape();
  const size_t axis = checked_axis(int_attribute(l, "axis", -2), shape.size());
  require(axis > 0, "axis is the first one, that of the batch; it must be another");
  Dims wanted = shape;
  if (update.shape().size() == shape.size()) wanted[axis] = std::min(update.shape()[axis], shape[axis]);
  require(update.shape() == wanted && update.dtype() == cache.dtype(),
          "update is {} of {}, the cache {} of {}: only axis {} may be smaller", update.dtype(), update.shape(),
          cache.dtype(), shape, axis);
  const std::string mode = text_attribute(l, "mode", "linear");
  require(mode == "linear" || mode == "circular", "mode is '{}'; linear and circular are known", mode);
  CacheWrite w{shape[0], 1, shape[axis], wanted[axis], size_of(cache.dtype()), mode == "circular"};
  for (size_t i = 1; i < axis; ++i) w.between *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) w.bytes *= static_cast<size_t>(shape[i]);
  const Planned out = l.make(0, cache.dtype(), shape);
  if (out.view.count() == 0) return;
  copy(l, cache, out);
  if (update.view.count() == 0) return;
  Planned starts;
  if (has(l, 2)) {
    require(l.shape(at(l, 2)) == Dims{shape[0]}, "write_indices is {}; it needs one number for each of {}",
            l.shape(at(l, 2)), shape[0]);
    starts = rows_of(l, l.input(at(l, 2)), DType::kInt64);
  }
  std::vector<Planned> used{update, out};
  if (starts.slot >= 0) used.push_back(starts);
  l.run(used, [=](Frame& frame) {
    write_positions(w, starts.slot < 0 ? nullptr : frame.tensor(starts).as<int64_t>(), frame.tensor(update).bytes(),
                    frame.tensor(out).bytes());
  });
}

NPU_NODE("ai.onnx::RotaryEmbedding", rotary);
NPU_NODE("ai.onnx::TensorScatter", tensor_scatter);

}  // namespace
}  // namespace npu::graph::onnx
