"""A corpus is built from a small archive of Debian's form, by apt itself."""

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from babel.messages import Catalog
from babel.messages.mofile import write_mo

from corpora import debian
from corpora.apt import Apt
from corpora.debian import DESCRIPTIONS, Line, held_out, held_out_paragraphs, part_of
from pipeline.common.lines import read_lines

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt builds the corpus: not Debian")

FRENCH = {"a dog": "un chien", "two dogs run": "deux chiens courent", "the cat is here": "le chat est ici"}


def _catalogue(messages: dict[str, str]) -> bytes:
    catalogue = Catalog(locale="fr")
    for message, translation in messages.items():
        catalogue.add(message, translation)
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Archive:
    """A trusted archive in a folder, with apt's configuration for it, and translations into one language."""

    def __init__(self, root: Path, lang: str = "fr") -> None:
        self.root, self.lang = root, lang
        self.index, self.english, self.translated, self.contents = "", "", "", ""

    def add(self, name: str, section: str, described: str, translated: str, held: dict[str, bytes]) -> None:
        """A package with files, its description and the translation of that."""
        tree = self.root / "build" / name
        (tree / "DEBIAN").mkdir(parents=True)
        control = (
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.org>\n"
            f"Section: {section}\nDescription: {described}\n"
        )
        (tree / "DEBIAN" / "control").write_text(control)
        for path, data in held.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(data)
            self.contents += f"{path}  {section}/{name}\n"
        deb = self.root / f"{name}_1_all.deb"
        command = ["dpkg-deb", "--root-owner-group", "-b", str(tree), str(deb)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        data = deb.read_bytes()
        digest = hashlib.md5(f"{described}\n".encode()).hexdigest()
        sums = f"Size: {len(data)}\nSHA256: {_sha256(deb)}\nFilename: ./{deb.name}\n"
        self.index += f"{control.partition('Description')[0]}Description-md5: {digest}\n{sums}\n"
        self.english += f"Package: {name}\nDescription-md5: {digest}\nDescription-en: {described}\n\n"
        if translated:
            head = f"Package: {name}\nDescription-md5: {digest}\n"
            self.translated += f"{head}Description-{self.lang}: {translated}\n\n"

    def publish(self) -> Path:
        """Write the indexes; returns apt's configuration."""
        suite = self.root / "dists" / "test"
        for path, text in {
            "main/binary-amd64/Packages": self.index,
            "main/i18n/Translation-en": self.english,
            f"main/i18n/Translation-{self.lang}": self.translated,
            "main/Contents-amd64": self.contents,
        }.items():
            (suite / path).parent.mkdir(parents=True, exist_ok=True)
            (suite / path).write_text(text)
        listed = [path for path in sorted(suite.rglob("*")) if path.is_file()]
        sums = "".join(
            f" {_sha256(path)} {path.stat().st_size} {path.relative_to(suite)}\n" for path in listed
        )
        head = "Suite: test\nCodename: test\nComponents: main\nArchitectures: amd64\n"
        head += "Date: Tue, 24 Nov 2026 00:00:00 UTC\n"
        (suite / "Release").write_text(f"{head}SHA256:\n{sums}")
        (self.root / "sources.list").write_text(f"deb [trusted=yes arch=amd64] file:{self.root} test main\n")
        config = self.root / "apt.conf"
        config.write_text(
            f'Dir::Etc::sourcelist "{self.root}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
            'APT::Architecture "amd64";\nAPT::Architectures "amd64";\n'
        )
        return config


def test_a_corpus_is_built_from_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path / "archive")
    messages = {"usr/share/locale/fr/LC_MESSAGES/x.mo": _catalogue(FRENCH)}
    texts = "a program\n It runs. It ends.", "un programme\n Il tourne. Il finit."
    archive.add("alpha", "gnome", *texts, messages)
    archive.add("beta", "utils", "another one", "", {"usr/share/locale/de/LC_MESSAGES/x.mo": b"nothing"})
    monkeypatch.setenv("APT_CONFIG", str(archive.publish()))
    monkeypatch.setattr(debian, "SHARES", {"dev": 0.0, "test": 0.0})
    output = tmp_path / "corpus"
    debian.main(["--lang", "fr", "--output", str(output)])

    def pairs(name: str) -> set[tuple[str, str]]:
        sides = (read_lines(output / f"{name}.{code}.zst") for code in ("en", "fr"))
        return set(zip(*sides, strict=True))

    assert pairs("gnome") == set(FRENCH.items())
    assert pairs("descriptions") == {
        ("a program", "un programme"),
        ("It runs.", "Il tourne."),
        ("It ends.", "Il finit."),
    }
    assert list(read_lines(output / "mono.en.zst")) == ["another one"]
    assert not pairs("paragraphs-test")  # its package is for training
    numbers = json.loads((output / "corpus.json").read_text())
    assert numbers["gnome"]["pairs"] == 3
    assert list(numbers["packages"]) == ["alpha_1_all.deb"]


def test_a_language_of_a_country_has_its_descriptions_and_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(tmp_path / "archive", "pt_BR")
    page = {"usr/share/man/pt_BR/man1/x.1.gz": gzip.compress(b".SH X\nUm texto.\n")}
    archive.add("manpages-pt-br", "doc", "manual pages", "manuais", page)
    monkeypatch.setenv("APT_CONFIG", str(archive.publish()))
    output = tmp_path / "corpus"
    debian.main(["--lang", "pt_BR", "--output", str(output)])
    assert list(read_lines(output / "descriptions.pt_BR.zst")) == ["manuais"]
    assert list(read_lines(output / "mono.pt_BR.zst")) == ["Um texto."]
    assert not list(read_lines(output / "mono.en.zst"))
    with pytest.raises(SystemExit, match="No package has text in 'pt_br'. Name the language as Debian does"):
        debian.main(["--lang", "pt_br", "--output", str(tmp_path / "other")])


