"""The network of the tests, and a search for English and Lithuanian in it."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.configs.network import CATALOGUE, SIZES, answers, fill_mirror, server
from translations_assets.config import web
from translations_assets.config.providers import mtdata
from translations_assets.config.providers.provider import Found, Query
from translations_assets.configs.generate import pair_of


@dataclass
class Network:
    """A mirror that holds all answers; hosts in `away` do not answer, the others have nothing more."""

    mirror: Path
    away: set[str] = field(default_factory=set)

    @property
    def query(self) -> Query:
        """English to Lithuanian."""
        return pair_of("en", "lt", str(self.mirror))

    def put(self, url: str, content: bytes) -> None:
        """Replace an answer."""
        fill_mirror(self.mirror, {url: content}, {})

    def take_away(self, host: str) -> None:
        """No answer comes from a host any more, and the mirror has none."""
        (self.mirror / host).rename(self.mirror / f"{host}.away")
        self.away.add(host)


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Network:
    """The network; nothing waits, and nothing leaves the machine."""
    network = Network(tmp_path / "mirror")
    fill_mirror(network.mirror, answers(), SIZES)
    for name in ("get", "head"):
        monkeypatch.setattr(f"requests.{name}", server(network.away))
    monkeypatch.setattr(mtdata, "catalogue", lambda: CATALOGUE)
    monkeypatch.setattr(web, "PAUSE", 0.0)
    return network


def by_key(found: list[Found]) -> dict[str, Found]:
    """Datasets by their keys, which are all different."""
    assert len({each.key for each in found}) == len(found)
    return {each.key: each for each in found}
