# SPDX-License-Identifier: Apache-2.0
"""torch.npu.NPUGraph: what was captured once gives, at each replay, what the same lines give on the CPU."""

import copy
import ctypes

import pytest
import torch
import torch_npu  # noqa: F401
from anynpu.library import place

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(str(place.libraries() / "libascendcl.so")), "aclrtSetStreamAttribute"),
    reason="the vendor's plug-in asks for aclrtSetStreamAttribute before it captures",
)


def network():
    torch.manual_seed(3)
    layers = [torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4)]
    return torch.nn.Sequential(*layers)


def warmed_up(call, times=3):
    side = torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        for _ in range(times):
            call()
    torch.npu.current_stream().wait_stream(side)


def test_a_replay_computes_on_what_is_in_the_input_now():
    reference = network()
    model = copy.deepcopy(reference).npu()
    x = torch.zeros(8, 16, device="npu")
    with torch.no_grad():
        warmed_up(lambda: model(x))
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = model(x)
        for seed in range(4):
            values = torch.randn(8, 16, generator=torch.Generator().manual_seed(seed))
            x.copy_(values)
            graph.replay()
            torch.testing.assert_close(y.cpu(), reference(values), rtol=1e-5, atol=1e-6)


@pytest.mark.promise("recorded streams (`aclmdlRI…`, `torch.npu.NPUGraph`) run again")
def test_a_captured_training_step_trains_like_the_cpu():
    reference = network()
    model = copy.deepcopy(reference).npu()
    x, target = torch.zeros(8, 16, device="npu"), torch.zeros(8, 4, device="npu")
    loss_of = torch.nn.functional.mse_loss

    def step(model, x, target):
        loss = loss_of(model(x), target)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p.sub_(0.1 * p.grad)
                p.grad.zero_()
        return loss

    warmed_up(lambda: step(model, x, target))
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        loss = step(model, x, target)
    with torch.no_grad():
        for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
            ours.copy_(theirs)
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        values, wanted = torch.randn(8, 16, generator=generator), torch.randn(8, 4, generator=generator)
        x.copy_(values)
        target.copy_(wanted)
        graph.replay()
        expected = step(reference, values, wanted)
        torch.testing.assert_close(loss.cpu(), expected.detach(), rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=1e-4, atol=1e-5)


def test_each_replay_draws_new_random_numbers():
    x = torch.ones(1000, device="npu")
    warmed_up(lambda: torch.nn.functional.dropout(x, 0.5))
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = torch.nn.functional.dropout(x, 0.5)
    drawn = []
    for _ in range(3):
        graph.replay()
        drawn.append(y.cpu())
    assert all(set(d.unique().tolist()) == {0.0, 2.0} for d in drawn)
    assert not torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])


def test_a_read_within_a_capture_is_refused_and_the_next_capture_works():
    x = torch.ones(4, device="npu")
    graph = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError), torch.npu.graph(graph):
        (x + 1).sum().item()
    torch.npu.synchronize()
    again = torch.npu.NPUGraph()
    with torch.npu.graph(again):
        y = x + 1
    again.replay()
    assert y.cpu().tolist() == [2, 2, 2, 2]


def attention(q, k, v, lengths, **more):
    return torch_npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=4, input_layout="BNSD", scale=0.125, actual_seq_lengths_kv=lengths, **more
    )[0]


def expected_attention(q, k, v, lengths):
    """Softmax over the first `lengths` keys in float64, on the CPU."""
    q, k, v = (t.cpu().double() for t in (q, k, v))
    scores = 0.125 * q @ k.transpose(-1, -2)
    for b, n in enumerate(lengths):
        scores[b, ..., n:] = -torch.inf
    return scores.softmax(-1) @ v


def heads():
    generator = torch.Generator().manual_seed(5)
    return (torch.randn(2, 4, n, 64, generator=generator, dtype=torch.float16).npu() for n in (1, 32, 32))


def test_an_update_gives_lengths_to_the_next_replay():
    """The next one alone: torch-npu's wait for the event of an update does nothing, for the event is made only when it
    is recorded. So a replay that was launched before computes with the lengths before."""
    q, k, v = heads()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        out = attention(q, k, v, [8, 8])
        doubled = out * 2
    for lengths in ([32, 20], [5, 9], [1, 32]):
        graph.update(cpu_update_input=[{"actual_seq_lengths_kv": lengths}])
        graph.replay()
        torch.npu.synchronize()
        expected = expected_attention(q, k, v, lengths)
        torch.testing.assert_close(out.cpu().double(), expected, rtol=2e-3, atol=2e-3)
        assert torch.equal(out.cpu(), attention(q, k, v, lengths).cpu())
        assert torch.equal(doubled.cpu(), out.cpu() * 2)


def test_task_groups_are_updated_by_hand():
    q, k, v = heads()
    side, event = torch.npu.Stream(), torch.npu.ExternalEvent()
    graph = torch.npu.NPUGraph()
    options = {"num_heads": 4, "input_layout": "BNSD", "scale": 0.125}
    workspace = torch_npu._npu_fused_infer_attention_score_get_max_workspace(
        q, k, v, actual_seq_lengths_kv=[8, 8], **options
    )
    out = torch.empty_like(q)
    lse = torch.empty(1, dtype=torch.float16, device="npu")

    def attend(lengths):
        torch_npu.npu_fused_infer_attention_score.out(
            q, k, v, workspace=workspace, actual_seq_lengths_kv=lengths, out=[out, lse], **options
        )

    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        attend([8, 8])
        handle = torch.npu.graph_task_group_end(stream)
    for lengths in ([32, 20], [3, 31]):
        with torch.npu.stream(side):
            torch.npu.graph_task_update_begin(side, handle)
            attend(lengths)
            torch.npu.graph_task_update_end(side)
            event.record(side)
        graph.replay()
        torch.npu.synchronize()
        expected = expected_attention(q, k, v, lengths)
        torch.testing.assert_close(out.cpu().double(), expected, rtol=2e-3, atol=2e-3)
