# SPDX-License-Identifier: Apache-2.0
"""Nodes that work on variables do to them what TensorFlow does on the CPU."""

import threading

import numpy as np
import pytest
import tensorflow as tf
from case import FLOATING, HALF, NUMBERS, distance, floats, integers, ints, tolerance
from engine import Engine, EngineError, Value
from tensorflow.core.framework import node_def_pb2


class Held:
    """An input that is the handle of a variable."""

    def __init__(self, value):
        self.value = np.asarray(value)


def wide(value):
    return tf.constant(value.astype("float32") if value.dtype in HALF else value)


class Case:
    def __init__(self, op, outputs=0, steps=2, **keywords):
        self.op, self.outputs, self.steps = op, outputs, steps
        is_input = lambda v: isinstance(v, (Held, np.ndarray))  # noqa: E731
        self.inputs = {name: v for name, v in keywords.items() if is_input(v)}
        self.attributes = {name: v for name, v in keywords.items() if not is_input(v)}

    def __repr__(self):
        first = next(v.value for v in self.inputs.values() if isinstance(v, Held))
        words = "".join(f",{n}={v}" for n, v in self.attributes.items())
        shapes = "".join(f",{n}{list(v.shape)}" for n, v in self.inputs.items() if not isinstance(v, Held))
        return f"{self.op}({first.dtype}{list(first.shape)}{shapes}{words})"

    def by_tensorflow(self):
        """The outputs of the last step, and the variables after it. Halves are computed in float32 and rounded once a
        step: TensorFlow's own kernels, where it has them, round between the operations."""
        held = {n: v.value for n, v in self.inputs.items() if isinstance(v, Held)}
        read = "dtype" in self.attributes  # what reads a variable names its type
        cast = wide if not read and any(v.dtype in HALF for v in held.values()) else tf.constant
        with tf.device("CPU"):
            variables = {n: tf.Variable(cast(v)) for n, v in held.items()}
            inputs = {n: variables[n].handle if n in variables else cast(v) for n, v in self.inputs.items()}
            for _ in range(self.steps):
                result = getattr(tf.raw_ops, self.op)(**inputs, **self.attributes)
                for n, v in variables.items():
                    v.assign(tf.cast(tf.cast(v, held[n].dtype), v.dtype))
        outputs = [] if self.outputs == 0 else [result.numpy()]
        return outputs, [v.numpy().astype(held[n].dtype) for n, v in variables.items()]

    def node(self):
        with tf.Graph().as_default() as graph:
            holes = {
                n: tf.compat.v1.placeholder(tf.resource if isinstance(v, Held) else tf.as_dtype(v.dtype))
                for n, v in self.inputs.items()
            }
            getattr(tf.raw_ops, self.op)(**holes, **self.attributes)
            node = node_def_pb2.NodeDef()
            node.CopyFrom(graph.get_operations()[-1].node_def)
        del node.input[:]
        return node

    def by_engine(self, engine):
        values = [Value.variable(v.value) if isinstance(v, Held) else Value.of(v) for v in self.inputs.values()]
        for _ in range(self.steps):
            outputs = engine.run_node(self.node(), values, self.outputs)
        held = [v for v, given in zip(values, self.inputs.values(), strict=True) if isinstance(given, Held)]
        return [v.numpy() for v in outputs], [v.read() for v in held]


def state(dtype, *shape, seed, low=0.0):
    return Held(floats(*shape, dtype=dtype, low=low, high=2, seed=seed))


