"""Runs stages with made-up results, whose trainings tell live numbers: for tests, a process of its own.

python -m tests.defs.live_numbers PARTITION TARGET
"""

import sys
from uuid import uuid4

from tests.checks.numbers import training
from tests.defs.runner import MadeUpRunner
from translations_assets.cli.runs_train import launch
from translations_assets.defs.shared import PROJECT
from translations_assets.records.run import RunOptions
from translations_assets.running.events import Progress
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work


class TellingRunner(MadeUpRunner):
    """Tells the curve of each training, as its script does."""

    def run(self, submission: Submission) -> Work[Outcome]:
        """See `running.runner.Runner`."""
        outcome = yield from super().run(submission)
        if submission.job.label.startswith("train-backwards"):
            for point in training(50.0)["curve"]:
                submission.on_event(Progress(point))
        return outcome


if __name__ == "__main__":
    PROJECT.__dict__["runner"] = TellingRunner()
    read = PROJECT.configs.read(sys.argv[1], {})
    session = PROJECT.session(str(uuid4()), read, RunOptions(), read.graph.up_to(sys.argv[2]))
    sys.exit(not launch(session, lambda event: None).is_success)
