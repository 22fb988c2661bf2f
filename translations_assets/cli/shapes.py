"""The form of each command's `--json`: the only description, used by docs/commands.md and tests.

Written as YAML: `{steps: [{label, key}]}` is an object with a list of objects. `<label>` stands for any name;
a name in parentheses may be missing. Any value may be `null`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_COST = "{hours, cpu_hours, gpu_hours, money, kwh}"
_STEP = (
    "{label, stage, state, attempts, worker, host, started, seconds, cpu_seconds, memory_mb, gpus, "
    f"gpu_utilisation, gpu_memory_mb, cost: {_COST}, why, goes_on_from}}"
)
_RUN = "run, partition, state, space, repeats, started, ended, seconds, stages: [stage], options: {<option>}"
_MADE = "{key, generation, ended, reason, run, partition}"
_PROBLEM = "{message, file, line, key}"
_SCORES = (
    "{<model>: {<test set>: {<metric>: score, (ci): {<metric>: half of the interval}, "
    "(others): {<model>: {<metric>: {difference, p_value}}}, (words_per_second), (memory_megabytes), "
    "(model_bytes)}}}"
)
_ENDED = "{run, partition, state, page, gates: {<state>: [gate]}}"

JSON: Mapping[str, Sequence[str]] = {
    "plan": (
        "{steps: [{label, stage, status, key, reasons: [reason], made_by, goes_on_from, "
        "epochs: {<text>: epochs}}], summary, warnings: [warning], costs: {<worker class>: {steps, "
        "steps_without_a_past_duration, steps_by_an_estimate, "
        f"at_least: {_COST}, at_most: {_COST}, disk_gb, currency}}}}}}",
        "{partitions: {<partition>: summary}, total: summary, errors: [message]}",
    ),
    "explain": (
        f"{{label, stage, status, key, reasons: [reason], made: {_MADE}, earlier: {_MADE}, "
        "first: [{label, reasons: [reason]}], parts: {script, code, args: {<argument>}, "
        "inputs: {<path>: {digest, (made_by), (file)}}, outputs: [file], libraries: {<library>: version}, "
        "python, env: {<variable>}, accepted: [{script, old, new, reason}]}}",
    ),
    "graph": (
        "{<label>: {label, key, attributes: {stage, worker, resumable, repeatable}, "
        "dependencies: {<input>: label}, task: {script, args: {<argument>}, worker, command: [word], "
        "outputs: [file]}}}",
    ),
    "train": (_ENDED, f"[{_ENDED}]"),
    "rerun": (_ENDED,),
    "cancel": ("{run, partition, state, kept, interrupted: [what it goes on from]}",),
    "status": (
        "{pairs: [{partition, state, detail, run, experiments, made: {run, space, time, model, dataset, "
        "scores: {<metric>}, released: {<metric>}, spent: {hours, cpu_hours, gpu_hours, money, kwh}, "
        f"published: [address]}}}}], runs: [{{{_RUN}, steps_done, steps}}]}}",
        f"{{{_RUN}, forecast: {{steps, expected: {_COST}, taken: {_COST}, currency}}, steps: [{_STEP}]}}",
        f"{{steps: [{_STEP}]}}",
    ),
    "results": (_SCORES,),
    "evaluate": (_SCORES,),
    "checks": (
        "{partition, checks: [{asset, check, level, state, description, blocking, thresholds: {<threshold>}, "
        "overridden: {<threshold>}, numbers: {<number>}, samples: [sample]}]}",
    ),
    "artifacts": ("{<label>: {<file>: {digest, size}}}",),
    "report": ("{file}",),
    "publish": (
        "{url, files: [{name, bytes, state}], failed_gates: [gate], warning_gates: [gate], "
        "scores: {<test set>: {<metric>: score}}, is_written}",
    ),
    "tensorboard": ("{folder, written}",),
    "wandb": ("{sent: [run], known: [run], pages: {<run>: url}}",),
    "registry build": ("{file, runs}",),
    "init": ("{folder, files: [file]}",),
    "find-corpus": (
        "{datasets: [{importer, key, use, sentences, estimated, bytes, extent, licence, url, skipped}], "
        "problems: [{importer, message}]}",
    ),
    "config check": (
        f"[{{file, problems: [{_PROBLEM}], notes: [{_PROBLEM}], datasets: [{{name, size, problem}}]}}]",
    ),
    "config generate": (
        "{file, datasets: {<category>: [key]}, left_out}",
        "{file, folder, lines: {train, dev, test}, left_out}",
    ),
    "config migrate": ("{file, text, is_written}",),
    "cache gc": (
        "{deleted, stages: {<stage>: {count, bytes}}, rest: {<kind>: {count, bytes}}, later: {count, bytes}, "
        "kept: {count, bytes}, running: [run], pinned: [run], total: {count, bytes}}",
    ),
    "cache du": ("[{space, partition, artifacts, bytes, alone, newest, overrides: {<config key>: value}}]",),
    "cache forget": ("{partition, space, refs}",),
    "cache verify": (
        "{checked: {<kind>: number}, hashed_bytes, problems: [{kind, path, reason, contents, aside, "
        "owners: [{label, stage, partition, role, name, repeatable, remedy}]}], sample, seed}",
    ),
    "cache pin": ("{run, artifacts, missing, only_in_base}",),
    "cache unpin": ("{run}",),
    "cache pins": ("[{run, time, reason}]",),
    "cache accept": ("{file, changes: [script], cached: [label]}",),
}