def dense(dtype):
    """Optimisers on whole parameters."""

    def number(value):
        return np.array(value, dtype)

    var, m, v, vhat = (state(dtype, 3, 5, seed=i, low=-1.0 if i < 2 else 0.2) for i in range(4))
    grad = floats(3, 5, dtype=dtype, seed=9)
    lr, eps, rho = number(0.1), number(1e-2), number(0.9)
    yield Case("ResourceApplyGradientDescent", var=var, alpha=lr, delta=grad)
    for l1 in (0.0, 0.5):
        yield Case("ResourceApplyProximalGradientDescent", var=var, alpha=lr, l1=number(l1), l2=number(0.2), delta=grad)
    for nesterov in (False, True):
        for kind in ("", "Keras"):
            yield Case(
                f"ResourceApply{kind}Momentum", var=var, accum=m, lr=lr, grad=grad, momentum=rho,
                use_nesterov=nesterov,
            )  # fmt: skip
        yield Case(
            "ResourceApplyAdam", var=var, m=m, v=v, beta1_power=number(0.9), beta2_power=number(0.99), lr=lr,
            beta1=rho, beta2=number(0.99), epsilon=eps, grad=grad, use_nesterov=nesterov,
        )  # fmt: skip
    yield Case(
        "ResourceApplyAdamWithAmsgrad", var=var, m=m, v=v, vhat=vhat, beta1_power=number(0.9),
        beta2_power=number(0.99), lr=lr, beta1=rho, beta2=number(0.99), epsilon=eps, grad=grad,
    )  # fmt: skip
    yield Case(
        "ResourceApplyAdaMax", var=var, m=m, v=v, beta1_power=number(0.9), lr=lr, beta1=rho, beta2=number(0.99),
        epsilon=eps, grad=grad,
    )  # fmt: skip
    for slots in (False, True):
        yield Case("ResourceApplyAdagrad", var=var, accum=v, lr=lr, grad=grad, update_slots=slots)
        yield Case("ResourceApplyAdagradV2", var=var, accum=v, lr=lr, epsilon=eps, grad=grad, update_slots=slots)
    for l1 in (0.0, 0.3):
        shrink, count = {"lr": lr, "l1": number(l1), "l2": number(0.2)}, np.array(3, "int64")
        yield Case("ResourceApplyProximalAdagrad", var=var, accum=v, **shrink, grad=grad)
        sums = {"gradient_accumulator": m, "gradient_squared_accumulator": v}
        yield Case("ResourceApplyAdagradDA", var=var, **sums, grad=grad, **shrink, global_step=count)
    yield Case("ResourceApplyAdadelta", var=var, accum=v, accum_update=vhat, lr=lr, rho=rho, epsilon=eps, grad=grad)
    yield Case(
        "ResourceApplyRMSProp", var=var, ms=v, mom=m, lr=lr, rho=rho, momentum=number(0.5), epsilon=eps, grad=grad
    )
    mg = Held((floats(3, 5, seed=8) / 8).astype(dtype))
    yield Case(
        "ResourceApplyCenteredRMSProp", var=var, mg=mg, ms=v, mom=m, lr=lr, rho=rho, momentum=number(0.5),
        epsilon=eps, grad=grad,
    )  # fmt: skip
    for power in (-0.5, -0.7):
        for linear_by_lr in (False, True):
            common = {"lr": lr, "l1": number(0.3), "l2": number(0.1)}
            last = {"lr_power": number(power), "multiply_linear_by_lr": linear_by_lr}
            states = {"var": var, "accum": v, "linear": m, "grad": grad}
            yield Case("ResourceApplyFtrl", **states, **common, **last)
            yield Case("ResourceApplyFtrlV2", **states, **common, l2_shrinkage=number(0.2), **last)
    yield Case(
        "ResourceApplyPowerSign", var=var, m=m, lr=lr, logbase=number(1.5), sign_decay=number(0.7), beta=rho, grad=grad
    )
    yield Case(
        "ResourceApplyAddSign", var=var, m=m, lr=lr, alpha=number(1.0), sign_decay=number(0.7), beta=rho, grad=grad
    )


