/* SPDX-License-Identifier: Apache-2.0 */
/* What this build of AnyNPU can compute: its operators, and the aclnn functions through which clients reach them. */
#ifndef ANYNPU_ANYNPU_REGISTRY_H_
#define ANYNPU_ANYNPU_REGISTRY_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One operator. `struct_size` is sizeof of the struct the library filled: members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* name;   /**< "addmm" */
  const char* family; /**< "matmul" */
  const char* fields; /**< "in self, in mat1, in mat2, attr beta, attr alpha, out out" */
  const char* traits; /**< what it declares of itself: "moves_bits pointwise", … ; "" for nothing */
} anynpu_operator;

/** One aclnn function. */
typedef struct {
  size_t struct_size;
  const char* name;          /**< "aclnnAddmm" */
  const char* family;        /**< the table it stands in: "matmul" */
  const char* operator_name; /**< "addmm"; "foreach:add" for a list of calls */
  const char* arguments;     /**< as in the table: "self:tensor, mat1:tensor, …, >out:tensor" */
  const char* problem;       /**< why it cannot be called; "" when it can */
} anynpu_function;

/** A C function whose feature is not built: it returns 207000 and tells `text`. */
typedef struct {
  size_t struct_size;
  const char* name;    /**< "aclmdlInitDump" */
  const char* feature; /**< "tensor dump" */
  const char* text;    /**< why not, and what to do */
} anynpu_unfinished;

/** Which kernels compute some products or convolutions on this CPU: a row of a table that was measured. */
typedef struct {
  size_t struct_size;
  const char* cpu;     /**< the class of CPU that it was measured on, this one or the nearest: "Zen 4" */
  const char* work;    /**< "convolution", "gradient of weights" or "product" */
  const char* dtype;   /**< "float32" or "bfloat16" */
  const char* variant; /**< "stride 1", "stride above 1", "right operand by rows" or "right operand by columns" */
  const char* shapes;  /**< "from 512 output pixels on", up to those of the next row */
  const char* ways;    /**< letter i: fewer than 2^(13 + i) weights, the last: all above; o: own kernels, l: oneDNN's */
} anynpu_choice;

/** Version of the library: "0.1.0". Never null. */
const char* anynpu_version(void);

/** Calls `visit` for every operator, by name. The texts live for ever, the struct during the call. */
void anynpu_each_operator(void (*visit)(const anynpu_operator* op, void* context), void* context);

/** Calls `visit` for every aclnn function, by name. */
void anynpu_each_function(void (*visit)(const anynpu_function* function, void* context), void* context);

/** Calls `visit` for every function whose feature is not built, by name. */
void anynpu_each_unfinished(void (*visit)(const anynpu_unfinished* entry, void* context), void* context);

/** Calls `visit` for every row of that table; for none where oneDNN computes all products and convolutions. The texts
 *  live during the call. */
void anynpu_each_choice(void (*visit)(const anynpu_choice* choice, void* context), void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_REGISTRY_H_ */
