/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables that AnyNPU reads. */
#ifndef ANYNPU_ANYNPU_SETTINGS_H_
#define ANYNPU_ANYNPU_SETTINGS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One setting. Members are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* variable;     /**< environment variable */
  const char* type;         /**< "integer", "number", "switch" or "text" */
  const char* default_text; /**< the value without the variable */
  const char* in_force;     /**< the environment's value, else the default */
  const char* sentence;     /**< what it does, units included */
} anynpu_setting;

/** Calls `visit` for every setting, by variable. All texts live during the call only. */
void anynpu_each_setting(void (*visit)(const anynpu_setting* setting, void* context), void* context);

/** An environment variable of the vendor's that the TensorFlow adapter reads itself, or that is accepted only. Members
 * are only ever added at the end. */
typedef struct {
  size_t struct_size;
  const char* variable; /**< environment variable */
  int acts;             /**< 0: accepted without effect */
  const char* sentence; /**< what it does, or why nothing is to be done */
} anynpu_client_variable;

/** Calls `visit` for every such variable, by name. All texts live for ever. */
void anynpu_each_client_variable(void (*visit)(const anynpu_client_variable* variable, void* context), void* context);

/** The text in force of a variable of either list: the environment's, else the default ("" for a client's). Null for a
 * variable that stands in neither. The text lives for ever. */
const char* anynpu_setting_in_force(const char* variable);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_ANYNPU_SETTINGS_H_ */