def sparse(dtype, indices, *inner):
    """Optimisers on some rows of a parameter."""

    def number(value):
        return np.array(value, dtype)

    var, m, v, vhat = (state(dtype, 5, *inner, seed=i, low=-1.0 if i < 2 else 0.2) for i in range(4))
    grad = floats(len(indices), *inner, dtype=dtype, seed=9)
    lr, eps, rho = number(0.1), number(1e-2), number(0.9)
    rows = {"grad": grad, "indices": indices}
    for nesterov in (False, True):
        for kind in ("", "Keras"):
            yield Case(
                f"ResourceSparseApply{kind}Momentum", var=var, accum=m, lr=lr, **rows, momentum=rho,
                use_nesterov=nesterov,
            )  # fmt: skip
    for slots in (False, True):
        yield Case("ResourceSparseApplyAdagrad", var=var, accum=v, lr=lr, **rows, update_slots=slots)
        yield Case("ResourceSparseApplyAdagradV2", var=var, accum=v, lr=lr, epsilon=eps, **rows, update_slots=slots)
    shrink, count = {"lr": lr, "l1": number(0.3), "l2": number(0.2)}, np.array(3, "int64")
    yield Case("ResourceSparseApplyProximalAdagrad", var=var, accum=v, **shrink, **rows)
    sums = {"gradient_accumulator": m, "gradient_squared_accumulator": v}
    yield Case("ResourceSparseApplyAdagradDA", var=var, **sums, **rows, **shrink, global_step=count)
    yield Case("ResourceSparseApplyAdadelta", var=var, accum=v, accum_update=vhat, lr=lr, rho=rho, epsilon=eps, **rows)
    averages = {"lr": lr, "rho": rho, "momentum": number(0.5), "epsilon": eps}
    yield Case("ResourceSparseApplyRMSProp", var=var, ms=v, mom=m, **averages, **rows)
    mg = Held((floats(5, *inner, seed=8) / 8).astype(dtype))
    yield Case("ResourceSparseApplyCenteredRMSProp", var=var, mg=mg, ms=v, mom=m, **averages, **rows)
    for linear_by_lr in (False, True):
        common = {"lr": lr, "l1": number(0.3), "l2": number(0.1)}
        last = {"lr_power": number(-0.5), "multiply_linear_by_lr": linear_by_lr}
        yield Case("ResourceSparseApplyFtrl", var=var, accum=v, linear=m, **rows, **common, **last)
        yield Case(
            "ResourceSparseApplyFtrlV2", var=var, accum=v, linear=m, **rows, **common, l2_shrinkage=number(0.2), **last
        )
    yield Case("ResourceSparseApplyProximalGradientDescent", var=var, alpha=lr, l1=number(0.3), l2=number(0.2), **rows)


def numbers(dtype, *shape, seed):
    """Different from 0, so that they divide."""
    sign = np.where(integers(*shape, low=0, high=2, seed=seed) == 0, -1, 1)
    values = floats(*shape, low=0.5, high=3, seed=seed) if np.dtype(dtype).kind != "i" else integers(*shape, low=1)
    return (values * sign).astype(dtype)


def indexed(dtype):
    """Reading and writing at positions."""
    table = Held(numbers(dtype, 5, 3, seed=0))
    for index in (np.array(2, "int32"), ints(4, 0, 4, 1), integers(2, 2, low=0, high=5, dtype="int64")):
        yield Case("ResourceGather", 1, resource=table, indices=index, dtype=dtype)
    batched = integers(5, 4, low=0, high=3)
    yield Case("ResourceGather", 1, resource=table, indices=batched, batch_dims=1, dtype=dtype)
    yield Case("ResourceGatherNd", 1, resource=table, indices=integers(4, 2, low=0, high=3), dtype=dtype)
    yield Case("ResourceGatherNd", 1, resource=table, indices=np.int64([[4], [0]]), dtype=dtype)
    for type_ in ("int32", "int64"):
        yield Case("VariableShape", 1, input=table, out_type=type_)
    for name in ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"]:
        op = "ResourceScatter" + name
        yield Case(op, steps=1, resource=table, indices=ints(3, 0, 3), updates=numbers(dtype, 3, 3, seed=1))
        yield Case(op, steps=1, resource=table, indices=np.int64([[1, 2]]), updates=np.array(2, dtype))
    for name in ["Update", "Add", "Sub", "Min", "Max"]:
        op, rows = "ResourceScatterNd" + name, np.int64([[4], [1], [4]])
        yield Case(op, steps=1, ref=table, indices=rows, updates=numbers(dtype, 3, 3, seed=1))
        places = ints(4, 2, 0, 1, 4, 2).reshape(3, 2)
        yield Case(op, steps=1, ref=table, indices=places, updates=numbers(dtype, 3, seed=1))
    for begin, end, strides, masks, shape in [
        (ints(1, 0), ints(4, 2), ints(2, 1), {}, (2, 2)),
        (ints(-1, 2), ints(0, 0), ints(-1, -2), {"end_mask": 2}, (4, 2)),
        (ints(2, 0), ints(3, 0), ints(1, 1), {"shrink_axis_mask": 1, "end_mask": 2}, (3,)),
        (ints(2, 0), ints(2, 1), ints(1, 1), {}, (0, 1)),
    ]:
        yield Case("ResourceStridedSliceAssign", steps=1, ref=table, begin=begin, end=end, strides=strides,
                   value=numbers(dtype, *shape, seed=1), **masks)  # fmt: skip


