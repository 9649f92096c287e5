# SPDX-License-Identifier: Apache-2.0
"""The modules that a session is made of, and codes of calls as errors."""

ALREADY = 100002  # acl.init() was called before, by a framework or another session


def modules():
    """numpy and acl, imported late: the command starts without them."""
    try:
        import numpy
    except ImportError:
        raise ValueError("numpy is not installed: pip install numpy") from None
    try:
        import acl
    except ImportError as error:
        raise ValueError(f"the module acl cannot be imported ({error}); anynpu doctor tells what to do") from None
    if not hasattr(acl.mdl, "load_from_file"):
        raise ValueError("this AnyNPU cannot load models: aclmdlLoadFromFile is not in it")
    return numpy, acl


def checked(what, result):
    """The values of a result, without the code; RuntimeError with the library's text for a code that is not 0."""
    values = result if isinstance(result, tuple) else (result,)
    if values[-1] != 0:
        import acl

        raise RuntimeError(f"{what} gave {values[-1]}: {acl.get_recent_err_msg()}")
    return values[0] if len(values) == 2 else values[:-1]


def start(acl, device, config=None):
    """The device and its context, for this thread."""
    code = acl.init(*([config] if config else []))
    if code != ALREADY:
        checked("acl.init", code)
    checked("acl.rt.set_device", acl.rt.set_device(device))
    return checked("acl.rt.get_context", acl.rt.get_context())