def test_lists_that_an_interruption_has_left_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt-get puts each list into its place as soon as it has come."""
    archive = Archive(tmp_path / "archive")
    archive.add("alpha", "utils", "a program", "un programme", {"usr/share/x": b"x"})
    monkeypatch.setenv("APT_CONFIG", str(archive.publish()))
    get, asked = Apt._get, list[str]()

    def noted(apt: Apt, *words: str) -> None:
        asked.extend(words)
        get(apt, *words)

    monkeypatch.setattr(Apt, "_get", noted)
    apt = Apt(tmp_path / "work", "fr")
    apt.update()
    apt.update()
    assert asked == ["update"]
    (contents,) = (apt.work / "lists").glob("*_Contents-amd64*")
    contents.unlink()
    apt.update()
    assert apt.holders(re.compile("share/x")) == {"alpha"}
    other = Apt(tmp_path / "interrupted", "fr")
    shutil.copytree(apt.work / "lists", other.work / "lists")
    other.update()
    assert asked == ["update"] * 3


def test_lists_of_a_country_are_not_those_of_the_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt-get removes the lists of another language that was asked for before."""
    asked = list[str]()
    monkeypatch.setattr(Apt, "_get", lambda _, *words: asked.extend(words))
    apt = Apt(tmp_path, "pt")
    apt.update()
    for name in ("binary-amd64_Packages", "Contents-amd64", "i18n_Translation-pt%5fBR"):
        (tmp_path / "lists" / f"archive_main_{name}").touch()
    apt.update()
    (tmp_path / "lists" / "archive_main_i18n_Translation-pt.lz4").touch()
    apt.update()
    assert asked == ["update", "update"]


def test_a_package_whose_download_was_interrupted_is_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(tmp_path / "archive")
    for name in ("alpha", "beta"):
        archive.add(name, "utils", name, "", {"usr/share/x": b"x" * 100_000})
    monkeypatch.setenv("APT_CONFIG", str(archive.publish()))
    apt = Apt(tmp_path / "work", "fr")
    apt.update()
    whole = (archive.root / "alpha_1_all.deb").read_bytes()
    (apt.work / "debs" / "partial" / "alpha_1_all.deb").write_bytes(whole[: len(whole) // 2])
    (archive.root / "beta_1_all.deb").unlink()
    assert apt.download(["alpha", "beta"]) == {"alpha": apt.work / "debs" / "alpha_1_all.deb"}
    assert (apt.work / "debs" / "alpha_1_all.deb").read_bytes() == whole


def _line(number: int, of: str = "apps", source: str = "one") -> Line:
    return Line(of, source, f"this is line {number}", f"voici la ligne {number}")


def test_no_side_of_what_is_held_out_was_seen() -> None:
    pool = [_line(number, source=f"package {number % 50}") for number in range(300)]
    seen = {"this is line 3", "voici la ligne 5"}
    chosen = held_out([*pool, *pool, Line("apps", "x", "same same same", "same same same")], seen)
    assert len(chosen) == 298 == len({line.english for line in chosen})
    assert not {side for line in chosen for side in (line.english, line.other)} & seen
    assert chosen == held_out(reversed(pool), seen)


def test_half_of_what_is_held_out_is_descriptions_and_no_package_has_much_of_it() -> None:
    kinds = (DESCRIPTIONS, "apps")
    pool = [_line(number, kinds[number % 2], f"package {number % 101}") for number in range(20_000)]
    chosen = held_out([*pool, *(_line(20_000 + number) for number in range(5_000))], set())
    assert [sum(line.of == kind for line in chosen) for kind in kinds] == [500, 500]
    assert Counter(line.source for line in chosen).most_common(1)[0][1] <= 60


def _paragraph(number: int, source: str) -> list[Line]:
    return [_line(10 * number + one, DESCRIPTIONS, source) for one in range(4)]


def test_whole_paragraphs_are_held_out_that_no_model_has_seen() -> None:
    sources = [name for name in map("package {}".format, range(1000)) if part_of(name) == "test"]
    paragraphs = [_paragraph(number, sources[number % len(sources)]) for number in range(1000)]
    seen = {"apps": [_line(13)], "dev": [_line(23)], "test": [_line(31)], "libreoffice-test": [_line(42)]}
    alone = [[_line(20_000, DESCRIPTIONS, sources[0])]]
    trained = [
        _paragraph(
            3000, next(name for name in map("package {}".format, range(99)) if part_of(name) == "train")
        )
    ]
    chosen = held_out_paragraphs([*trained, *alone, *paragraphs[:50], *paragraphs[:50]], seen)
    kept = [*range(1), *range(3, 50)]  # the second and the third have a line of training's and dev's
    assert sorted(map(list, chosen)) == sorted(paragraphs[number] for number in kept)
    assert chosen == held_out_paragraphs([*reversed(paragraphs[:50])], seen)
    most = held_out_paragraphs(paragraphs, {})
    assert sum(map(len, most)) == 500
    assert max(Counter(lines[0].source for lines in most).values()) <= 15


def test_parts_have_their_shares_of_the_packages() -> None:
    parts = [part_of(f"package {number}") for number in range(10_000)]
    assert 350 < parts.count("dev") < 450
    assert 350 < parts.count("test") < 450
