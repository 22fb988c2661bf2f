"""A GPU whose memory runs out while Marian trains: how it says so, and what is changed then.

Marian's workspace grows when a micro-batch needs more than was reserved, and Marian aborts when the GPU has
no more. Micro-batches half as large need half as much; the batch of an update stays as it is.
"""

import math
import re
from collections.abc import Mapping

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.marian_options import Options, Value

# How CUDA (cudaErrorMemoryAllocation), cuBLAS, cuSPARSE and cuRAND (…_ALLOC_FAILED) are told in Marian's log;
# what Thrust throws, by its text, whoever catches it. NCCL's 'unhandled cuda error' may be anything.
_RAN_OUT = re.compile(
    r"Error: (?:CUDA [Ee]rror 2\b|CUDA error \d+ 'out of memory|Cublas Error: 3\b|Cusparse Error: 2\b"
    r"|Curand error 102\b|NCCL error \d+ .*out of memory|.*\bcudaErrorMemoryAllocation: out of memory)"
)


class OutOfGpuMemory(Exception):
    """Marian has ended because a GPU has no more memory; the message is Marian's."""


def ran_out(line: str) -> bool:
    """Whether a line of Marian's log says that a GPU's memory ran out."""
    return _RAN_OUT.search(line) is not None


def not_reserved(said: str) -> TemporaryError:
    """What to raise when memory ran out before the first micro-batch, so that smaller ones would not help."""
    return TemporaryError(
        f"{said}\nThe GPU has no room for Marian's workspace: another process holds its memory, or "
        "TRANSLATIONS_WORKSPACE is more than it has."
    )


def halve(options: Mapping[str, Value]) -> Options:
    """The options with micro-batches half as large, and half as many sentences validated at a time."""
    validated = int(str(options.get("valid-mini-batch", 0)))
    return {
        **options,
        "optimizer-delay": 2 * math.ceil(float(str(options.get("optimizer-delay", 1)))),
        **({"valid-mini-batch": math.ceil(validated / 2)} if validated else {}),
    }


def out_twice(error: OutOfGpuMemory, options: Mapping[str, Value]) -> InputError:
    """What to tell a person when smaller micro-batches did not help, or cannot be had."""
    if options.get("mini-batch-fit"):
        return InputError(
            f"{error}\nThe GPU's memory ran out with mini-batch-fit, which fills the workspace of "
            f"{options.get('workspace')} MB. Leave mini-batch-fit out of marian-args, so that the batch is "
            "split by optimizer-delay, or set a smaller TRANSLATIONS_WORKSPACE for the script."
        )
    delay = int(str(options["optimizer-delay"]))
    return InputError(
        f"{error}\nThe GPU's memory ran out again with micro-batches half as large (optimizer-delay {delay}, "
        f"workspace {options.get('workspace')} MB). Use a GPU with more memory, or set in marian-args: "
        f"optimizer-delay: {2 * delay} (smaller micro-batches of the same batch), a smaller max-length, or a "
        "smaller mini-batch-words (a smaller batch: another training). If it was while validating: a smaller "
        "valid-mini-batch."
    )
