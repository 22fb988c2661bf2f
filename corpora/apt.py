"""Debian's packages as sources of text: their index, which files they hold, their descriptions, themselves.

apt's lists and the packages stay in a folder of one's own and are used again; nothing is installed.
"""

import re
import subprocess
import tarfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CONTENTS = "Acquire::IndexTargets::deb::Contents-deb"
CONTENTS_LISTS = "Contents-*"
BATCH = 100  # packages that one call of apt-get fetches


@dataclass(frozen=True)
class Package:
    """A binary package: its source package, section, and size in bytes."""

    name: str
    source: str
    section: str
    size: int


@dataclass(frozen=True)
class Apt:
    """The packages that the machine's sources of apt name, with their descriptions in one language."""

    work: Path
    lang: str

    def update(self) -> None:
        """Fetch the lists, unless all are there. Raises CalledProcessError when apt-get cannot."""
        for folder in (self.work / "lists" / "partial", self.work / "cache" / "archives" / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        (self.work / "debs" / "partial").mkdir(parents=True, exist_ok=True)
        kinds = ("Packages", CONTENTS_LISTS, _translations(self.lang))
        done = self.work / f"lists-{self.lang}"  # says that apt-get was not interrupted
        if not done.exists() or not all(map(self._lists, kinds)):
            done.unlink(missing_ok=True)
            self._get("update")
            done.touch()

    @cached_property
    def packages(self) -> Mapping[str, Package]:
        """The packages by name."""
        found = {}
        for stanza in self._stanzas("Packages"):
            name = stanza["Package"]
            found[name] = Package(
                name,
                stanza.get("Source", name).partition(" ")[0],
                stanza.get("Section", "").rpartition("/")[2],
                int(stanza["Size"]),
            )
        return found

    def holders(self, path: re.Pattern[str]) -> set[str]:
        """The packages that hold a file whose path matches."""
        found = set[str]()
        for index in self._lists(CONTENTS_LISTS):
            for line in self._read(index).splitlines():
                file, _, places = line.rpartition(" ")
                if path.search(file.rstrip()):
                    found.update(place.rpartition("/")[2] for place in places.split(","))
        return found & self.packages.keys()

    def descriptions(self, lang: str) -> Iterator[tuple[str, str, str]]:
        """MD5 sum of the English text, package, and the description in a language: synopsis first."""
        for stanza in self._stanzas(_translations(lang)):
            text = stanza.get(f"Description-{lang}")
            if text is not None and "Description-md5" in stanza:
                yield stanza["Description-md5"], stanza["Package"], text

    def download(self, names: Collection[str]) -> dict[str, Path]:
        """The files of packages; those that are there are not fetched again, what fails is left out."""
        missing = [name for name in sorted(names) if not self._deb(name)]
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            if not self._fetch(part):  # one that cannot be fetched fails all
                for name in part:
                    self._fetch([name])
        found = {name: self._deb(name) for name in sorted(names)}
        return {name: path for name, path in found.items() if path}

    def _fetch(self, names: Sequence[str]) -> bool:
        """Fetch packages; only whole ones leave `partial`, where apt-get goes on with what it had begun."""
        try:
            self._get("download", *names)
        except subprocess.CalledProcessError:
            return False
        for name in names:
            for deb in (self.work / "debs" / "partial").glob(f"{name}_*.deb"):
                deb.rename(self.work / "debs" / deb.name)
        return True

    def _deb(self, name: str) -> Path | None:
        return next((self.work / "debs").glob(f"{name}_*.deb"), None)

    def _get(self, *words: str) -> None:
        work = self.work.resolve()
        options = {
            "Dir::State::lists": f"{work}/lists",
            "Dir::Cache": f"{work}/cache",
            "Acquire::Languages": f"en,{self.lang}",
            "APT::Sandbox::User": "root",
            f"{CONTENTS}::MetaKey": "$(COMPONENT)/Contents-$(ARCHITECTURE)",
            f"{CONTENTS}::ShortDescription": "Contents-$(ARCHITECTURE)",
            f"{CONTENTS}::Description": "$(RELEASE)/$(COMPONENT) Contents-$(ARCHITECTURE)",
        }
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", "-qq", *settings, *words], cwd=work / "debs" / "partial", check=True)

    def _lists(self, name: str) -> list[Path]:
        lists = self.work / "lists"
        return sorted({*lists.glob(f"*_{name}"), *lists.glob(f"*_{name}.*")})  # packed ones have a suffix

    def _read(self, index: Path) -> str:
        command = ["/usr/lib/apt/apt-helper", "cat-file", str(index)]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")

    def _stanzas(self, name: str) -> Iterator[dict[str, str]]:
        for index in self._lists(name):
            for stanza in self._read(index).split("\n\n"):
                fields = re.findall(r"^([\w-]+): ?(.*(?:\n .*)*)", stanza, re.M)
                if fields:
                    yield dict(fields)


def _translations(lang: str) -> str:
    return "Translation-" + lang.replace("_", "%5f")  # as apt writes names of files


def files(deb: Path, path: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """The regular files of a package whose paths match, with what they hold."""
    command = ["dpkg-deb", "--fsys-tarfile", str(deb)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        for member in archive:
            if member.isfile() and path.search(member.name):
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file.read()
