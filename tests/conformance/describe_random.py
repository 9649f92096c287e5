# SPDX-License-Identifier: Apache-2.0
"""Cases of random functions: their moments, and that the same state gives the same numbers."""

import torch
from case import INTEGER, REAL, T, case, compare


def _moments(values, mean, std, shape):
    x = values.double()
    assert tuple(x.shape) == tuple(shape)
    n = x.numel()
    assert abs(x.mean().item() - mean) < 6 * std / n**0.5 + 0.01, f"mean {x.mean().item()}, expected {mean}"
    assert abs(x.std().item() - std) < 0.05 * std + 0.01, f"deviation {x.std().item()}, expected {std}"


def _uniform(inputs, outputs):
    x = outputs["out"]
    _moments(x, 1.0, 4 / 12**0.5, (40, 50))
    assert x.min() >= -1 and x.max() <= 3


def _integers(low, high):
    def check(inputs, outputs):
        x = outputs["out"].double()
        assert x.min() >= low and x.max() < high and (x == x.round()).all()
        assert len(torch.unique(x)) == high - low

    return check


def _fresh(inputs, outputs):
    x = outputs["out"].double()
    assert (x == x.round()).all() and len(torch.unique(x)) > 1


def _ones(share):
    def check(inputs, outputs):
        x = outputs["out"].double()
        assert ((x == 0) | (x == 1)).all()
        assert abs(x.mean().item() - share) < 0.06

    return check


def _normal(inputs, outputs):
    _moments(outputs["out"], 2.0, 0.5, (40, 50))


def _permutation(inputs, outputs):
    x = outputs["out"].long()
    assert (x.sort().values == torch.arange(100)).all() and (x != torch.arange(100)).any()


def _samples(inputs, outputs):
    x = outputs["out"]
    share = torch.bincount(x[0], minlength=4) / x.shape[1]
    assert torch.allclose(share, torch.tensor([0.1, 0.2, 0.0, 0.7]), atol=0.05)


def _bits(mask, count):
    return (mask.unsqueeze(-1) >> torch.arange(8, dtype=torch.uint8)).bitwise_and(1).flatten()[:count].bool()


def _mask(inputs, outputs):
    assert abs(_bits(outputs["mask"], 2000).double().mean().item() - 0.7) < 0.05
    assert not _bits(outputs["mask"], outputs["mask"].numel() * 8)[2000:].any()


def _dropout(inputs, outputs):
    kept = _bits(outputs["mask"], 2000).view(40, 50)
    compare("out", outputs["out"], torch.where(kept, inputs["self"].double() / 0.7, 0.0))


def _scaled(self, mask, factor):
    kept = torch.ones(4, 5, dtype=torch.bool) if factor == 1 else _bits(mask, 20).view(4, 5)
    return torch.where(kept, self * factor, 0.0)


def _rrelu(inputs, outputs):
    x, noise = inputs["self"].double(), outputs["noise"]
    slopes = noise[x <= 0].double()
    assert (noise[x > 0] == 1).all() and slopes.min() >= 0.099 and slopes.max() <= 0.301
    assert abs(slopes.mean() - 0.2) < 0.02
    # Both the slope and the product were rounded.
    compare("out", outputs.get("out", outputs.get("self")), x * noise.double(), factor=2)


STATE = {"seed": 7, "offset": 20}
GRAPH_STATE = {
    "seed_tensor": T(1, values=lambda g: torch.tensor([7]), dtype=torch.int64),
    "offset_tensor": T(1, values=lambda g: torch.tensor([10]), dtype=torch.int64),
    "offset": 10,
}
PLAIN = ("plain", "transposed", "sliced")
SHAPE = T(40, 50)

for suffix, state in (("", STATE), ("Tensor", GRAPH_STATE)):
    case(f"aclnnInplaceUniform{suffix}", dtypes=REAL, out=SHAPE, **{"from": -1.0, "to": 3.0}, **state, check=_uniform)
    case(f"aclnnInplaceNormal{suffix}", dtypes=REAL, out=SHAPE, mean=2.0, std=0.5, **state, check=_normal)
    case(f"aclnnInplaceRandom{suffix}", dtypes=REAL + INTEGER, out=SHAPE, **{"from": 3, "to": 12}, **state,
         check=_integers(3, 12))  # fmt: skip
    case(f"aclnnInplaceRandomWithoutFromTo{suffix}", dtypes=REAL + INTEGER, out=SHAPE, **state, check=_fresh)
    case(f"aclnnMultinomial{suffix}", dtypes=REAL, self=T(2, 4, values=lambda g: torch.tensor([[1.0, 2, 0, 7]] * 2)),
         num_samples=2000, replacement=True, **state, check=_samples, out_shapes={"out": (2, 2000)},
         out_dtypes={"out": torch.int64})  # fmt: skip

