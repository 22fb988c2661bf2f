"""The environment of a script: made from scratch, so that nothing but what is listed here can reach it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from translations_assets.runners.secrets import secrets_of
from translations_assets.runners.wire import Request
from translations_assets.runners.work_folder import WorkFolder

_PASSED = (
    "PATH",
    "HOME",
    "TRANSLATIONS_ENVIRONMENTS",  # where the environments of programs are, which scripts make
    "TRANSLATIONS_MEMORY",  # what scripts may use of it whose need would grow with their input
    "LD_LIBRARY_PATH",  # an interpreter or a driver outside the default places cannot start without it
    *(
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
    ),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
_THREADS = (
    "TRANSLATIONS_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


def script_environment(request: Request, folder: WorkFolder, outer: Mapping[str, str]) -> dict[str, str]:
    """What a script finds in its environment: the pass-through, the secrets that the job names, the job's own
    variables, what the worker grants.

    Only the job's own variables are part of the step's key.
    """
    job = request.job
    passed = {name: outer[name] for name in _PASSED if name in outer} | secrets_of(job, outer)
    granted = _granted(request, folder) | _keys(outer)
    return {**passed, **_mirror(outer), **_python(folder), **granted}


def _mirror(outer: Mapping[str, str]) -> dict[str, str]:
    """The mirror; a relative folder is relative to where the user is, not to the work folder."""
    mirror = outer.get("TRANSLATIONS_MIRROR", "")
    if not mirror:
        return {}
    return {"TRANSLATIONS_MIRROR": mirror if "://" in mirror else os.path.abspath(mirror)}


def _keys(outer: Mapping[str, str]) -> dict[str, str]:
    """Where the credentials of the worker's user are, so that no URL of a config can name one of them."""
    home = outer.get("HOME", "")
    given = (outer.get("GOOGLE_APPLICATION_CREDENTIALS"), outer.get("CLOUDSDK_CONFIG"))
    usual = (
        [f"{home}/{name}" for name in (".config/gcloud", ".kube", ".ssh", ".aws", ".netrc")] if home else []
    )
    named = [*filter(None, given), *filter(None, outer.get("KUBECONFIG", "").split(":")), *usual]
    return {"TRANSLATIONS_KEYS": ":".join(os.path.abspath(path) for path in named)}


def _python(folder: WorkFolder) -> dict[str, str]:
    return {
        "LANG": "C.UTF-8",
        "TMPDIR": str(folder.temporary),
        "PYTHONPATH": str(folder.code),
        "PYTHONSAFEPATH": "1",  # children of the script do not import from their current folder
        "PYTHONUNBUFFERED": "1",  # output and errors stand in the log in the order they were written
    }


def _granted(request: Request, folder: WorkFolder) -> dict[str, str]:
    granted = {
        **dict.fromkeys(_THREADS, str(request.threads)),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # that of nvidia-smi, whose ids we were given
        "CUDA_VISIBLE_DEVICES": ",".join(request.gpus),
        # CUDA numbers the visible devices again, from 0
        "TRANSLATIONS_GPUS": " ".join(str(number) for number, _ in enumerate(request.gpus)),
        "TRANSLATIONS_WORKSPACE": str(request.workspace),
        "TRANSLATIONS_GRACE": f"{request.grace:g}",
        "TRANSLATIONS_PROGRESS": str(folder.progress),
        "TRANSLATIONS_FILES": ":".join(request.files),
    }
    if request.job.resumable:
        granted["TRANSLATIONS_CHECKPOINTS"] = str(folder.checkpoints)
    return granted
