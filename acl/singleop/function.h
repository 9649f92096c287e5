// SPDX-License-Identifier: Apache-2.0
// The functions that the bind column of operator_types.tsv knows: views of tensors, and parts of lists. No element is
// read or written.
//
//   transposed(x,flag)     the last two axes change places where the flag is true
//   strided(x,sizes,strides,offset)   a view of all that x's memory holds
//   sliced(x,offsets,sizes)   a block; a size of -1 goes to the end
//   flattened(x,axis)      x as a matrix: axes before `axis` are rows, the others columns
//   shaped(x,y)            x with the sizes of y, which has as many elements
//   swapped(x,i,k)         two axes change places
//   squeezed(x,i)          without axis i, which has one element
//   unsqueezed(x,i)        with an axis i of one element; of a list, each member
//   joined(x,i,k)          axes i to k as one
//   gridded(y,size)        y as the points of a grid over an image of `size`
//   diagonal(x,k)          the k-th diagonal of a matrix
//   placed(list,mask)      a tensor for each 1 of the mask, none for each 0
//   wanted(x,flag)         nothing where the flag is false
//   part(list,begin,end)   some members of a list
//   last(list,n)           the last n members
//   item(list,i)           one member
//   ends(list)             the first of each pair, whose members must be equal
//   behind(list,n)         the members behind the first n
//   paired(pads)           those of ONNX, all before the axes and all behind them, as the two of each axis
//   window(ksize,global,x)   the sizes of a pool's windows along x's spatial axes
//   window_pads(mode,global,pads,x,ksize,strides)   the pads of a pool, two for each spatial axis
//   outermost_last(list)   the pairs in the order of axes from the last to the first
//   sizes(x,begin,end)     some of x's sizes
//   shares(x,i,n)          x's size along axis i in n equal parts
//   completed(list,x,i)    the one -1 of a list becomes what the others leave of x's size along axis i
//   axes_but(x,i)          the numbers of all axes but one
//   within(n,x,i)          n without whole multiples of x's size along axis i
//   left_over(y,x,filter,strides,pads,dilations)   by how much y is larger than a transposed convolution makes it
//   switched(flag)         the other truth value
//   unset(flag)            false; true is refused
//   complement(p)          1 - p
//   inverse(p)             1 / p, 0 of 0
//   freedom(unbiased,n)    n, or 0 where unbiased is false
//   order(p)               the order of a norm, as far numbers stand for infinity
//   root(p)                1 / p, and 1 where a norm of order p takes no root
//   mode(word)             none, mean, sum as 0, 1, 2
//   writing(word)          none, add, mul as 0, 1, 2
//   interpolation(word)    bilinear, nearest, bicubic as 0, 1, 2
//   border(word)           zeros, border, reflection as 0, 1, 2
//   bag(word)              sum, mean, max as 0, 1, 2
#pragma once

#include <span>
#include <string_view>

#include "acl/singleop/argument.h"

namespace npu::acl {

struct Function {
  std::string_view name;
  size_t arguments;
  Value (*apply)(const Arguments&);
  bool sizes = false;  ///< tensors are asked for their sizes alone, and may be written until the work runs
};

std::span<const Function> view_functions();
std::span<const Function> part_functions();

/// Raises 161002 where there is no such function, or it takes another number of arguments.
void check_function(std::string_view function, size_t arguments);

/// Function::sizes of a function; false where there is none.
bool asks_sizes(std::string_view function);

/// What `function` makes of its arguments. Raises 100000 where they do not fit together.
Value apply_function(std::string_view function, const Arguments& arguments);

}  // namespace npu::acl
