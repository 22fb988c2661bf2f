"""Settings of this installation: the environment variables that a person or a deployment may set.

No other module reads these variables, so this page is the complete list:

| variable | names | default |
|---|---|---|
| `TRANSLATIONS_STATE` | the folder for everything that is written | `.state` in the project folder |
| `TRANSLATIONS_DEPLOYMENT` | the deployment file: the store and the machines of an installation | none |
| `TRANSLATIONS_STORE` | a folder, `gs://bucket/path` or `s3://bucket/path` | the deployment's, or in state |
| `TRANSLATIONS_STORE_BASE` | a store to read, never written, in the same forms | the deployment's |
| `TRANSLATIONS_LEVEL` | one's own level of trust, of those in the deployment file | the deployment's |
| `TRANSLATIONS_CONFIGS` | folders of training configs, split by `:` | `configs` here, else in the project |
| `TRANSLATIONS_SPACE` | the space that refs are written to | the deployment's, else `<user>-<git branch>` |
| `TRANSLATIONS_SERVER` | the address of Dagster's web server | `http://127.0.0.1:3000` |
| `TRANSLATIONS_PUBLIC_SERVER` | its address for people elsewhere, for links in notices | none |
| `TRANSLATIONS_MIRROR` | copies of files of the network, a folder or `gs://bucket/path` | none |
| `TRANSLATIONS_FILES` | folders whose files file:// URLs may name, split by `:` | see `file_folders` |
| `TRANSLATIONS_CACHE` | the folder for downloads from a bucket, shared by all steps of a machine | none |
| `TRANSLATIONS_CACHE_GB` | the size that this folder is kept below | 100 |
| `TRANSLATIONS_S3_ADDRESSING` | `path` or `virtual`: where requests name the bucket | see `s3_addressing` |
| `TRANSLATIONS_WEBHOOK` | the address that notices of runs are sent to, a secret | none |
| `TRANSLATIONS_REMOTE_SETTINGS_LOGIN` | `user:password` or `Bearer …` at Remote Settings, a secret | none |
| `TRANSLATIONS_SIGN_PASSWORD` | the password of the private key that signs models, a secret | none |

The project folder is a checkout, or a folder that `translations init` has made (`project_folder`); the code's
own files are found by `repository_root`. A variable that is set but empty counts as not set.
"""

from __future__ import annotations

import getpass
import math
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

_CREDENTIALS = (".config/gcloud", ".kube", ".ssh", ".aws", ".netrc")  # below the user's home
_CREDENTIAL_FILES = (
    *("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG"),
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
)
DEFINITIONS = "translations_assets.definitions"  # the module that Dagster loads
LOCAL_SERVER = "http://127.0.0.1:3000"  # of `make ui`, and of a port that kubectl forwards
_SPACE = re.compile(r"[a-z0-9][a-z0-9._-]*")


def repository_root() -> Path:
    """The folder of the code's own files: `pipeline/`, `requirements/`, `configs/`, `deploy/` and `docs/`.

    A checkout and an image have them beside this package, an installed wheel has them inside it
    (`hatch_build.py`). Raises FileNotFoundError where they are in neither place.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package / "repository", package.parent):
        if (root / "pipeline" / "__init__.py").is_file():
            return root
    raise FileNotFoundError(
        f"the scripts ('pipeline') are missing in {package}; reinstall translations-assets"
    )


def is_installed(root: Path) -> bool:
    """True if a `repository_root` is that of an installed wheel: nobody's own files, gone with an update."""
    return root.parent == Path(__file__).resolve().parents[1]


def start_ui() -> str:
    """The command that starts the web server, in a checkout or in the project of an installed wheel."""
    return (
        "python -m translations_assets.ui -w workspace.yaml" if is_installed(repository_root()) else "make ui"
    )


def state_folder() -> Path:
    """The folder that holds all state of this installation (an absolute path; it need not exist yet)."""
    return _folder(os.environ.get("TRANSLATIONS_STATE") or project_folder() / ".state")


def deployment_file() -> Path | None:
    """The deployment file as an absolute path; None when everything runs on this machine."""
    value = os.environ.get("TRANSLATIONS_DEPLOYMENT")
    return _folder(value) if value else None


def mirror() -> str:
    """The folder or URL with copies of files of the network, tried first; empty for none."""
    return os.environ.get("TRANSLATIONS_MIRROR", "")


def file_folders() -> tuple[str, ...]:
    """The folders below which steps on this machine may read files that file:// URLs name; the mirror's, too.

    On the command line all, unless the variable names some; elsewhere (runs that the UI launches, pasted
    configs) none but those that it names. This variable counts as set when it is empty.
    """
    named = [folder for folder in os.environ.get("TRANSLATIONS_FILES", "").split(":") if folder]
    mirrors = [mirror()] if mirror() and "://" not in mirror() else []
    return tuple(str(_folder(folder)) for folder in [*named, *mirrors])


