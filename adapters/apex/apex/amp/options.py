# SPDX-License-Identifier: Apache-2.0
"""The options of `initialize`: what a level means, what may be set with it, and what a value may be."""

from dataclasses import dataclass, fields

import torch


class OptionError(RuntimeError):
    """Options that do not go together."""


@dataclass
class Options:
    enabled: bool = True
    opt_level: str = "O1"
    cast_model_type: torch.dtype | None = None
    patch_torch_functions: bool = False
    keep_batchnorm_fp32: bool | None = None
    master_weights: bool | None = None
    loss_scale: float | str = 1.0
    cast_model_outputs: torch.dtype | None = None
    num_losses: int = 1
    dynamic_init_scale: float = 2.0**16
    scale_growth_factor: float = 2.0
    scale_backoff_factor: float = 0.5
    scale_window: int = 2000
    min_loss_scale: float | None = None
    max_loss_scale: float = 2.0**24
    combine_grad: bool = False
    combine_ddp: bool = False
    ddp_replica_count: int = 4
    user_cast_preferred: bool = False
    check_combined_tensors: bool = False


_LEVELS = {
    "O0": {"cast_model_type": torch.float32, "master_weights": False, "loss_scale": 1.0},
    "O1": {"patch_torch_functions": True, "loss_scale": "dynamic"},
    "O2": {"cast_model_type": torch.float16, "keep_batchnorm_fp32": True, "master_weights": True}
    | {"loss_scale": "dynamic"},
    "O3": {"cast_model_type": torch.float16, "keep_batchnorm_fp32": False, "master_weights": False, "loss_scale": 1.0},
}


def _boolean(name, value):
    if value in ("True", "False"):
        return value == "True"
    if not isinstance(value, bool):
        raise TypeError(f'{name} is {value!r}; it takes True, False, "True", "False" or None')
    return value


def _number(name, value, least, strict=True):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}; it takes a number")
    if value < least or (strict and value == least):
        raise ValueError(f"{name} is {value}; it must be {'above' if strict else 'at least'} {least}")
    return value


def _whole(name, value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; it takes a whole number")
    return _number(name, value, 1, strict=False)


def _dtype(name, value):
    if not isinstance(value, torch.dtype) or not value.is_floating_point:
        raise TypeError(f"{name} is {value!r}; it takes a floating torch.dtype")
    return value


def _loss_scale(name, value):
    if value == "dynamic":
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f'{name} is {value!r}; it takes a number or "dynamic"') from None


def _growth(name, value):
    return _number(name, value, 1)


def _backoff(name, value):
    if _number(name, value, 0) >= 1:
        raise ValueError(f"{name} is {value}; it must be below 1")
    return value


def _positive(name, value):
    return _number(name, value, 0)


_CHECKS = {
    "cast_model_type": _dtype,
    "cast_model_outputs": _dtype,
    "loss_scale": _loss_scale,
    "num_losses": _whole,
    "dynamic_init_scale": _positive,
    "scale_growth_factor": _growth,
    "scale_backoff_factor": _backoff,
    "scale_window": _whole,
    "min_loss_scale": _positive,
    "max_loss_scale": _positive,
    "ddp_replica_count": _whole,
}


def _check_level(options, given):
    """What may not be set with O1, and what only O1 may have."""
    level = options.opt_level
    if level == "O1":
        if given.get("cast_model_type") not in (None, torch.float32):
            raise OptionError("cast_model_type must be None or torch.float32 with O1: functions cast, not the model")
        for name in ("keep_batchnorm_fp32", "master_weights"):
            if given.get(name) is not None:
                raise OptionError(f"{name} cannot be set with O1: weights stay float32 there; leave it None")
    elif options.patch_torch_functions:
        raise OptionError(f"patch_torch_functions=True goes with O1 only, not with {level}")
    elif options.user_cast_preferred:
        raise OptionError(f"user_cast_preferred goes with O1 only, not with {level}")


def _check_combining(options, given):
    for name in ("combine_grad", "check_combined_tensors"):
        if getattr(options, name) and options.opt_level not in ("O1", "O2"):
            raise OptionError(f"{name} goes with O1 and O2 only, not with {options.opt_level}")
    if options.combine_ddp and not options.combine_grad:
        # The vendor's guide sets combine_ddp alone.
        if given.get("combine_grad") is not None or options.opt_level not in ("O1", "O2"):
            raise OptionError("combine_ddp needs combine_grad=True, with O1 or O2")
        options.combine_grad = True


def resolved(opt_level, **given):
    """The options that a level and what the caller has set (None: not set) make together."""
    if opt_level not in _LEVELS:
        raise OptionError(f"opt_level is {opt_level!r}; it takes 'O0', 'O1', 'O2' or 'O3' (the letter O, not zero)")
    checked = {name: _CHECKS.get(name, _boolean)(name, value) for name, value in given.items() if value is not None}
    options = Options(**{"opt_level": opt_level, **_LEVELS[opt_level], **checked})
    if options.min_loss_scale is not None and options.min_loss_scale > options.max_loss_scale:
        raise ValueError(f"min_loss_scale {options.min_loss_scale} is above max_loss_scale {options.max_loss_scale}")
    _check_level(options, checked)
    _check_combining(options, checked)
    return options


def described(options):
    return "\n".join(f"{field.name:22} : {getattr(options, field.name)}" for field in fields(options))
