/* SPDX-License-Identifier: Apache-2.0 */
/* Models of other frameworks become files for aclmdlLoadFromFile: what atc runs on. Needs no device and no aclInit. */
#ifndef ANYNPU_ANYNPU_MODEL_H_
#define ANYNPU_ANYNPU_MODEL_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Bytes that are the library's, and end with the call. */
typedef void (*anynpu_take)(const void* bytes, size_t size, void* context);

/** Which framework wrote a model, as atc counts them. */
typedef enum ANYNPU_ANY_INT {
  ANYNPU_CAFFE = 0,     /**< refused, with the way to ONNX */
  ANYNPU_MINDSPORE = 1, /**< refused, with the way to ONNX */
  ANYNPU_TENSORFLOW = 3,
  ANYNPU_ONNX = 5
} anynpu_framework;

/** Converts the `size` bytes of a model. `flags` are 2 * `flag_count` texts, name and value of each flag of atc without
 * its dashes: input_shape, dynamic_batch_size, output_type, precision_mode, …; flags that do not concern the conversion
 * are passed over. Tensors that ONNX keeps in files of their own, and variables/ of a SavedModel, whose saved_model.pb
 * the bytes are, lie in `folder` (null: there is none). `take_line` gets what has no effect, a line each; `take_om` the
 * bytes of the model file, once. `name` is the model's. 100000 with the vendor's code in front of the text
 * (docs/models.md) for a flag; 100006, 100024, 161002 for a model that is damaged, has unknown operators, does not hold
 * together; 207000 for a framework that is not built. */
aclError anynpu_model_convert(anynpu_framework framework, const void* model, size_t size, const char* name,
                              const char* folder, const char* const* flags, size_t flag_count, anynpu_take take_line,
                              anynpu_take take_om, void* context);

/** Whether a model can be converted, as JSON: {"result": "success" or "failed", "reason": …, "op": [{"op_name",
 * "op_type", "result", "reason"}]}, an entry for each operator of the model as far as it could be read. What is wrong
 * with the model is no error of the call; a flag is, as above. */
aclError anynpu_model_check(anynpu_framework framework, const void* model, size_t size, const char* folder,
                            const char* const* flags, size_t flag_count, anynpu_take take_text, void* context);

/** A model file as the vendor's JSON of graphs: its functions before the passes, or after them. 100012 for no model. */
aclError anynpu_model_json(const void* om, size_t size, int32_t after_passes, anynpu_take take_text, void* context);
/** What a model file tells of itself, as JSON: inputs, outputs, gears, facts, sizes of its sections. Its weights are
 * checked: 100012 where they are not those that were written. */
aclError anynpu_model_facts(const void* om, size_t size, anynpu_take take_text, void* context);

/** A file that is made: its name, and its bytes, which are the library's and end with the call. */
typedef void (*anynpu_take_file)(const char* name, const void* bytes, size_t size, void* context);

/** The files of atc --singleop: one for each operator that the JSON lists ({"op", "input_desc": [{"format", "shape",
 * "type"}], "output_desc", "attr": [{"name", "type", "value"}]}), for aclopSetModelDir and aclopLoad. 100000 with the
 * vendor's code in front of the text for JSON that cannot be read or an operator that is not known; no file is made
 * then. */
aclError anynpu_singleop_convert(const char* json_text, size_t size, anynpu_take_file take, void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_MODEL_H_ */
