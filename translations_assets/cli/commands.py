"""The list of all commands, by task, and the examples of their help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from translations_assets.cli import exits
from translations_assets.cli.lazy import Entry, LazyGroup

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter


class ConfigCommands(LazyGroup):
    """Training configs: find text, write one, check it, describe it."""

    panels = {
        "Commands": (
            Entry(
                "check",
                "All problems of training configs, each with file and line",
                "config:check",
                (
                    "config check en-ru",
                    "config check configs/en-ru.yml en-lt --online",
                    "config check en-ru --json",
                ),
            ),
            Entry(
                "generate",
                "Write a config for a language pair, from available datasets or from your files",
                "config:generate",
                (
                    "config generate en lt --name spring",
                    "config generate en lt --files a.en a.lt",
                    "config generate en lt --files a.en.gz a.lt.gz --trial",
                ),
            ),
            Entry(
                "migrate",
                "Rewrite a config of an earlier year",
                "config:migrate",
                ("config migrate old.yml", "config migrate old.yml --write"),
            ),
            Entry("schema", "A JSON Schema of configs, for editors", "config:schema", ("config schema",)),
        )
    }


class CacheCommands(LazyGroup):
    """Commands on the contents of the store and on accepted changes of code."""

    panels = {
        "Commands": (
            Entry(
                "gc",
                "Count the space that could be freed, and free it",
                "cache:gc",
                ("cache gc --keep-days 30", "cache gc --delete"),
            ),
            Entry(
                "du",
                "List the space that partitions and variants take",
                "cache_usage:du",
                ("cache du",),
            ),
            Entry(
                "forget",
                "Forget the results of a partition or a variant",
                "cache_usage:forget",
                ("cache forget en-ru@3f2a1b0c9d8e --yes",),
            ),
            Entry(
                "verify",
                "Read everything again and name damaged files",
                "cache:verify",
                ("cache verify", "cache verify --sample 10%"),
            ),
            Entry(
                "pin",
                "Keep everything that a run uses",
                "cache:pin",
                ('cache pin 1a2b3c4d --reason "production 2026-11"',),
            ),
            Entry(
                "unpin", "Let a run's results be collected again", "cache:unpin", ("cache unpin 1a2b3c4d",)
            ),
            Entry("pins", "List the pinned runs", "cache:list_pins", ("cache pins",)),
            Entry(
                "accept",
                "Declare a change of code harmless",
                "cache:accept",
                (
                    'cache accept en-ru train-student-en-ru --reason "clearer message"',
                    'cache accept en-ru --reason "logs more"',
                ),
            ),
        )
    }


class RegistryCommands(LazyGroup):
    """The models of a store, of all runs and spaces."""

    panels = {
        "Commands": (
            Entry(
                "build",
                "Make a static site and a database of them",
                "registry:build",
                ("registry build", "registry build --output /srv/models"),
            ),
        )
    }


class Commands(LazyGroup):
    """All commands."""

    panels = {
        "Plans": (
            Entry(
                "plan",
                "The steps that would run, and their cost; without a name, for every training config",
                "plan:plan",
                (
                    "plan en-ru",
                    "plan en-ru --steps",
                    "plan en-ru --target train_teacher --set marian-args.training-teacher.after=50u",
                    "plan",
                ),
            ),
            Entry(
                "explain",
                "The reason for a step to run: the changed function, or key of the config",
                "explain:explain",
                ("explain en-ru train-student-en-ru",),
            ),
            Entry(
                "graph",
                "The steps of a training config, and their inputs",
                "plan:graph",
                ("graph en-ru", "graph en-ru --show full --target train_student", "graph en-ru --json"),
            ),
        ),
        "Runs": (
            Entry(
                "train",
                "Start a run",
                "runs_train:train",
                (
                    "train en-ru",
                    "train en-ru --target train_teacher --yes",
                    "train en-ru --start train_student --set marian-args.training-student.after=50u",
                    "train en-ru --server http://127.0.0.1:3000",
                ),
            ),
            Entry(
                "status",
                "All pairs and the newest runs; the steps of a run or of a training config",
                "runs_status:status",
                (
                    "status",
                    "status en-ru",
                    "status 1a2b3c4d --steps --all",
                    "status 1a2b3c4d --watch",
                    "status 1a2b3c4d --web",
                ),
            ),
            Entry(
                "logs",
                "The log of a step",
                "logs:logs",
                ("logs en-ru train-student-en-ru", "logs -f 1a2b3c4d train-student-en-ru"),
            ),
            Entry("cancel", "End a run", "runs_train:cancel", ("cancel 1a2b3c4d", "cancel en-ru")),
            Entry("rerun", "Repeat the failed steps of a run", "runs_train:rerun", ("rerun 1a2b3c4d",)),
            Entry(
                "shell",
                "A step's work folder, and its command",
                "shell:shell",
                ("shell en-ru train-student-en-ru", "shell en-ru train-student-en-ru --command ./run.sh"),
            ),
        ),
        "Results": (
            Entry(
                "results",
                "The scores of every model",
                "results:results",
                ("results en-ru", "results en-ru --json"),
            ),
            Entry(
                "checks",
                "The verdicts of the quality gates",
                "checks:checks",
                ("checks en-ru", "checks en-ru --make"),
            ),
            Entry(
                "artifacts",
                "The files of steps: list them, copy them, print their provenance",
                "results:artifacts",
                (
                    "artifacts en-ru",
                    "artifacts en-ru export-en-ru --download exported/",
                    "artifacts en-ru export-en-ru --provenance",
                ),
            ),
            Entry(
                "report",
                "The report on a training, as a page or a model card",
                "report:report",
                ("report en-ru", "report en-ru --card --output README.md"),
            ),
            Entry(
                "publish",
                "Copy an exported model, with its report, to a folder or a bucket for others",
                "publish:publish",
                ("publish en-ru gs://bucket/released", "publish en-ru gs://bucket/released --write"),
            ),
            Entry(
                "tensorboard",
                "Curves and scores as files for TensorBoard",
                "tracking:tensorboard",
                ("tensorboard en-ru", "tensorboard en-ru --output /srv/curves"),
            ),
            Entry(
                "wandb",
                "Curves and scores to Weights & Biases",
                "tracking:wandb",
                ("wandb en-ru", "wandb en-ru --offline"),
            ),
            Entry(
                "translate",
                "Translate standard input",
                "results:translate",
                ("translate en-ru < text.txt", "translate en-ru --model teacher-1 < text.txt"),
            ),
            Entry(
                "evaluate",
                "Score any model, and compare it with Firefox's",
                "evaluate:evaluate",
                ("evaluate exported/ --datasets flores_devtest ntrex_test --released --output results/",),
            ),
            Entry(
                "serve",
                "An exported model in a web page, beside its teacher and other models",
                "serve:serve",
                ("serve en-ru", "serve en-ru --beside 1a2b3c4d", "serve exported/ --beside en-ru.older"),
            ),
        ),
        "Training configs": (
            Entry(
                "config",
                "Check, generate, rewrite and describe training configs",
                ConfigCommands,
                ("config check en-ru",),
            ),
            Entry(
                "find-corpus",
                "The datasets of a language pair",
                "config:find_corpus",
                ("find-corpus en lt", "find-corpus en lt --importer opus --json"),
            ),
            Entry(
                "init",
                "Create a project of your own: an example, a deployment file, Dagster's settings",
                "init:init",
                ("init models",),
            ),
        ),
        "Store": (
            Entry(
                "cache",
                "Verify it, free space, pin runs, accept changes of code",
                CacheCommands,
                ("cache gc",),
            ),
            Entry("registry", "All models in it, as a site", RegistryCommands, ("registry build",)),
        ),
    }

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exits.MEANINGS.items()])
