# SPDX-License-Identifier: Apache-2.0
"""Started by anynpu-preload.pth in every Python process, so it must stay small. When onnxruntime is first looked for
and brings its CANN provider, our libraries are opened beforehand: the provider looks for them in the vendor's toolkit
folder alone. When torch_npu is first looked for:

- ASCEND_GLOBAL_LOG_LEVEL is taken away where it is no level, of which torch-npu itself would abort;
- where our libraries are not in the folder its RPATH names (editable install, another site folder, wheels before 2.7.1,
  which name none) it opens them beforehand; the loader then meets the names it wants as already loaded;
- ASCEND_HOME_PATH and ASCEND_OPP_PATH name our toolkit folder unless one of them is set; torch-npu prints a line on
  stdout where it is told of no toolkit;
- beside the CUDA build of torch, torch-npu gets a set of its own for the names of its allocator's options;
- PATH gets the folder of msprof at its front: torch_npu.profiler calls it, and looks for more beside it;
- TASK_QUEUE_ENABLE becomes 0 unless it is set. torch-npu's own queue hides the launch latency of a card, which a
  software device does not have; without it small operators take half the time, an error carries the line that caused
  it, and nothing after a failed operator is lost;
- torch.autograd.profiler.profile takes use_npu=True, as the vendor's guide writes it; torch.compile without a backend
  runs graphs of the NPU eagerly; a device's properties have the fields of a GPU's;
- transfer_to_npu, once it is imported, is completed (library/cuda_calls.py);
- torch.nn.LSTM with proj_size is computed, for which torch-npu has no operator; torch's gradient scaler unscales for
  fused optimizers;
- the interpreter ends only when autograd's threads rest, which would take the process along otherwise;
- ANYNPU_REPORT and ANYNPU_STRICT begin to observe which operators it runs on the host;
- ANYNPU_NAN_CHECK begins to look for the operator that makes the first infinity or NaN, as it does for npu_device, and
  ANYNPU_SELF_CHECK to compute operators once more;
- ANYNPU_MODULES begins to note down for which module a thread works;
- ANYNPU_DIGEST begins to write digests of what operators read and write, there too."""

import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch_npu":
            sys.meta_path.remove(Finder)
            correct_log_level()
            prefer_no_queue()
            name_the_toolkit()
            name_the_profiler()
            complete_transfer()
            load_where_rpath_cannot()
            end_after_autograd()
            keep_names_of_options_apart()
            return observed(name, path)
        if name == "onnxruntime":
            load_for_provider(path)
            return None
        return observed(name, path) if name == "npu_device" else None


def correct_log_level():
    import os

    level = os.environ.get("ASCEND_GLOBAL_LOG_LEVEL", "3")
    if level.strip() not in ("0", "1", "2", "3", "4"):
        del os.environ["ASCEND_GLOBAL_LOG_LEVEL"]
        print(f"ASCEND_GLOBAL_LOG_LEVEL is {level!r}, which is not between 0 and 4; using 3", file=sys.stderr)


def prefer_no_queue():
    import os

    os.environ.setdefault("TASK_QUEUE_ENABLE", "0")


def name_the_toolkit():
    import os

    from anynpu.library import place

    if place.home().is_dir() and not {"ASCEND_HOME_PATH", "ASCEND_OPP_PATH"} & set(os.environ):
        os.environ.update(place.toolkit())


def name_the_profiler():
    import os

    from anynpu.library import place

    folder, path = str(place.profiler()), os.environ.get("PATH", "")
    others = [one for one in path.split(":") if one != folder] if path else []
    os.environ["PATH"] = ":".join([folder, *others])


def complete_transfer():
    from anynpu.library import transfer

    transfer.prepare()


ALWAYS = tuple(
    f"anynpu.library.{name}"
    for name in ("use_npu", "lstm_projection", "unscaled_steps", "eager_compile", "device_properties")
)


def asked(*variables):
    import os

    return any(os.environ.get(name, "") not in ("", "0", "false", "off") for name in variables)


def observed(package, path):
    """The package with observers where some are asked for; None leaves the import alone."""
    beginners = list(ALWAYS) if package == "torch_npu" else []
    if package == "torch_npu" and asked("ANYNPU_REPORT", "ANYNPU_STRICT"):
        beginners.append("anynpu.fallback.start")
    for check in ("nan_check", "self_check"):
        if asked(f"ANYNPU_{check.upper()}"):
            launch_and_wait()
            beginners.append(f"anynpu.{check}.start")
    if package == "torch_npu" and asked("ANYNPU_MODULES"):
        beginners.append("anynpu.module.start")
    if asked("ANYNPU_DIGEST"):
        beginners.append("anynpu.repeat.start")
    if not beginners:
        return None
    from anynpu.library import after_import

    return after_import.spec(package, path, beginners)


def launch_and_wait():
    """An operator then runs in the thread that asks for it, whose lines are known."""
    import os

    os.environ.setdefault("ASCEND_LAUNCH_BLOCKING", "1")


def load_libraries():
    import ctypes

    from anynpu.library import place

    for path in place.vendor_libraries(place.libraries()):
        ctypes.CDLL(str(path), ctypes.RTLD_LOCAL)


def load_where_rpath_cannot():
    from anynpu.library import place

    folder = place.rpath_folder()
    if folder is None or not place.is_ours(folder / "libascendcl.so"):
        load_libraries()


PROVIDER = "onnxruntime/capi/libonnxruntime_providers_cann.so"


def load_for_provider(path):
    """The first folder with an onnxruntime is the one that is imported."""
    import os

    for folder in path or sys.path:
        if os.path.isdir(os.path.join(folder or ".", "onnxruntime")):
            if os.path.exists(os.path.join(folder or ".", PROVIDER)):
                load_libraries()
            return


def end_after_autograd():
    import atexit

    from anynpu.library import autograd_threads

    atexit.register(autograd_threads.wait)


def keep_names_of_options_apart():
    from anynpu.library import cuda_build

    cuda_build.keep_apart()


sys.meta_path.insert(0, Finder)
