/* SPDX-License-Identifier: Apache-2.0 */
/* Whole functions of a client's framework, compiled and run on the software NPU. The client hands over functions as
 * bytes (TensorFlow's FunctionDef) and lends one callback that runs a node on its side; nothing of its library is
 * needed.
 *
 * Functions that return aclError give 0, or a code whose text aclGetRecentErrMsg tells. All may be called from any
 * thread, anynpu_library_run from several at once and from inside the callback. */
#ifndef ANYNPU_ANYNPU_GRAPH_H_
#define ANYNPU_ANYNPU_GRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** A tensor or an object. Shared by its holders; each gives back its share with anynpu_value_release. */
typedef struct anynpu_value anynpu_value;

typedef enum {
  ANYNPU_TENSOR = 0,   /**< numbers in memory */
  ANYNPU_OBJECT = 1,   /**< something of the client's: an iterator, a table, a tensor of strings */
  ANYNPU_VARIABLE = 2, /**< a variable of the engine */
  ANYNPU_STRINGS = 3,  /**< a constant tensor of strings, on its way to the client */
  ANYNPU_OTHER = 4,    /**< an object that only the engine's own nodes understand: a list of tensors */
  ANYNPU_HANDLE = 5,   /**< one that these nodes change, which all who have it see: a stack, an array of tensors */
} anynpu_value_kind;

/** What a value is. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  anynpu_value_kind kind;
  aclDataType dtype;    /**< of a tensor, or of what a variable holds; ACL_DT_UNDEFINED for nothing */
  int32_t rank;         /**< dimensions */
  const int64_t* sizes; /**< `rank` sizes; live as long as the value, for a variable until it is assigned to */
  void* data;           /**< a tensor's first element, row-major; null for the other kinds */
  void* object;         /**< what anynpu_value_object was given, or the context of a variable's home; else null */
} anynpu_value_view;

/** A tensor over the client's memory, row-major. `release(context)` is called when nobody needs the memory any longer;
 * until then nobody may change it. 100000 for a null, 161002 for a type without elements or a negative size. */
aclError anynpu_value_tensor(aclDataType dtype, int32_t rank, const int64_t* sizes, void* data,
                             void (*release)(void* context), void* context, anynpu_value** value);
/** Something of the client's. `release(object)` is called when nobody holds it any longer. */
aclError anynpu_value_object(void* object, void (*release)(void* object), anynpu_value** value);
/** A new variable of `device`, nothing assigned. It lives as long as its last holder. 107001 for no device. */
aclError anynpu_value_variable(int32_t device, anynpu_value** value);
/** The value a variable holds now; 161002 when nothing was assigned or it is no variable. */
aclError anynpu_variable_read(const anynpu_value* variable, anynpu_value** value);
/** Assigns a tensor, or an object of the client's, to a variable. */
aclError anynpu_variable_assign(anynpu_value* variable, const anynpu_value* tensor);
/** Where the value of a variable is kept that the client works on by itself, with nodes of its own. Each function
 * returns 0, or another number for a failure. */
typedef struct {
  void* context;
  int (*load)(void* context, anynpu_value** value); /**< the value now; the engine releases it */
  int (*store)(void* context, anynpu_value* value); /**< lives during the call */
  void (*release)(void* context);                   /**< when the variable goes */
} anynpu_variable_home;
/** Moves the variable's value there, for good: it is loaded for every read and stored after every write. */
aclError anynpu_variable_move(anynpu_value* variable, const anynpu_variable_home* home);
/** Fills `view`, whose struct_size the caller has set. */
aclError anynpu_value_inspect(const anynpu_value* value, anynpu_value_view* view);
/** Element `index` of a tensor of strings, not ended by a zero; null beyond the last. */
const char* anynpu_value_string(const anynpu_value* value, size_t index, size_t* length);
anynpu_value* anynpu_value_retain(anynpu_value* value);
/** Null is accepted. */
void anynpu_value_release(anynpu_value* value);

/** What a list of tensors is. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  aclDataType dtype;    /**< of the elements; ACL_DT_UNDEFINED when they are lists or other objects */
  int32_t rank;         /**< of every element; -1 when nothing is known of their shape */
  const int64_t* sizes; /**< `rank` sizes, -1 for one that is not known; live as long as the list */
  size_t count;         /**< elements */
} anynpu_list_view;

/** Fills `view`, whose struct_size the caller has set. 161002 when the value (of kind ANYNPU_OTHER) is no list. */
aclError anynpu_list_inspect(const anynpu_value* list, anynpu_list_view* view);
/** Element `index`, for the caller to release; null when it was never set. 161002 beyond the last. */
aclError anynpu_list_element(const anynpu_value* list, size_t index, anynpu_value** element);

/** A node that the client is asked to run. Lives during the call. */
typedef struct anynpu_node anynpu_node;
const char* anynpu_node_operator(const anynpu_node* node);
const char* anynpu_node_name(const anynpu_node* node);
/** Calls `visit` for every attribute with the client's own encoding of its value (AttrValue bytes). */
void anynpu_node_each_attribute(const anynpu_node* node,
                                void (*visit)(const char* name, const void* bytes, size_t size, void* context),
                                void* context);

