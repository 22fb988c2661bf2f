"""What code may use that can neither see what normal forms leave out, nor do anything when it is imported.

A normal form has no comments, docstrings, positions, names of locals, type hints of plain functions, and
nothing of modules that functions lie in. Only what is known to see none of these may be used without the
module's text counting: built-in names, modules from outside the package and attributes are allowed, not
forbidden, one by one.
"""

from __future__ import annotations

import builtins
import re

from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.syntax import words

_LOOKING = words(
    "__build_class__ __debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ breakpoint "
    "compile copyright credits delattr dir eval exec exit getattr globals hasattr help license locals "
    "quit setattr vars AttributeError ImportError ModuleNotFoundError NameError UnboundLocalError"
)
_BUILT_IN = {name for name in dir(builtins) if not name.startswith("_")} - _LOOKING
_BUILT_IN |= {"BaseExceptionGroup", "ExceptionGroup", "EncodingWarning", "aiter", "anext"}

_MODULES = words(
    "PIL abc argparse array base64 binascii bisect bz2 codecs collections concurrent contextlib copy csv "
    "ctranslate2 ctypes dataclasses datetime decimal difflib eflomal enum errno fasttext fcntl fnmatch "
    "fractions functools fxtranslate glob gzip hanzidentifier hashlib heapq heliport html icu4py importlib "
    "io itertools json logging lzma math mtdata multiprocessing numpy opencc operator opustrainer "
    "os pathlib pickle psutil py3langid pyarrow queue random re regex requests resource sacrebleu sacremoses "
    "selectors sentencepiece shlex shutil signal socket statistics string struct subprocess sys tarfile "
    "tempfile textwrap threading time tokenize tomllib types typing unicodedata urllib weakref xml xxhash "
    "yaml zipfile zlib zstandard"
)
# What may be taken of modules that hold other things as well.
_ONLY = {
    "argparse": words(
        "ArgumentParser ArgumentTypeError BooleanOptionalAction Namespace RawDescriptionHelpFormatter"
    ),
    "ctypes": words(
        "CDLL POINTER PyDLL RTLD_GLOBAL RTLD_LOCAL byref c_bool c_char_p c_double c_float c_int c_int32 "
        "c_int64 c_size_t c_uint8 c_uint32 c_uint64 c_void_p create_string_buffer sizeof"
    ),
    "functools": words("cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps"),
    "importlib": {"metadata"},
    "logging": words("ERROR INFO WARNING Logger basicConfig debug error getLogger info warning"),
    "operator": words("add and_ contains eq getitem itemgetter le lt mul ne neg or_ sub xor"),
    "pickle": {"Unpickler", "UnpicklingError"},
    "sys": words(
        "byteorder executable exit getrecursionlimit intern maxsize maxunicode platform setrecursionlimit "
        "stderr stdin stdout version version_info"
    ),
    "tokenize": {"TokenError"},
    "types": words("FrameType MappingProxyType NoneType SimpleNamespace TracebackType"),
    "yaml": words("CSafeDumper CSafeLoader SafeDumper SafeLoader YAMLError load safe_dump safe_load"),
}
_NOT_OF = {
    "contextlib": {"redirect_stderr"},
    "dataclasses": {"make_dataclass"},
    "numpy": {"add_docstring", "add_newdoc", "f2py", "info", "lookfor", "source", "testing"},
    "re": {"DEBUG"},
    "regex": {"D", "DEBUG"},
    "string": {"Formatter"},
    "threading": {"excepthook", "setprofile", "setprofile_all_threads", "settrace", "settrace_all_threads"},
    "typing": {"get_overloads", "get_type_hints", "ForwardRef", "no_type_check", "reveal_type"},
}
_OPERATORS = words(
    "abs add and bool bytes call ceil complex contains copy deepcopy delitem divmod enter eq exit float "
    "floor floordiv format fspath ge getitem gt hash iadd iand index init int invert ior ipow isub iter "
    "itruediv ixor le len lt missing mod mul ne neg new next or pos post_init pow radd rand repr reversed "
    "rmul ror round rsub rtruediv rxor setitem str sub truediv trunc xor"
)
_SEEN = words("__name__ __qualname__ __class__ __cause__ __context__ __suppress_context__ __notes__")
METHODS = {f"__{name}__" for name in _OPERATORS}  # that a class may define, and that may be called
_SHOWING = words(
    "f_back f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace tb_frame tb_lasti tb_lineno "
    "tb_next gi_code gi_frame cr_code cr_frame cr_origin ag_code ag_frame gi_yieldfrom cr_await addFilter "
    "addHandler findCaller handlers makeRecord setFormatter dump dumps format_map mro with_traceback "
    "exc_info exception stack_info"
)
_TEXTS = re.compile(
    r"__[a-z]+__|\.\**pyc?\b|(%\(|\{|\$)(lineno|pathname|module|filename|funcName)|exc_info|stack_info"
)
_OF_PACKAGE = re.compile(r"(^|[\W_])pipeline([./]|$)")
_MODULE = re.compile(r"pipeline(\.\w+)+")  # which counts when there is one of the name
_PROSE = re.compile(r"(?!.*(\b(import|exec|eval|open|python[\d.]*)\b|(^|\s)-[cm]\b))\s*\S+\s+\S", re.DOTALL)
_ALLOWED_TEXTS = re.compile(r"__(main|done|end|label|sep|source|start|target)__")


def is_built_in(name: str) -> bool:
    """True if a name that no module binds may be used: a safe built-in one, or one that nothing has."""
    return name in _BUILT_IN or not (name.startswith("__") or hasattr(builtins, name))


def is_module(name: str) -> bool:
    """True if importing a module from outside the package has no effect that other code sees."""
    return _is_safe(name.split("."))


def is_attribute(path: str) -> bool:
    """True if something in a module from outside the package may be used: `numpy.random.default_rng`."""
    parts = path.split(".")
    has_special = parts[-1] in {"__file__", "__version__"}
    return path == "os._exit" or (len(parts) > 1 and _is_safe(parts[:-1] if has_special else parts))


def _is_safe(parts: list[str]) -> bool:
    top, second = parts[0], parts[1] if len(parts) > 1 else ""
    if top not in _MODULES or (second and top in _ONLY and second not in _ONLY[top]):
        return False
    if _NOT_OF.get(top, set()) & set(parts):
        return False
    return not any(part.startswith("_") or _is_other_module(part, top) for part in parts[1:])


def _is_other_module(name: str, within: str) -> bool:
    """True if a name is that of a module which may not be used: `os.sys`."""
    if name == "types" and not is_standard_library(within):
        return False
    holds_others = name not in _MODULES or name in _ONLY
    return is_standard_library(name) and holds_others and name not in _ONLY.get(within, ())


def shows_code(attribute: str) -> bool:
    """True if an attribute of something unknown may show its code."""
    if attribute.startswith("__") and attribute.endswith("__"):
        return attribute not in _SEEN and attribute not in METHODS
    return attribute in _SHOWING or attribute.startswith("co_")


def names_code(text: str) -> bool:
    """True if a literal text may name code: a file of the package, an attribute that shows code."""
    if _OF_PACKAGE.search(text) and not _PROSE.match(text):
        return not _MODULE.fullmatch(text)
    return bool(_TEXTS.search(_ALLOWED_TEXTS.sub("", text)))
