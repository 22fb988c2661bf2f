"""Training speed of a machine that has trained nothing yet: the processors of this one, or a GPU."""

from __future__ import annotations

import time
from functools import cache

from translations_assets.runners.machine import cpu_count
from translations_assets.why.estimates import TrainingSpeed

# Four V100 took 9 days for the 24 billion words of a transformer-big: 7,700 words a second each, of 1.3
# pieces, and 210 million weights. https://github.com/mozilla/translations/issues/733
GPU = TrainingSpeed(12.6e12, "of a V100, as none has trained yet")
_SIZE, _SECONDS = 1024, 1.0
_MARIAN = 0.55  # of what a product of matrices makes: `python -m benchmarks.first_forecast`


@cache
def speed(gpus: int) -> TrainingSpeed:
    """That of one GPU, or of all processors of this machine, which are measured for a second."""
    return GPU if gpus else TrainingSpeed(_MARIAN * _products(), "as measured now")


def _products() -> float:
    """Floating-point operations a second in products of matrices of 32-bit numbers, were all cores free."""
    import numpy as np

    one = np.ones((_SIZE, _SIZE), np.float32)
    other, made = one.copy(), 0
    begin = time.process_time()
    while (taken := time.process_time() - begin) < _SECONDS:
        np.dot(one, other)
        made += 1
    return 2.0 * _SIZE**3 * made / taken * cpu_count()
