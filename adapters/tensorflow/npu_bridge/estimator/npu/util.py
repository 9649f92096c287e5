# SPDX-License-Identifier: Apache-2.0
"""Loops inside a session run, and what else is told of a graph of TensorFlow 1 before it runs."""

import tensorflow.compat.v1 as tf
from npu_device.session import iterations
from npu_device.setting import telling

__all__ = ["IterationPerLoop", "keep_tensors_dtypes", "npu_compile", "set_graph_exec_config",
           "set_iteration_per_loop", "variable_initializer_in_host"]  # fmt: skip
EXECUTE_MODES = ("dynamic_execute", "lazy_recompile")


def _repeated(train_op):
    if not isinstance(train_op, tf.Operation):
        raise ValueError(f"train_op is a {type(train_op).__name__}; it must be an operation: give its .op")
    return tf.group(train_op, name="IterationOp")


def _same_graph(sess, op):
    if sess.graph is not op.graph:
        raise ValueError(f"{op.name} is of another graph than the session; create the session with its graph")


def set_iteration_per_loop(sess, train_op, iterations_per_loop=1):
    """The operation that does `train_op` so many times in one sess.run; with 1, `train_op` itself."""
    if iterations_per_loop == 1:
        return train_op
    loop = IterationPerLoop()
    op = loop.create_iteration_per_loop_var(train_op)
    loop.load_iteration_per_loop_var(sess, iterations_per_loop)
    return op


class IterationPerLoop:
    """Loops in two steps, for graphs that are finalized before the count is known: create_iteration_per_loop_var gives
    the operation to run, load_iteration_per_loop_var says how often a run repeats it."""

    _op = None

    def create_iteration_per_loop_var(self, train_op):
        """The operation that does `train_op`, as often as load_iteration_per_loop_var says; once before."""
        self._op = _repeated(train_op)
        return self._op

    def load_iteration_per_loop_var(self, sess, iterations_per_loop=1):
        """From now on a run of the operation repeats it so many times."""
        if self._op is None:
            raise ValueError("there is no operation yet to repeat; call create_iteration_per_loop_var first")
        _same_graph(sess, self._op)
        iterations.mark(self._op, iterations_per_loop)


def variable_initializer_in_host(var_list):
    """An operation that initializes the variables of the list."""
    why = "initializes variables as tf.variables_initializer does: host and NPU share their memory"
    telling.once("variable_initializer_in_host", f"variable_initializer_in_host {why}")
    return tf.variables_initializer(var_list, name="var_in_host")


def _operations(fetch):
    """The operations of a fetch: an operation, a tensor, the name of a tensor, or a list of these."""
    if isinstance(fetch, list | tuple):
        return [op for one in fetch for op in _operations(one)]
    if isinstance(fetch, str):
        fetch = tf.get_default_graph().as_graph_element(fetch)
    if isinstance(fetch, tf.Operation):
        return [fetch]
    if isinstance(fetch, tf.Tensor):
        return [fetch.op]
    raise ValueError(f"{fetch!r} is no operation, tensor, name of one, or list of these")


def set_graph_exec_config(
    fetch,
    dynamic_input=False,
    dynamic_graph_execute_mode="dynamic_execute",
    dynamic_inputs_shape_range=None,
    is_train_graph=False,
    experimental_config=None,
):
    """Marks what is fetched with how its graph takes shapes that change. They may change here without: a run with new
    shapes gets a plan of its own. Returns `fetch`, a name as its tensor."""
    if dynamic_graph_execute_mode not in EXECUTE_MODES:
        raise ValueError(f"dynamic_graph_execute_mode is {dynamic_graph_execute_mode!r}; it is one of "
                         f"{', '.join(EXECUTE_MODES)}")  # fmt: skip
    why = "changes no result: shapes of inputs may change from run to run without it, and each gets a plan of its own"
    telling.once("set_graph_exec_config", f"set_graph_exec_config {why}")
    if experimental_config is not None:
        what = "experimental_config of set_graph_exec_config"
        telling.once(what, f"{what} has no effect here")
    marks = {
        "_graph_dynamic_input": tf.AttrValue(b=bool(dynamic_input)),
        "_graph_dynamic_graph_execute_mode": tf.AttrValue(s=dynamic_graph_execute_mode.encode()),
        "_graph_dynamic_inputs_shape_range": tf.AttrValue(s=(dynamic_inputs_shape_range or "").encode()),
        "_is_train_graph": tf.AttrValue(b=bool(is_train_graph)),
    }
    for op in _operations(fetch):
        for name, value in marks.items():
            op._set_attr(name, value)
    return tf.get_default_graph().as_graph_element(fetch) if isinstance(fetch, str) else fetch


def keep_tensors_dtypes(graph, input_tensors):
    """The operations that give these tensors, or names of tensors, of the graph keep their type, whatever the precision
    mode: what npu_scope.keep_dtype_scope does for operations that are built in it."""
    with graph.as_default():
        for op in _operations(list(input_tensors)):
            op._set_attr("_keep_dtype", tf.AttrValue(b=True))


def npu_compile(sess, *fetches):
    """Takes what a run of these would compute, without running it: TensorFlow's error for what the NPU cannot take.
    What depends on shapes is compiled in the first run."""
    import npu_device.session as sessions

    sessions.compile(sess, fetches)
