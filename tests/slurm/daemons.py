"""A real Slurm on this machine: munged, slurmctld, a slurmd for each node, and slurmdbd on request.

All of it listens on 127.0.0.1, at ports of its own, and ends with the process that started it. Every node has
two processors and 8,000 MB on paper. Partitions: `main`; `spare`, whose jobs make way for those of `main`;
`brief`, with a time limit of a minute. Memory is not enforced.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from tests.environments import SYSTEM
from tests.kube.processes import Contained
from tests.patience import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
ACCOUNTING_PROGRAMS = ("slurmdbd", "mariadbd", "mariadb-install-db", "sacctmgr")
CLUSTER = "testing"
_MAKE = "create database if not exists accounts"
_START_SECONDS, _END_SECONDS = 60.0, 10.0

CONF = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
MinJobAge={remembered}
SlurmdTimeout=10
SlurmctldTimeout=10
PartitionName=DEFAULT Nodes=ALL MaxTime=INFINITE DefMemPerCPU=200 State=UP
PartitionName=main Default=YES PriorityTier=9
PartitionName=spare PriorityTier=1 GraceTime=3
PartitionName=brief PriorityTier=9 MaxTime=1
"""
NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none\n"
ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={accounts}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits,qos
"""
DBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={accounts}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser={user}
StorageLoc=accounts
PidFile={folder}/slurmdbd.pid
"""


def missing_programs(accounting: bool = False) -> list[str]:
    """The programs of Slurm that are not installed."""
    wanted = PROGRAMS + (ACCOUNTING_PROGRAMS if accounting else ())
    return [name for name in wanted if not shutil.which(name, path=_path())]


