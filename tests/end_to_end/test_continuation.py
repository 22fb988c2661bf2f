"""Continuing from what the tiny pair's run left, by the commands that people type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.defects import ended, read_json, train, variant, web_server
from tests.end_to_end.tiny import PARTITION, UPDATES, Place

pytestmark = [pytest.mark.slow, pytest.mark.marian]

VOCAB = "fetch-vocab-en-eo"  # in one of the tests, for all
FEW = 20  # updates
EXPORTED = (
    *(
        "train-vocab-en-eo",
        "merge-corpus-en-eo",
        "collect-alignments-original-en-eo",
        "train-backwards-en-eo",
    ),
    *("train-teacher-en-eo-1", "cefilter-en-eo", "collect-alignments-student-en-eo", "train-student-en-eo"),
)


@dataclass(frozen=True)
class Run:
    """The tiny pair, trained, and where its artifacts are served."""

    place: Place
    site: str

    def corpus(self, name: str, step: str, alignments: str) -> str:
        """A corpus with its tokens and alignments, as a config names it."""
        urls = {
            "src": f"{step}/corpus.en.zst",
            "trg": f"{step}/corpus.eo.zst",
            "tok-src": f"{alignments}/corpus.tok-icu.en.zst",
            "tok-trg": f"{alignments}/corpus.tok-icu.eo.zst",
            "alignments": f"{alignments}/corpus.aln.zst",
        }
        return f"{name}: {json.dumps({key: f'{self.site}/{url}' for key, url in urls.items()})}"

    def variant(self, partition: str, corpora: str, models: str, *without: str) -> str:
        """A config that continues with the vocabulary, corpora and models, and lacks some datasets."""
        vocab = {
            side: f"{self.site}/train-vocab-en-eo/vocab.{lang}.spm"
            for side, lang in (("src", "en"), ("trg", "eo"))
        }
        section = (
            f"continuation:\n  vocab: {json.dumps(vocab)}\n"
            f"  corpora: {{{corpora}}}\n  models: {{{models}}}\ntarget-stage: all"
        )
        text = (self.place.root / "configs" / f"{PARTITION}.yml").read_text()
        data = text.partition('train: ["url_file://')[2].partition("/train.")[0]
        files = {"train": "train", "mono-src": "mono", "mono-trg": "mono"}
        lines = [(f'  {name}: ["url_file://{data}/{files[name]}.[LANG].gz"]\n', "") for name in without]
        return variant(self.place, partition, *lines, ("target-stage: all", section))


@pytest.fixture(scope="module")
def run(trained: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Results exported with `translations artifacts LABEL --download`."""
    folder = tmp_path_factory.mktemp("exported")
    for label in EXPORTED:
        done = trained.run("translations", "artifacts", PARTITION, label, "--download", str(folder / label))
        assert done.returncode == 0, done.stderr
    with web_server(folder) as site:
        yield Run(trained, site)


def test_a_student_of_an_earlier_teacher(run: Run) -> None:
    """Vocabulary, merged corpus and both models are fetched: the same bytes, so what follows is found."""
    parallel = run.corpus("parallel", "merge-corpus-en-eo", "collect-alignments-original-en-eo")
    models = (
        f"teacher: {{urls: ['{run.site}/train-teacher-en-eo-1'], mode: use}}, "
        f"backwards: {{url: '{run.site}/train-backwards-en-eo/', mode: use}}"
    )
    partition = run.variant("en-eo.taught", parallel, models, "train")
    done = train(run.place, partition, "all")
    assert done.returncode == 0, done.stdout + done.stderr
    made = ended(done)
    assert {label for label in made - {VOCAB} if label.startswith("fetch-")} == {
        *("fetch-parallel-en-eo", "fetch-backwards-en-eo", "fetch-teacher-en-eo-1")
    }
    # The parallel corpus is not aligned. Where these priors lead to the same links, the student is found.
    assert "alignments-priors-student-en-eo" in made
    assert not {
        label for label in made if label.startswith(("translate-", "score-", "merge-", "evaluate-teacher"))
    }
    scores = json.loads(run.place.run("translations", "results", partition, "--json").stdout)
    assert set(scores) == {"backwards", "teacher-1", "student", "finetuned-student", "quantized", "exported"}