/** Runs `node` on the client's side, on the calling thread: fills `outputs` with values that the engine then owns.
 * 0, or any other number with `*error` pointing to a text that lives until the thread's next call. */
typedef int (*anynpu_host)(void* context, const anynpu_node* node, anynpu_value* const* inputs, size_t input_count,
                           anynpu_value** outputs, size_t output_count, const char** error);

/** Functions of one client. */
typedef struct anynpu_library anynpu_library;

/** A library for `device`. `op_list`: the client's operators (bytes of TensorFlow's OpList); `host` may be null.
 * 107001 for no device, 100006 for damaged bytes. */
aclError anynpu_library_create(int32_t device, const void* op_list, size_t size, anynpu_host host, void* context,
                               anynpu_library** library);
/** Nothing of the library may be running. Null is accepted. */
void anynpu_library_destroy(anynpu_library* library);
/** Adds a FunctionDef; one of a name that is there is replaced. 100006 for damaged bytes, 100024 for an operator that
 * is not in the library's list, 161002 for a function that does not hold together. Functions it calls may be added
 * later, before the first run. */
aclError anynpu_library_add(anynpu_library* library, const void* function_def, size_t size);
/** Forgets a function that is not called any more; runs of it go on. One that is not there is accepted. */
aclError anynpu_library_remove(anynpu_library* library, const char* function);
/** Runs a function. `outputs` receives `output_count` values that the caller releases. 161002 when the arguments do not
 * fit, else what the node that failed raised. */
aclError anynpu_library_run(anynpu_library* library, const char* function, anynpu_value* const* inputs,
                            size_t input_count, anynpu_value** outputs, size_t output_count);
/** Runs one operator, given as the bytes of a NodeDef without inputs; compiled once for equal bytes,
 * and kept while it is among the last thousand. */
aclError anynpu_library_run_node(anynpu_library* library, const void* node_def, size_t size,
                                 anynpu_value* const* inputs, size_t input_count, anynpu_value** outputs,
                                 size_t output_count);

/** Fusion passes are switched as the text of a fusion switch file says, in either of the vendor's forms
 * ("elementwise:off" lines, or {"Switch": {"GraphFusion": {"ALL": "off"}}}), for functions compiled from now on. Names
 * are those of passes here or of the vendor's that they stand for; `unknown` is called for any other and may be null.
 * 161002 with line and column for a text that has neither form; then nothing changes. */
aclError anynpu_library_switch_fusion(anynpu_library* library, const char* text, size_t size,
                                      void (*unknown)(const char* name, void* context), void* context);
/** Calls `visit` for every fusion pass, in the order in which they run: its name, what it does in one sentence, and the
 * vendor's names that it answers to, joined by commas. */
void anynpu_each_fusion(void (*visit)(const char* name, const char* purpose, const char* aliases, void* context),
                        void* context);

/** Calls `visit` with what the fusion passes did to the functions of a library, a JSON object in the form of the
 * vendor's fusion_result.json; "{}" for nothing. Null is accepted. */
void anynpu_library_fusions(anynpu_library* library, void (*visit)(const char* json, void* context), void* context);
/** From now on writes that of all libraries of the process to `file`, anew with each function compiled; its folder must
 * be there. Null ends it. */
void anynpu_export_fusions(const char* file);

/** Functions compiled from now on compute in the dtypes that an option of the vendor's asks for: precision_mode,
 * precision_mode_v2 (one of their words; of the two the last one set counts, and precision_mode "" is the default of
 * the SoC), modify_mixlist, customize_dtypes, op_precision_mode (`value` is the text of such a file). `notice` is
 * called with a sentence about each thing in it that has no effect, and may be null. 161002 for what is none of their
 * values, with line and column in a file; then nothing changes. */
aclError anynpu_library_set_precision(anynpu_library* library, const char* option, const char* value, size_t size,
                                      void (*notice)(const char* text, void* context), void* context);

/** An operator with a choice of dtype, as published. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* op;      /**< TensorFlow's name */
  const char* aliases; /**< the vendor's names, separated by blanks */
  const char* unit;    /**< "cube", "vector", "loss" or "variable" */
  const char* list;    /**< "white", "gray", "black" or "clear" */
  const char* dtypes;  /**< beside float32, separated by blanks; "" for none */
} anynpu_operator_precision;
/** Calls `visit` for every line of the table, by name of the operator. */
void anynpu_each_operator_precision(void (*visit)(const anynpu_operator_precision* one, void* context), void* context);

/** What a precision mode makes of an operator of a float32 graph. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* op;     /**< TensorFlow's name */
  const char* effect; /**< "float16", "float32", "as what comes before it", … */
} anynpu_precision_effect;
/** Calls `visit` for every line of the table. `mode` is a word of precision_mode or precision_mode_v2, or "" for the
 * default of the SoC; 161002 for another, or one that the SoC has not. */