case("aclnnMultinomial", dtypes=REAL, self=T(100, low=0.5, high=1), num_samples=100, replacement=False, **STATE,
     check=_permutation, out_shapes={"out": (100,)}, out_dtypes={"out": torch.int64})  # fmt: skip

MEAN, STD = T(50, low=2, high=2.0), T(40, 1, low=0.5, high=0.5)
OUT = {"out_shapes": {"out": (40, 50)}, "check": _normal}
case("aclnnNormalFloatFloat", dtypes=REAL, mean=2.0, std=0.5, **STATE, **OUT)
case("aclnnNormalFloatTensor", dtypes=REAL, mean=2.0, std=STD, **STATE, **OUT)
case("aclnnNormalTensorFloat", dtypes=REAL, mean=MEAN, std=0.5, **STATE, **OUT)
case("aclnnNormalTensorTensor", dtypes=REAL, mean=MEAN, std=STD, **STATE, **OUT)

case("aclnnInplaceBernoulli", dtypes=REAL + INTEGER + [torch.bool], out=SHAPE, p=0.25, **STATE, check=_ones(0.25))
case("aclnnInplaceBernoulliTensor", dtypes=REAL, out=SHAPE, p=T(50, low=0.25, high=0.25), **STATE, check=_ones(0.25))
case("aclnnRandperm", dtypes=[torch.int64, torch.int32, torch.float32], n=100, **STATE, check=_permutation,
     out_shapes={"out": (100,)})  # fmt: skip

MASK = {"out_shapes": {"mask": (256,)}, "out_dtypes": {"mask": torch.uint8}, "check": _mask, "layouts": ("plain",)}
case("aclnnDropoutGenMask", dtypes=[torch.float32], shape=[40, 50], p=0.3, **STATE, **MASK)
case("aclnnDropoutGenMaskV2", dtypes=[torch.float32], shape=[40, 50], p=0.3, **STATE, prob_dtype=torch.float32, **MASK)
case("aclnnDropoutGenMaskV2Tensor", dtypes=[torch.float32], shape=[40, 50], p=0.3, **GRAPH_STATE,
     prob_dtype=torch.float32, **MASK)  # fmt: skip
case("aclnnDropoutDoMask", lambda self, mask: torch.where(_bits(mask, 20).view(4, 5), self / 0.75, 0.0), REAL,
     self=T(4, 5), mask=T(3, values=lambda g: torch.tensor([0b10110101, 0xFF, 0x05], dtype=torch.uint8),
                          dtype=torch.uint8), p=0.25, layouts=("plain",))  # fmt: skip
case("aclnnDropoutV3", dtypes=REAL, self=SHAPE, noise_shape=None, p=0.3, **STATE, check=_dropout,
     out_shapes={"out": (40, 50), "mask": (256,)}, out_dtypes={"mask": torch.uint8}, layouts=("plain",))  # fmt: skip


def _plain(inputs, outputs):
    assert _bits(outputs["mask"], 2000).all()
    compare("out", outputs["out"], inputs["self"].double(), factor=0)


WITH_MASK = {"out_shapes": {"out": (40, 50), "mask": (256,)}, "out_dtypes": {"mask": torch.uint8}}
for train, check in ((True, _dropout), (False, _plain)):
    case("aclnnDropout", dtypes=REAL, self=SHAPE, p=0.3, train=train, **STATE, check=check, layouts=("plain",),
         **WITH_MASK)  # fmt: skip
for factor in (1 / 0.75, 1.0, 0.0):
    case("aclnnDropoutBackward", lambda self, mask, factor: _scaled(self, mask, factor), REAL, self=T(4, 5),
         mask=T(3, values=lambda g: torch.tensor([0b10110101, 0xFF, 0x05], dtype=torch.uint8), dtype=torch.uint8),
         factor=factor, layouts=("plain",))  # fmt: skip
for name, out in (("aclnnRReluWithNoise", {"out_shapes": {"out": (40, 50)}}), ("aclnnInplaceRReluWithNoise", {})):
    case(name, dtypes=REAL, self=SHAPE, noise=SHAPE, lower=0.1, upper=0.3, training=True, **STATE,
         check=_rrelu, layouts=PLAIN, **out)  # fmt: skip