def test_a_student_of_an_earlier_distilled_corpus(run: Run) -> None:
    """With its alignments: the same bytes lead to the very student of the earlier run, which is found."""
    distilled = run.corpus("distillation", "cefilter-en-eo", "collect-alignments-student-en-eo")
    partition = run.variant("en-eo.distilled", distilled, "", "train", "mono-src", "mono-trg")
    done = train(run.place, partition, "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ended(done) - {VOCAB} == {
        *("fetch-distillation-en-eo", "fetch-alignments-distillation-en-eo"),
        "check-vocab-en-eo",  # there is no corpus for it but the dev and test sets
    }
    done = run.place.run("translations", "translate", partition, text="The big dog sees the cat.\n")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    done = run.place.run("translations", "translate", partition, "--model", "teacher-1", text="")
    assert done.returncode == 1
    assert "has no model 'teacher-1'" in done.stderr


def test_an_address_that_is_wrong_is_told_with_what_was_looked_for(run: Run) -> None:
    models = f"backwards: {{url: '{run.site}/nothing', mode: use}}"
    partition = run.variant("en-eo.nothing", "", models)
    done = train(run.place, partition, "train_backwards")
    assert done.returncode == 1
    assert f"None of these files can be read: {run.site}/nothing/final.model.npz.best-chrf.npz" in done.stderr
    assert ended(done, "failed") == {"fetch-backwards-en-eo"}


def test_the_folder_of_a_step_is_that_of_a_model(run: Run, tmp_path: Path) -> None:
    """Fetched from a folder of this machine, it is trained on with its optimizer, for some updates more."""
    label = "train-teacher-en-eo-1"
    done = run.place.run(
        "translations", "artifacts", PARTITION, label, "--download", str(tmp_path / "teacher")
    )
    assert done.returncode == 0, done.stderr
    models = f"teacher: {{urls: ['{(tmp_path / 'teacher').as_uri()}'], mode: continue}}"
    partition = run.variant("en-eo.longer", "", models)
    path = run.place.root / "configs" / f"{partition}.yml"
    path.write_text(
        path.read_text().replace(
            "training-teacher: *model", f"training-teacher: {{<<: *model, after: {UPDATES + 20}u}}"
        )
    )
    done = train(run.place, partition, "train_teacher")
    assert done.returncode == 0, done.stdout + done.stderr
    # Its check is found where it translates the dev set as the first one did.
    assert ended(done) - {VOCAB, "check-teacher-en-eo"} == {"fetch-teacher-en-eo-1", label}
    facts = read_json(run.place, partition, label, "metrics.json")
    assert (facts["updates"], facts["curve"][0]["update"]) == (UPDATES + 20, UPDATES + 10)


def test_a_student_begins_from_an_earlier_one(run: Run) -> None:
    """With its weights, shape and vocabulary a few updates make it no worse; alone they teach nothing."""
    distilled = run.corpus("distillation", "cefilter-en-eo", "collect-alignments-student-en-eo")
    models = f"student: {{url: '{run.site}/train-student-en-eo', mode: init}}"
    partition = run.variant("en-eo.begun", distilled, models, "train", "mono-src", "mono-trg")
    path = run.place.root / "configs" / f"{partition}.yml"
    text = path.read_text()
    few = (
        "learn-rate: 0.0003, mini-batch: 32, maxi-batch: 10, disp-freq: 5, "
        f"save-freq: {FEW}, valid-freq: {FEW}, after: {FEW}u"
    )
    vocab = text[text.index("  vocab: ") : text.index("  corpora: ")]
    path.write_text(
        text.replace(vocab, "").replace("training-student: *model", f"training-student: {{{few}}}")
    )
    done = train(run.place, partition, "evaluate_student")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"fetch-student-en-eo", "train-student-en-eo"} <= ended(done)
    facts = read_json(run.place, partition, "train-student-en-eo", "metrics.json")
    assert facts["updates"] == FEW
    before, begun = (
        json.loads(run.place.run("translations", "results", name, "--json").stdout)["student"]
        for name in (PARTITION, partition)
    )
    for test, scores in before.items():
        assert begun[test]["chrf"] >= scores["chrf"] > 50