class Slurm:
    """A running Slurm.

    folder       of its configuration and state, removed at its end
    environment  variables with which its commands find it
    has_accounts  whether there is accounting, with the account `lab`
    """

    def __init__(self, nodes: int = 2, accounting: bool = False, remembered: int = 300) -> None:
        self.folder = Path(mkdtemp(prefix="slurm."))
        self.environment = {
            **os.environ,
            "PATH": _path(),
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "MYSQL_UNIX_PORT": str(self.folder / "mysql.socket"),
        }
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self._running: dict[str, Contained] = {}
        self.has_accounts, self._remembered = accounting, remembered
        try:
            self._configure()
            self._start_all()
        except BaseException:
            self.close()
            raise

    def ask(self, *command: str, check: bool = True) -> str:
        """Run a command and return its output."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def states(self) -> dict[str, str]:
        """Job id → state, of all jobs that the controller remembers."""
        lines = self.ask("squeue", "--states=all", "--noheader", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def live(self) -> list[str]:
        """Ids of jobs that have not ended."""
        return self.ask("squeue", "--noheader", "--format=%i").split()

    def stop(self, name: str) -> None:
        """End a daemon, and with a node's all of its jobs: `slurmctld`, `munged`, `slurmdbd`, `n1` …"""
        self._running.pop(name).close()

    def end(self, name: str) -> None:
        """End a daemon by SIGTERM, upon which it saves its state."""
        contained = self._running.pop(name)
        contained.terminate()
        with suppress(subprocess.TimeoutExpired):
            contained.wait(_END_SECONDS)
        contained.close()

    def start(self, name: str) -> None:
        """Start a daemon that was stopped, and wait until it answers."""
        commands = {"munged": self._munged, "slurmctld": self._slurmctld, "slurmdbd": self._slurmdbd}
        if name in commands:
            commands[name]()
        else:
            self._slurmd(name)

    def pause(self, name: str) -> None:
        """Stop a daemon's process as SIGSTOP does; what it has started goes on."""
        _signal_child(self._running[name].pid, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Let a daemon go on."""
        _signal_child(self._running[name].pid, signal.SIGCONT)

    def close(self) -> None:
        """End everything."""
        for contained in reversed(self._running.values()):
            contained.close()
        self._running.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _configure(self) -> None:
        ports = _free_ports(2 + len(self.nodes))
        values = {
            "cluster": CLUSTER,
            "host": socket.gethostname().split(".")[0],
            "user": pwd.getpwuid(os.getuid()).pw_name,
            "folder": str(self.folder),
            "control": str(ports[0]),
            "accounts": str(ports[1]),
            "remembered": str(self._remembered),
        }
        text = CONF.format(**values) + (ACCOUNTING.format(**values) if self.has_accounts else NO_ACCOUNTING)
        gpus = []
        for name, port in zip(self.nodes, ports[2:], strict=True):
            place = f"NodeHostname={values['host']} NodeAddr=127.0.0.1 Port={port}"
            text += f"NodeName={name} {place} CPUs=2 RealMemory=8000 Gres=gpu:2 State=UNKNOWN\n"
            for number in range(2):
                (device := self.folder / f"gpu-{name}-{number}").touch()
                gpus.append(f"NodeName={name} Name=gpu File={device}\n")
        self._write("slurm.conf", text)
        self._write("gres.conf", "".join(gpus))
        self._write("slurmdbd.conf", DBD_CONF.format(**values), mode=0o600)
        (self.folder / "munge.key").write_bytes(os.urandom(64))
        (self.folder / "munge.key").chmod(0o400)

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(mode)

    def _start_all(self) -> None:
        self._munged()
        if self.has_accounts:
            self._mariadb()
            self._slurmdbd()
        self._slurmctld()
        for name in self.nodes:
            self._slurmd(name)

    def _run(self, name: str, *command: str) -> None:
        program = shutil.which(command[0], path=_path())
        assert program, command[0]
        log = self.folder / f"{name}.log"
        self._running[name] = Contained([program, *command[1:]], self.folder, self.environment, log)

    def _munged(self) -> None:
        socket_file = self.folder / "munge.socket"
        socket_file.unlink(missing_ok=True)  # of one that was killed
        files = [f"--{name}-file={self.folder / f'munge.{name}'}" for name in ("key", "seed", "pid")]
        self._run("munged", "munged", "--foreground", "--force", f"--socket={socket_file}", *files)
        self._await("munged", socket_file.exists)

    def _mariadb(self) -> None:
        data, user = self.folder / "mysql", pwd.getpwuid(os.getuid()).pw_name
        self.ask("mariadb-install-db", f"--user={user}", f"--datadir={data}", "--skip-test-db")
        places = f"--datadir={data}", f"--socket={self.folder / 'mysql.socket'}", "--skip-networking"
        self._run("mariadbd", "mariadbd", "--no-defaults", f"--user={user}", *places)
        make = ("mariadb", "--no-defaults", f"--socket={self.folder / 'mysql.socket'}", "-e", _MAKE)
        self._await("mariadbd", lambda: self._succeeds(*make))

    def _slurmdbd(self) -> None:
        self._run("slurmdbd", "slurmdbd", "-D")
        self._await("slurmdbd", lambda: "Cluster" in self.ask("sacctmgr", "list", "cluster", check=False))
        user = pwd.getpwuid(os.getuid()).pw_name
        for what in (("cluster", CLUSTER), ("account", "lab"), ("user", user, "account=lab")):
            self.ask("sacctmgr", "--immediate", "add", *what, check=False)  # they are there at a second start

    def _slurmctld(self) -> None:
        self._run("slurmctld", "slurmctld", "-D")
        self._await("slurmctld", lambda: self._succeeds("scontrol", "ping"))

    def _slurmd(self, name: str) -> None:
        self._run(name, "slurmd", "-D", "-N", name)
        self._await(name, lambda: "idle" in self.ask("sinfo", "-h", "-n", name, "-o", "%t", check=False))

    def _succeeds(self, *command: str) -> bool:
        return not subprocess.run(command, env=self.environment, capture_output=True, check=False).returncode

    def _await(self, name: str, is_up: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not is_up():
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} does not come up: {(self.folder / f'{name}.log').read_text()}")
            time.sleep(0.05)


def _path() -> str:
    return f"{os.environ['PATH']}:{SYSTEM}"


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _signal_child(pid: int, number: signal.Signals) -> None:
    """Signal the command of a shim, and nothing that it has started."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[:1]:
        with suppress(ProcessLookupError):
            os.kill(int(child), number)


def variables(slurm: Slurm) -> Mapping[str, str]:
    """The variables that a process needs besides its own to use it."""
    return {name: slurm.environment[name] for name in ("PATH", "SLURM_CONF")}
