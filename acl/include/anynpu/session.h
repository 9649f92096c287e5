/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of a client's sessions (TensorFlow 1): each run of a session names what it feeds and fetches, and the part of
 * the graph between becomes a function of a library (anynpu/graph.h), compiled once.
 *
 * Loops and branches of dataflow (Enter, Exit, Switch, Merge …) become While and If nodes, variables by reference
 * (VariableV2, Assign …) variables of the engine. Functions that return aclError give 0, or a code whose text
 * aclGetRecentErrMsg tells. All may be called from any thread. */
#ifndef ANYNPU_ANYNPU_SESSION_H_
#define ANYNPU_ANYNPU_SESSION_H_

#include "anynpu/graph.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** A graph, taken apart. */
typedef struct anynpu_session_graph anynpu_session_graph;

/** Reads the bytes of a GraphDef, which are copied. 100006 for damaged ones. */
aclError anynpu_session_graph_read(const void* graph_def, size_t size, anynpu_session_graph** graph);
/** Slices made of it stay. Null is accepted. */
void anynpu_session_graph_release(anynpu_session_graph* graph);

/** What a run of a session names. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* session;      /**< of the run: nodes that draw random numbers go on in every run of the same session */
  const char* const* feeds; /**< values that the caller gives, "node:0" */
  size_t feed_count;
  const char* const* fetches; /**< values that it wants */
  size_t fetch_count;
  const char* const* targets; /**< nodes that must run besides */
  size_t target_count;
  const char* const* replaced; /**< values for which others of the graph stand: in pairs, old and new */
  size_t replaced_count;       /**< pairs */
  const int8_t* decided; /**< for each feed 0 or 1 where it is a truth value that the function is made for: branches
                              are decided then; -1 for any other. Null: none is. */
} anynpu_slice;

/** What a slice uses that its session keeps from run to run. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* key;      /**< the same for all slices of a session that use it */
  const char* node;     /**< that makes it in the graph */
  int32_t variable;     /**< 1: a variable, for anynpu_value_variable */
  const void* node_def; /**< else the bytes of a NodeDef without inputs, which makes it on the client's side */
  size_t size;
} anynpu_slice_resource;

/** Adds the function `function`, whose name is that of the session, '@' and more, to the library: its inputs are
 * slice.feeds in order, then what `visit` is called for, in that order; its results slice.fetches. 161002 naming a
 * feed, fetch or target that the graph does not have, or a node of a loop or branch that does not hold together; 100024
 * for an operator that the library does not know, or one on references of variables that has no form for handles. */
aclError anynpu_library_add_slice(anynpu_library* library, const char* function, const anynpu_session_graph* graph,
                                  const anynpu_slice* slice,
                                  void (*visit)(const anynpu_slice_resource* resource, void* context), void* context);
/** Forgets the slices of a session and what their nodes keep. */
aclError anynpu_library_end_session(anynpu_library* library, const char* session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_SESSION_H_ */
