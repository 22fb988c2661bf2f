"""The environment of a script, on this machine and in a pod: the one list of its variables.

A result stands under its key alone, and no variable is part of a key. So a script is given nothing but

* what cannot change its bytes: where programs, proxies, certificates and caches are (`_PASSED`, `_CACHES`),
  and the secrets that its step names;
* what is the same everywhere (`_FIXED`): language, time zone, hash seed, and a home folder of its own, in
  which no settings and no Python packages of a person lie;
* what its worker allots: folders, threads, memory, devices. Libraries get one thread where the step's bytes
  must not depend on their number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from translations_assets.common.settings import credentials
from translations_assets.runners.publisher import secrets_of
from translations_assets.runners.wire import Request
from translations_assets.runners.work_folder import WorkFolder

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_PASSED = (
    "PATH",
    "LD_LIBRARY_PATH",  # an interpreter or a driver outside the default places cannot start without it
    *_PROXIES,
    *map(str.upper, _PROXIES),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
# What programs look for in a home folder and a script still finds there, unless the variable names it
_CACHES = {
    "TRANSLATIONS_ENVIRONMENTS": ".cache/translations-assets/environments",  # made from locks with hashes
    "PIP_CACHE_DIR": ".cache/pip",
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",  # which index the files of these locks come from
    "CUDA_CACHE_PATH": ".nv/ComputeCache",  # kernels that the driver has compiled, which takes minutes
}
_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",  # children of the script do not import from their current folder
    "PYTHONUNBUFFERED": "1",  # output and errors stand in the log in the order they were written
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # that of nvidia-smi, which the ids are of
}
# Sums of floats are in another order where they are shared between more threads
_SUMMING = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_THREADS = ("TRANSLATIONS_THREADS", "RAYON_NUM_THREADS")


def script_environment(request: Request, folder: WorkFolder, outer: Mapping[str, str]) -> dict[str, str]:
    """All variables of a script, given those of its worker."""
    return {
        **{name: outer[name] for name in _PASSED if name in outer},
        **_caches(outer),
        **_mirror(outer),
        **secrets_of(request.job, outer),
        **_FIXED,
        **_allotted(request, folder, outer),
    }


def _caches(outer: Mapping[str, str]) -> dict[str, str]:
    home = outer.get("HOME")
    below = {name: os.path.join(home, path) for name, path in _CACHES.items()} if home else {}
    return below | {name: outer[name] for name in _CACHES if outer.get(name)}


def _mirror(outer: Mapping[str, str]) -> dict[str, str]:
    """A relative folder is relative to where the user is, not to the work folder."""
    mirror = outer.get("TRANSLATIONS_MIRROR", "")
    if not mirror:
        return {}
    return {"TRANSLATIONS_MIRROR": mirror if "://" in mirror else os.path.abspath(mirror)}


def _allotted(request: Request, folder: WorkFolder, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the worker sets, and those that hide devices from the script."""
    summing = request.threads if request.job.provenance.repeatable is False else 1
    environment = {
        **dict.fromkeys(_THREADS, str(request.threads)),
        **dict.fromkeys(_SUMMING, str(summing)),
        "HOME": str(folder.temporary),
        "TMPDIR": str(folder.temporary),
        "PYTHONPATH": str(folder.code),
        "CUDA_VISIBLE_DEVICES": ",".join(request.gpus),
        # CUDA numbers the visible devices again, from 0
        "TRANSLATIONS_GPUS": " ".join(map(str, range(len(request.gpus)))),
        "TRANSLATIONS_WORKSPACE": str(request.workspace),
        # a person's own first
        "TRANSLATIONS_MEMORY": outer.get("TRANSLATIONS_MEMORY") or str(request.memory),
        "TRANSLATIONS_GRACE": f"{request.grace:g}",
        "TRANSLATIONS_PROGRESS": str(folder.progress),
        "TRANSLATIONS_FILES": ":".join(request.files),
        "TRANSLATIONS_KEYS": ":".join(credentials(outer)),
    }
    if request.job.resumable:
        environment["TRANSLATIONS_CHECKPOINTS"] = str(folder.checkpoints)
    return environment