def credentials(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Paths of a user's credentials, by the user's variables: no config can name one as a dataset."""
    given = [environment.get(name) for name in _CREDENTIAL_FILES]
    given += environment.get("KUBECONFIG", "").split(":")
    if home := environment.get("HOME"):
        given += [f"{home}/{name}" for name in _CREDENTIALS]
    return tuple(os.path.abspath(path) for path in given if path)


def allow_all_files() -> None:
    """Let file:// URLs name any file of the person who runs the command line, unless the variable is set."""
    os.environ.setdefault("TRANSLATIONS_FILES", "/")


def store_url(deployed: str | None = None) -> str:
    """The store: an absolute path, or a URL such as `gs://bucket/path` as it was given.

    `deployed` is what the deployment file says; the variable wins.
    """
    return absolute(os.environ.get("TRANSLATIONS_STORE") or deployed or str(state_folder() / "store"))


def absolute(store: str) -> str:
    """The name of a store as a URL, as it was given, or as an absolute path."""
    return store if "://" in store else str(_folder(store))


def is_store_named(deployed: str | None = None) -> bool:
    """True if somebody has named the store, so that its path may be mistyped; see `store_url`."""
    return bool(os.environ.get("TRANSLATIONS_STORE") or deployed)


def store_base_url(deployed: str | None = None) -> str:
    """A store that is read in addition to `store_url` and never written, in the same form, or empty."""
    value = os.environ.get("TRANSLATIONS_STORE_BASE") or deployed or ""
    return absolute(value) if value else ""


def level(deployed: str | None = None) -> str:
    """The name of one's own level of trust, among those of the deployment file; empty when none is named."""
    return os.environ.get("TRANSLATIONS_LEVEL") or deployed or ""


def config_folders() -> tuple[Path, ...]:
    """The folders that training configs are read from, in order, as absolute paths; at least one.

    A folder named in `TRANSLATIONS_CONFIGS` need not exist: the loader says so by its name.
    """
    named = [_folder(part) for part in os.environ.get("TRANSLATIONS_CONFIGS", "").split(":") if part]
    if named:
        return tuple(named)
    own = (Path.cwd() / "configs", project_folder() / "configs")
    return (next(filter(Path.is_dir, own), repository_root() / "configs"),)


def new_config_folder() -> Path:
    """The folder that a new training config is written to: the first that configs are read from.

    The examples of an installed wheel are nobody's own: instead of them, `configs` in the project folder,
    which is made. Raises OSError.
    """
    folder = config_folders()[0]
    if folder != repository_root() / "configs":
        return folder
    own = project_folder() / "configs"
    own.mkdir(exist_ok=True)
    return own


def space(deployed: str | None = None) -> str:
    """The space for refs: lower-case letters, digits, `.`, `_` and `-`.

    `deployed` is what the deployment file says; the variable wins. Raises ValueError when that holds anything
    else: it becomes part of paths and object names, and a name changed in silence could be that of another
    space.
    """
    value = os.environ.get("TRANSLATIONS_SPACE") or deployed
    if not value:
        names = (_safe(user()) or f"uid-{os.getuid()}", _safe(_branch(project_folder())))
        return "-".join(filter(None, names))
    if not _SPACE.fullmatch(value):
        raise ValueError(
            f"{value!r}, from TRANSLATIONS_SPACE or the deployment file, cannot be the name of a space; use "
            "lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit"
        )
    return value


def webhook() -> str:
    """The address that notices of runs are sent to; empty when there is none."""
    return os.environ.get("TRANSLATIONS_WEBHOOK", "").strip()  # a file of a secret often ends a line


def remote_settings_login() -> str:
    """The login at a server of Remote Settings; empty when there is none."""
    return os.environ.get("TRANSLATIONS_REMOTE_SETTINGS_LOGIN", "").strip()


def sign_password() -> str:
    """The password of the private key that signs models; empty when there is none."""
    return os.environ.get("TRANSLATIONS_SIGN_PASSWORD", "").strip()


def server_url() -> str:
    """The address of Dagster's web server, as this machine reaches it."""
    return os.environ.get("TRANSLATIONS_SERVER") or LOCAL_SERVER


def public_server_url() -> str:
    """The address under which people reach the web server from anywhere; empty when there is none."""
    return os.environ.get("TRANSLATIONS_PUBLIC_SERVER", "").strip()


def download_cache() -> tuple[Path, int] | None:
    """The folder for downloads from a bucket, and its size in bytes; None without one.

    Raises ValueError when the size is no positive number.
    """
    folder, size = os.environ.get("TRANSLATIONS_CACHE"), os.environ.get("TRANSLATIONS_CACHE_GB") or "100"
    if not folder:
        return None
    try:
        gigabytes = float(size)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise ValueError(f"TRANSLATIONS_CACHE_GB={size!r} is no size; give GB as a positive number")
    return _folder(folder), int(gigabytes * 1e9)


def s3_addressing() -> str:
    """Where requests to S3 name the bucket: in the `path`, in the `virtual` host, or as the client finds.

    In the path where an endpoint of one's own is named, as few of those answer to a host for each bucket.
    Raises ValueError for another word.
    """
    value = os.environ.get("TRANSLATIONS_S3_ADDRESSING", "")
    if value not in ("", "path", "virtual"):
        raise ValueError(f"TRANSLATIONS_S3_ADDRESSING={value!r} is unknown; give path or virtual")
    own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return value or ("path" if own else "auto")


def project_folder() -> Path:
    """The folder with `configs/` and `.state`: what `translations init` has made, or a checkout.

    The nearest of those, from the current folder upwards; else the checkout that the code runs from; else the
    current folder.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if _is_project(folder):
            return folder
    root = repository_root()
    return root if _is_project(root) else here


def _is_project(folder: Path) -> bool:
    """Test whether the folder's pyproject.toml names the definitions to Dagster."""
    try:
        return DEFINITIONS in (folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _folder(value: str | Path) -> Path:
    return Path(value).expanduser().absolute()


def _safe(name: str) -> str:
    """`name` in the characters of a space, letters without their accents; may be empty."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9._]+", "-", ascii_name.lower()).strip("-._")


def user() -> str:
    """The name of who runs this; empty when there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number without a name
        return ""


def _branch(folder: Path) -> str:
    """The branch that is checked out in `folder`; `detached` without a branch, empty without git.

    Read from `.git/HEAD`: starting git costs more than a whole command line start, and images lack it.
    """
    git = folder / ".git"
    try:
        if git.is_file():  # a worktree or submodule: "gitdir: <path>"
            git = folder / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "detached"