aclError anynpu_each_precision_effect(const char* mode,
                                      void (*visit)(const anynpu_precision_effect* one, void* context), void* context);

/** Collectives of functions compiled from now on run beside the nodes that do not need their results (`on` 1), as
 * hcom_parallel asks for, or in their place among the others (0, as is so until this is called, and where the process
 * has one thread for kernels: there is nothing to win). */
aclError anynpu_library_overlap(anynpu_library* library, int32_t on);

/** What compiling gives is kept on disk from now on, for processes that compile the same later, and taken from there:
 * mode "enable"; "force" removes first what is there, once a process; "disable" keeps nothing, as is so until this is
 * called. The variable ANYNPU_COMPILE_CACHE wins over `mode`. Entries lie in the folder kernel_cache of `folder`, which
 * is made when it is needed; null or "": of ASCEND_CACHE_PATH, else of ~/atc_data. What goes wrong with the disk is
 * told once on stderr and changes no result. 161002 for another mode; then nothing changes. */
aclError anynpu_library_keep(anynpu_library* library, const char* mode, const char* folder);
/** Files of each plan made from now on go to the folder kernel_meta of `folder` ("": the current one): words joined by
 * commas of o (the compiled function), json (the steps of its plan), cce (the same to be read), loc (the client's nodes
 * behind each line) and compute (what fused nodes are made of). To be called before the first function is compiled.
 * 161002 for another word. */
aclError anynpu_library_write_files(anynpu_library* library, const char* files, const char* folder);
/** Random generators of nodes go on as if they had never drawn, which is what TensorFlow's do when a program sets its
 * seed. Null is accepted. */
void anynpu_library_restart_random(anynpu_library* library);

/** Compiles a function for arguments like these and runs nothing of it. Refuses as anynpu_library_run does; what can
 * only be compiled during a run, after a shape that nobody knows before, is not tried. */
aclError anynpu_library_compile(anynpu_library* library, const char* function, anynpu_value* const* inputs,
                                size_t input_count);

/** A function has been compiled. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* function;
  int64_t graph;       /**< counts the library's functions from 1, in the order in which they were compiled */
  int64_t plan;        /**< counts the function's plans from 1: one a set of shapes, one a part of the function */
  const char* cause;   /**< "argument x was float32[32, 10] and is float32[17, 10]"; "" for the first plan */
  double milliseconds; /**< what compiling took */
  int64_t nodes;       /**< of the function */
  int64_t host_nodes;  /**< how many of them the client runs, as far as is known before a run */
  int64_t loops;       /**< how many are loops */
  const char* cache; /**< "hit 1f…", "miss 1f…" with the key of the entry, "not kept: …"; "" where nothing is kept */
} anynpu_compiled;
/** From now on calls `visit` after every compilation of a function that anynpu_library_run or _compile was given, on
 * the thread of that call. `visit` must not call back into the library. Null ends it. */
void anynpu_library_watch(anynpu_library* library, void (*visit)(const anynpu_compiled* compiled, void* context),
                          void* context);

/** What became of the functions, as JSON: {"functions": [{"name", "device", "cache", "plans", "nodes", "native_nodes",
 * "host_nodes", "compile_ms", "peak_bytes", "live_bytes", "recompiles", "causes": [text], "host": [{"op", "reason",
 * "runs", "bytes"}], "fusions": [{"pass", "matched", "effective", "declined": {reason: count}}], "unfused": {reason:
 * count}, "precision": [{"node", "op", "source", "dtype", "inputs", "outputs", "why"}]}]}; cache is as in
 * anynpu_compiled, precision is there where a mode was asked for. The text lives during the call. */
void anynpu_library_report(anynpu_library* library, void (*visit)(const char* json, void* context), void* context);

/** How long, in milliseconds, this process waits for a stream and for an event where a call gives no limit; -1 and 0
 * for ever. A wait that lasts longer fails with 507046 or 507047, and a run of a function, which is work of its
 * thread's stream, with 507046 after the node that went beyond the limit. 107000 for other negative numbers. */
aclError anynpu_set_wait_limits(int64_t stream_ms, int64_t event_ms);

/** What the client computed for `device` by itself, from `inputs`: puts a saturated copy in the place of each result
 * that overflows, where the device saturates and an input is floating. `type` names the client's operator. */
aclError anynpu_saturate(int32_t device, const char* type, anynpu_value* const* inputs, size_t input_count,
                         anynpu_value** results, size_t result_count);

/** How many variables and how many values of all libraries are alive: counts that grow tell of handles kept. Either may
 * be null. */
void anynpu_live(size_t* variables, size_t* values);

/** Calls `visit` for every operator the engine has nodes for, by name; all others go to the client. */
void anynpu_each_node_kind(void (*visit)(const char* op, void* context), void* context);

/** Which node made this thread's last run fail: calls `visit` for each function around it, outermost first, then once
 * with the node (`is_node` 1) and the text without names. Not called when the last run failed for another reason. */
void anynpu_each_failed(void (*visit)(const char* name, int is_node, const char* text, void* context), void* context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_GRAPH_H_ */