def cases():
    for dtype in NUMBERS:
        yield from indexed(dtype)
    for dtype in FLOATING:
        yield from dense(dtype)
        yield from sparse(dtype, ints(3, 0, 3), 4)
    yield from sparse("float32", ints(3, 0, 4, 0, 0, dtype="int64"), 2, 3)
    yield from sparse("float32", ints(dtype="int64"), 2)
    yield from sparse("float32", ints(1, 1))


CASES = list(cases())


@pytest.fixture(scope="module")
def engine():
    return Engine()


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_does_what_tensorflow_does(engine, case):
    engine.host_nodes.clear()
    for mine, theirs in zip(case.by_engine(engine), case.by_tensorflow(), strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            assert distance(one, other) <= tolerance(other.dtype)
    assert not engine.host_nodes, f"{case.op} went to the host"


def momentum(accum):
    var, number = Held(np.ones(3, "float32")), np.float32(0.5).reshape(())
    return Case("ResourceApplyMomentum", var=var, accum=accum, lr=number, grad=floats(3), momentum=number)


def test_a_value_that_was_read_stays(engine):
    var, accum, number = Value.variable(np.ones(3, "float32")), Value.variable(np.zeros(3, "float32")), np.float32(1)
    read = node_def_pb2.NodeDef(name="read", op="ReadVariableOp")
    read.attr["dtype"].type = tf.float32.as_datatype_enum
    before = engine.run_node(read, [var], 1)[0]
    inputs = [var, accum, *(Value.of(v.reshape(v.shape)) for v in (number, np.ones(3, "float32"), number))]
    engine.run_node(momentum(Held(np.zeros(3, "float32"))).node(), inputs, 0)
    np.testing.assert_array_equal(before.numpy(), np.ones(3))
    np.testing.assert_array_equal(var.read(), np.zeros(3))


def test_variables_in_any_order_do_not_wait_for_each_other(engine):
    first, second, number = (
        Value.variable(np.zeros(3, "float32")),
        Value.variable(np.zeros(3, "float32")),
        np.float32(0),
    )
    node, rest = momentum(Held(np.zeros(3, "float32"))).node(), [Value.of(v) for v in (number, np.ones(3, "float32"))]

    def steps(a, b):
        for _ in range(200):
            engine.run_node(node, [a, b, *rest, rest[0]], 0)

    threads = [threading.Thread(target=steps, args=pair) for pair in ((first, second), (second, first))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_a_variable_given_twice_is_refused(engine):
    one, number = Value.variable(np.zeros(3, "float32")), Value.of(np.float32(0).reshape(()))
    node = momentum(Held(np.zeros(3, "float32"))).node()
    with pytest.raises(EngineError, match="inputs 0 and 1 are one variable"):
        engine.run_node(node, [one, one, number, Value.of(floats(3)), number], 0)


def test_a_part_is_where_it_begins(engine):
    case = Case("ResourceStridedSliceAssign", ref=Held(np.zeros((4, 3), "float32")), begin=ints(1, 2), end=ints(3, 3),
                strides=ints(1, 1), value=np.ones((2, 1), "float32"))  # fmt: skip
    np.testing.assert_array_equal(case.by_engine(engine)[1][0], np.pad(np.ones((2, 1)), ((1, 1), (2, 0))))


def test_a_part_takes_a_value_of_its_shape_only(engine):
    var = Value.variable(np.zeros((4, 3), "float32"))
    case = Case("ResourceStridedSliceAssign", ref=Held(np.zeros((4, 3), "float32")), begin=ints(1, 0), end=ints(3, 3),
                strides=ints(1, 1), value=floats(3, 3))  # fmt: skip
    rest = [Value.of(v) for n, v in case.inputs.items() if n != "ref"]
    with pytest.raises(EngineError, match="shapes|broadcast|expand"):
        engine.run_node(case.node(), [var, *rest], 0)
    np.testing.assert_array_equal(var.read(), np.zeros((4, 3)))
    with pytest.raises(EngineError, match="nothing was assigned to the variable yet"):
        engine.run_node(case.node(), [Value.variable(None), *rest], 0)


def test_a_wrong_index_leaves_the_variable_as_it_was(engine):
    case = next(sparse("float32", ints(1, 7), 2))
    values = [Value.variable(v.value) if isinstance(v, Held) else Value.of(v) for v in case.inputs.values()]
    with pytest.raises(EngineError, match="Index 7 at offset 1 in indices is out of range"):
        engine.run_node(case.node(), values, 0)
    np.testing.assert_array_equal(values[0].read(), case.inputs["var"].value)
