// SPDX-License-Identifier: Apache-2.0
// The functions that the bind column of operator_types.tsv knows: views of tensors, and parts of lists. Nothing is
// computed.
//
//   transposed(x,flag)     the last two axes change places where the flag is true
//   strided(x,sizes,strides,offset)   a view of all that x's memory holds
//   sliced(x,offsets,sizes)   a block; a size of -1 goes to the end
//   shaped(x,y)            x with the sizes of y, which has as many elements
//   part(list,begin,end)   some members of a list
//   item(list,i)           one member
//   starts(list)           the first of each pair
//   ends(list)             the same, where both of each pair must be equal
//   outermost_last(list)   the pairs in the order of axes from the last to the first
//   switched(flag)         the other truth value
//   complement(p)          1 - p
//   inverse(p)             1 / p, 0 of 0
//   mode(word)             none, mean, sum as 0, 1, 2
//   writing(word)          none, add, mul as 0, 1, 2
#pragma once

#include <string_view>
#include <vector>

#include "acl/singleop/value.h"

namespace npu::acl {

/// An argument of a function: its name in the table, and what the client gave.
struct NamedValue {
  std::string_view name;
  Value value;
};

/// Raises 161002 where there is no such function, or it takes another number of arguments.
void check_function(std::string_view function, size_t arguments);

/// What `function` makes of its arguments. Raises 100000 where they do not fit together.
Value apply_function(std::string_view function, const std::vector<NamedValue>& arguments);

}  // namespace npu::acl
