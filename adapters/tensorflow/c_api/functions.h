/* SPDX-License-Identifier: Apache-2.0 */
/* The adapter's functions for the Python package npu_device, whose own declarations (npu_device/adapter/c_interface.py)
 * are made from this file. A `device` is what anynpu_tensorflow_device gave. */
#ifndef ANYNPU_ADAPTERS_TENSORFLOW_C_API_FUNCTIONS_H_
#define ANYNPU_ADAPTERS_TENSORFLOW_C_API_FUNCTIONS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct TFE_CustomDevice TFE_CustomDevice;

/** Tells TensorFlow of the vendor's operators and calls `visit` with the name of each; once a process, before the first
 * device. The reason in `refused` when TensorFlow does not take one. */
void anynpu_tensorflow_operators(void (*visit)(const char* name), void (*refused)(const char* reason));

/** The callbacks, for TensorFlow to register; they live for ever. */
TFE_CustomDevice* anynpu_tensorflow_callbacks(void);
/** The device of this number under TensorFlow's name for it; null with the reason handed to `refused`. */
void* anynpu_tensorflow_device(int device, const char* name, void (*refused)(const char* reason));
/** Ends what reads ahead and, when the process is `ending`, waits for calls under way and refuses new ones; 1 when all
 * of it has ended within ten seconds. Nothing to do in a forked child. */
int anynpu_tensorflow_close(int ending);

/** What became of the functions of a device (anynpu_library_report). */
void anynpu_tensorflow_report(void* device, void (*visit)(const char* json, void* context), void* context);
/** Switches fusion passes (anynpu_library_switch_fusion): null, or the reason for which the text is refused, which
 * lives until the thread's next call. */
const char* anynpu_tensorflow_switch_fusion(void* device, const char* text, size_t size,
                                            void (*unknown)(const char* name, void* context), void* context);
/** What the fusion passes did to the device's functions (anynpu_library_fusions). */
void anynpu_tensorflow_fusions(void* device, void (*visit)(const char* json, void* context), void* context);
/** Takes an option of precision (anynpu_library_set_precision): null, or the reason for which it is refused, which
 * lives until the thread's next call. */
const char* anynpu_tensorflow_set_precision(void* device, const char* option, const char* value, size_t size,
                                            void (*notice)(const char* text, void* context), void* context);
/** Keeps what compiling gives on disk (anynpu_library_keep), or writes files of each plan (anynpu_library_write_files):
 * null, or the reason for which it is refused, which lives until the thread's next call. */
const char* anynpu_tensorflow_keep(void* device, const char* mode, const char* folder);
const char* anynpu_tensorflow_write_files(void* device, const char* files, const char* folder);
/** Whether collectives run beside other nodes (anynpu_library_overlap); null, or the reason for which not. */
const char* anynpu_tensorflow_overlap(void* device, int on);
/** Random generators start anew (anynpu_library_restart_random). */
void anynpu_tensorflow_restart_random(void* device);

/** A tensor that a session is fed, or gives. */
typedef struct {
  int dtype; /**< TensorFlow's number of it */
  int rank;
  const int64_t* sizes;
  const void* data;         /**< numbers, row-major; null for texts */
  const char* const* texts; /**< elements of a tensor of texts, not ended by zeros; null for numbers */
  const size_t* lengths;    /**< of the texts, in bytes */
} anynpu_session_tensor;

/* Functions about sessions hand TensorFlow's code and a text to `refused` when they fail. */

/** A session of TensorFlow 1 on the device; `context` is TensorFlow's eager context. Null when it fails. */
void* anynpu_tensorflow_session(void* device, void* context, void (*refused)(int code, const char* reason));
/** Ends what runs of it wait for; nothing of it can be run any more. */
void anynpu_tensorflow_session_close(void* session);
/** Nothing of the session may be running. */
void anynpu_tensorflow_session_release(void* session);
/** The graph, as bytes of a GraphDef, for slices made from now on: 1, or 0 when it fails. */
int anynpu_tensorflow_session_graph(void* session, const void* graph_def, size_t size,
                                    void (*refused)(int code, const char* reason));
/** The part of the graph between these values ("node:0") and nodes (anynpu_library_add_slice), taken when it is first
 * run or compiled; null when it fails. */
void* anynpu_tensorflow_slice(void* session, const char* const* feeds, size_t feed_count, const char* const* fetches,
                              size_t fetch_count, const char* const* targets, size_t target_count,
                              const char* const* replaced, size_t replaced_count,
                              void (*refused)(int code, const char* reason));
void anynpu_tensorflow_slice_release(void* slice);
/** Takes it now; shapes are looked at in the first run. 1, or 0 when it fails. */
int anynpu_tensorflow_compile(void* slice, void (*refused)(int code, const char* reason));
/** Runs a slice `times` times, with copies of `feeds`; `fetches` are those of the last time and live as long as what is
 * returned. Null when it fails. */
void* anynpu_tensorflow_run(void* slice, int times, const anynpu_session_tensor* feeds, anynpu_session_tensor* fetches,
                            void (*refused)(int code, const char* reason));
void anynpu_tensorflow_fetched_release(void* fetched);

/** Calls `start` on every thread that Python code of a graph runs on, before the first such code. */
void anynpu_tensorflow_thread_start(void (*start)(void));
/** Whether iterators that this thread makes from now on serve a loop alone (1) or may be anybody's (0). */
void anynpu_tensorflow_iterators_alone(int on);
/** Steps of a loop as npu.set_npu_loop_size or NPU_LOOP_SIZE says; `given` is 0 for the default. */
void anynpu_tensorflow_loop_size(int size, int given);
/** A line of the Python package: level 0 debug, 1 info, 2 warning, 3 error. */
void anynpu_tensorflow_log(int level, const char* text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ADAPTERS_TENSORFLOW_C_API_FUNCTIONS_H_ */
