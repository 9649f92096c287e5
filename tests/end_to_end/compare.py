# SPDX-License-Identifier: Apache-2.0
"""When is a training run on the NPU equal to the CPU's?

CPU frameworks disagree with themselves (oneDNN on or off, one thread or two), so the yardstick is measured in the same
test: the distance between torch's own two CPU paths, and their distance to a float64 run.
"""

import contextlib
import copy

import torch
import torch.nn.functional as F


@contextlib.contextmanager
def plain_path():
    """torch's other CPU path: no oneDNN, one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.backends.mkldnn.flags(enabled=False):
            yield
    finally:
        torch.set_num_threads(threads)


def forward_backward(model, batch, device="cpu", dtype=None, zero_grad=None):
    """Loss and gradients of one step. `zero_grad`: the optimiser's, for those that keep gradients in a buffer."""
    x, y = (t.to(device) for t in batch)
    if dtype is not None and x.is_floating_point():
        x = x.to(dtype)
    (zero_grad or model.zero_grad)()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return loss.item(), [p.grad.detach().cpu().double() for p in model.parameters()]


def distance(gradients, reference):
    """Relative L2 distance over all parameters together."""
    square = sum(((g - r) ** 2).sum() for g, r in zip(gradients, reference, strict=True))
    size = sum((r**2).sum() for r in reference)
    return (square / size).sqrt().item()


def move_state(optimizer, source):
    """Optimiser state of `source`, on the device of `optimizer`'s parameters."""
    optimizer.load_state_dict(copy.deepcopy(source.state_dict()))


def resynchronised(model, batches, make_optimizer, device="npu"):
    """Before each step the CPU's parameters, buffers and optimiser state are copied over. Checks the loss within 1e-5
    and the gradients against float64; yields one line a step."""
    cpu, npu = copy.deepcopy(model), copy.deepcopy(model).to(device)
    wide = copy.deepcopy(model).double()
    cpu_opt, npu_opt = make_optimizer(cpu.parameters()), make_optimizer(npu.parameters())
    for step, batch in enumerate(batches):
        npu.load_state_dict(cpu.state_dict())
        wide.load_state_dict(cpu.state_dict())
        if step:
            move_state(npu_opt, cpu_opt)
        buffers = copy.deepcopy(cpu.state_dict())
        _, exact = forward_backward(wide, batch, dtype=torch.float64)
        with plain_path():
            _, plain = forward_backward(cpu, batch)
        cpu.load_state_dict(buffers)
        cpu_loss, fast = forward_backward(cpu, batch)
        npu_loss, ours = forward_backward(npu, batch, device)
        relative = abs(npu_loss - cpu_loss) / abs(cpu_loss)
        own = max(distance(fast, exact), distance(plain, exact))
        far = distance(ours, exact)
        print(
            f"step {step}: loss {npu_loss:.6f}, off by {relative:.1e}; gradients {far:.1e} from float64, CPU {own:.1e}"
        )
        assert relative <= 1e-5, f"step {step}: loss {npu_loss} on the NPU, {cpu_loss} on the CPU"
        assert far <= 2 * own + 1e-6, f"step {step}: gradients are {far:.2e} from float64, the CPU's are {own:.2e}"
        cpu_opt.step()
        npu_opt.step()
    _same_parameters(cpu, npu)
    return cpu, npu


def _same_parameters(cpu, npu):
    """After the last synchronised step only one optimiser step separates the two."""
    ours = npu.state_dict()
    for name, want in cpu.state_dict().items():
        got = ours[name].cpu()
        if want.is_floating_point():
            torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-4, msg=lambda m, name=name: f"{name}: {m}")
        else:
            assert torch.equal(got, want), name


def free_losses(model, batches, make_optimizer, device="cpu"):
    model = copy.deepcopy(model).to(device)
    optimizer = make_optimizer(model.parameters())
    losses = []
    for batch in batches:
        losses.append(forward_backward(model, batch, device, zero_grad=optimizer.zero_grad)[0])
        optimizer.step()
    return losses, model


def free_running(model, batches, make_optimizer, device="npu"):
    """10 steps without correction; the limit is 3 times what the CPU differs from itself, or 1e-5 a step."""
    cpu, _ = free_losses(model, batches, make_optimizer)
    with plain_path():
        plain, _ = free_losses(model, batches, make_optimizer)
    npu, trained = free_losses(model, batches, make_optimizer, device)
    for step, (n, c, p) in enumerate(zip(npu, cpu, plain, strict=True), 1):
        limit = max(1e-5 * step, 3 * max(abs(a - b) for a, b in zip(cpu[:step], plain[:step], strict=True)))
        print(f"step {step}: NPU {n:.6f}  CPU {c:.6f}  differs {abs(n - c):.1e}  CPU from itself {abs(c - p):.1e}")
        assert abs(n - c) <= limit, f"step {step}: losses {n} and {c} differ by more than {limit:.1e}"
    return trained


def evaluation(model, batch, device="npu"):
    """Outputs in evaluation mode on the same weights."""
    cpu, npu = copy.deepcopy(model).eval(), copy.deepcopy(model).to(device).eval()
    with torch.no_grad():
        torch.testing.assert_close(npu(batch[0].to(device)).cpu(), cpu(batch[0]), rtol=1e-4, atol=1e-5)
