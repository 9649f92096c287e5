// SPDX-License-Identifier: Apache-2.0
// embedding_bag: sums (mode 0), means (1) or maxima (2) of the rows of weight that each bag names. offsets says where
// in indices a bag begins; rows of padding_idx do not count.
// Sums run in double, row after row as the bag names them. A bag is worked on by one thread, so bits do not depend on
// their number.
#include <limits>

#include "ops/index/indexed.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct EmbeddingBag final : Operator {
  Tensor weight, indices, offsets, per_sample_weights, out, offset2bag, bag_size, max_indices;
  int64_t mode = 0, padding_idx = -1;
  bool include_last_offset = false;
  IndexOffsets rows_named;
  Rows table, bags;
  int64_t count = 0;

  void prepare() override {
    require(weight.rank() == 2, "weight is {}; an embedding table has 2 dimensions", weight);
    require(indices.rank() == 1 && offsets.rank() == 1 && is_integer(offsets.dtype),
            "indices is {}, offsets is {}; both are integer tensors of one dimension", indices, offsets);
    require(mode >= 0 && mode <= 2, "mode is {}; use 0 (sum), 1 (mean) or 2 (max)", mode);
    require(!per_sample_weights.defined() || (mode == 0 && per_sample_weights.shape == indices.shape),
            "per_sample_weights is {}, indices is {}; weights belong to sums, one per index", per_sample_weights,
            indices);
    count = offsets.count() - (include_last_offset ? 1 : 0);
    check_shape(out, "output", {count, weight.shape[1]});
    // Row numbers (stride 1), not offsets: rows are loaded one by one and converted.
    rows_named.plan(indices.shape, {{indices, weight.shape[0], 1, false, "indices"}});
    table = Rows(weight, 1, DType::kDouble);
    bags = Rows(out, 1, DType::kDouble);
  }
  void run() override {
    const std::vector<int64_t> named = rows_named.read();
    const std::vector<int64_t> begins = bounds(static_cast<int64_t>(named.size()));
    std::vector<double> scale(named.size(), 1.0);
    if (per_sample_weights.defined()) {
      OrderedTensor(per_sample_weights, DType::kDouble).load(0, indices.count(), scale.data());
    }
    std::vector<int64_t> sizes(static_cast<size_t>(count)), best(static_cast<size_t>(out.count()), 0);
    std::vector<int64_t> bag_of(named.size());
    parallel_for(count, 16, [&](int64_t first, int64_t last) {
      for (int64_t bag = first; bag < last; ++bag) {
        const int64_t begin = begins[static_cast<size_t>(bag)], end = begins[static_cast<size_t>(bag) + 1];
        // Bags do not overlap: their ranges ascend, which bounds has made sure of.
        std::fill(bag_of.begin() + begin, bag_of.begin() + end, bag);
        sizes[static_cast<size_t>(bag)] = fill_bag(bag, begin, end, named, scale, best.data() + bag * table.length());
      }
    });
    write(offset2bag, bag_of);
    write(bag_size, sizes);
    write(max_indices, mode == 2 ? best : sizes);
  }
  int64_t cost() const override { return 1000 + 2 * indices.count() * weight.shape[1]; }

 private:
  std::vector<int64_t> bounds(int64_t total) const {
    std::vector<int64_t> begins(static_cast<size_t>(offsets.count()));
    OrderedTensor(offsets, DType::kInt64).load(0, offsets.count(), begins.data());
    // Where the client gives the last end, it stands among the offsets.
    if (!include_last_offset) begins.push_back(total);
    // Offsets are values: a wrong one is seen only now, and refused before anything is written.
    for (size_t i = 0; i < begins.size(); ++i) {
      const int64_t least = i == 0 ? 0 : begins[i - 1];
      require(begins[i] >= least && begins[i] <= total, "offsets[{}] is {}; offsets ascend from 0 to {} at most", i,
              begins[i], total);
    }
    return begins;
  }
  // Returns how many rows counted.
  int64_t fill_bag(int64_t bag, int64_t begin, int64_t end, const std::vector<int64_t>& named,
                   const std::vector<double>& scale, int64_t* best) const {
    const auto width = static_cast<size_t>(table.length());
    std::vector<double> row(width), total(width, 0.0);
    int64_t counted = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t name = named[static_cast<size_t>(i)];
      if (name == padding_idx) continue;
      const auto* x = static_cast<const double*>(table.load(name, row.data()));
      for (size_t d = 0; d < width; ++d) {
        // Of maxima the first of equal ones stays, and the first row counts whatever it holds.
        if (mode != 2) {
          total[d] += x[d] * scale[static_cast<size_t>(i)];
        } else if (counted == 0 || x[d] > total[d]) {
          total[d] = x[d];
          best[d] = name;
        }
      }
      ++counted;
    }
    // An empty bag stays 0.
    if (mode == 1 && counted > 0) {
      for (double& v : total) v /= static_cast<double>(counted);
    }
    auto* to = static_cast<double*>(bags.target(bag, row.data()));
    std::copy(total.begin(), total.end(), to);
    bags.store(bag, to);
    return counted;
  }
  // The client gives outputs it does not need with other sizes.
  static void write(const Tensor& to, const std::vector<int64_t>& values) {
    if (!to.defined() || to.count() != static_cast<int64_t>(values.size())) return;
    OrderedTensor(to, DType::kInt64).store(0, to.count(), values.data());
  }
};

NPU_OPERATOR(EmbeddingBag, "embedding_bag", "index", in<&EmbeddingBag::weight>("weight"),
             in<&EmbeddingBag::indices>("indices"), in<&EmbeddingBag::offsets>("offsets"),
             attr<&EmbeddingBag::mode>("mode"), optional<&EmbeddingBag::per_sample_weights>("per_sample_weights"),
             attr<&EmbeddingBag::include_last_offset>("include_last_offset"),
             attr<&EmbeddingBag::padding_idx>("padding_idx"), out<&EmbeddingBag::out>("out"),
             optional_out<&EmbeddingBag::offset2bag>("offset2bag"), optional_out<&EmbeddingBag::bag_size>("bag_size"),
             optional_out<&EmbeddingBag::max_indices>("max_indices"));

}  // namespace
}  // namespace npu::ops
