// SPDX-License-Identifier: Apache-2.0
// coalesce_sparse: entries of a sparse tensor that name one place become one entry with the sum of their values. The
// client has sorted the places out: entry i goes to row places[i] of the results.
#include "ops/runner/delegate.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

struct CoalesceSparse final : Delegate {
  Tensor unique, places, indices, values, new_indices, new_values;

  void prepare() override {
    require(unique.rank() == 1 && places.rank() == 1, "unique is {}, places is {}; both are lines", unique, places);
    const int64_t entries = places.count(), rows = unique.count();
    require(indices.rank() == 2 && indices.shape[0] == entries,
            "indices is {}, places has {} entries; one row for each", indices, entries);
    require(values.rank() >= 1 && values.shape[0] == entries, "values is {}, places has {} entries; one row for each",
            values, entries);
    check_shape(new_indices, "new_indices", {rows, indices.shape[1]});
    Dims expected = values.shape;
    expected[0] = rows;
    check_shape(new_values, "new_values", expected);
    require(new_values.dtype == values.dtype, "new_values is {}, values is {}; both have one dtype", new_values,
            values);
    restart();
    // Entries of one place name the same indices, so it does not matter that the last one stays.
    step("index_copy", with("self", new_indices), with("index", places), with("source", indices),
         with("out", new_indices));
    // Cleared first: index_add adds to what is there, in the order of the entries, so sums do not depend on threads.
    step("copy", with("self", Operand{{}, Scalar(0)}), with("out", new_values));
    step("index_add", with("self", new_values), with("index", places), with("source", values), with("out", new_values));
  }
};

NPU_OPERATOR(CoalesceSparse, "coalesce_sparse", "index", in<&CoalesceSparse::unique>("unique"),
             in<&CoalesceSparse::places>("places"), in<&CoalesceSparse::indices>("indices"),
             in<&CoalesceSparse::values>("values"), out<&CoalesceSparse::new_indices>("new_indices"),
             out<&CoalesceSparse::new_values>("new_values"));

}  // namespace
}  // namespace npu::ops
