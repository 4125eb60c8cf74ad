"""What author code cannot do in its process: with the kernel's filter, and without it as on Lambda."""

from __future__ import annotations

import asyncio
import errno
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from author_code import failing, run

from stepless.adapters.process.sandbox import CHILD, ProcessSandbox
from stepless.model.effects.program import Program, Ran
from stepless.ports import Sandbox

# -- the process ------------------------------------------------------------------------------------------------------


def test_code_that_does_not_end_is_ended() -> None:
    failure = failing(ProcessSandbox(), "def main(args):\n  while True: pass", timeout_ms=300)
    assert (failure.cause, failure.code) == ("timeout", "code_timeout")


def children() -> set[str]:
    tasks = Path("/proc/self/task").iterdir()
    return {number for task in tasks for number in (task / "children").read_text().split()}


def test_code_that_nobody_waits_for_any_more_is_ended() -> None:
    async def go() -> set[str]:
        before = children()
        program = Program("python", "def main(args):\n  while True: pass", {}, 60_000, 128)
        task = asyncio.create_task(ProcessSandbox().run(program))
        async with asyncio.timeout(20):
            while children() == before:  # noqa: ASYNC110 - a starting process sends no event
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()
        return children() - before

    assert asyncio.run(go()) == set()


def test_a_child_that_outlives_its_process_is_killed_with_the_attempt(tmp_path: Path) -> None:
    script, note = tmp_path / "forks.py", tmp_path / "note"
    script.write_text(f"""
import os, time
if os.fork():
    os._exit(0)
with open({str(note)!r}, "w") as file:
    file.write("begun")
time.sleep(6)
with open({str(note)!r}, "w") as file:
    file.write("ended")
""")
    assert failing(ProcessSandbox(script=script), "", timeout_ms=1_500).code == "code_timeout"
    assert note.read_text() == "begun"


def test_an_endless_answer_is_cut_off() -> None:
    code = "import sys\ndef main(args):\n  while True: sys.modules['os'].write(1, b'x' * 9999)"
    assert failing(ProcessSandbox(), code).code == "code_output_too_large"


@pytest.mark.parametrize("written", [b"{", b"[]", b"7", b'{"error": {"code": "engine_bug", "message": 5, "line": "x"}}'])
def test_an_answer_forged_by_the_code_is_the_codes_own_failure(written: bytes) -> None:
    code = f"import sys\ndef main(args):\n  sys.modules['os'].write(1, {written!r})\n  sys.modules['os']._exit(0)"
    assert failing(ProcessSandbox(), code).code == "code_raised"


FORBIDDEN = {
    "read a file": "open('/etc/hostname')",
    "write a file": "open('/tmp/x', 'w')",
    "list a folder": "os.listdir('/')",
    "delete": "os.unlink(args['file'])",
    "rename": "os.rename(args['file'], args['file'] + '2')",
    "empty": "os.truncate(args['file'], 0)",
    "change a mode": "os.chmod(args['file'], 0)",
    "look at a file": "os.stat('/')",
    "fork": "os.fork()",
    "execute": "os.execv('/bin/true', ['true'])",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "signal": "os.kill(os.getpid() - 1, 0)",
    "open a pipe": "os.pipe()",
    "start a thread": "sys.modules['_thread'].start_new_thread(print, ())",
    "raise a limit": "sys.modules['resource'].setrlimit(7, (99, 99))",
    "import sockets": "__import__('socket')",
    "import natively": "__import__('_socket')",
    "load machine code": "__import__('ctypes').CDLL(None)",
}


@pytest.mark.parametrize("what", FORBIDDEN.values(), ids=FORBIDDEN)
def test_code_cannot(what: str, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("kept")
    failure = failing(ProcessSandbox(), f"import sys\nos = sys.modules['os']\ndef main(args):\n  {what}", file=str(file))
    assert failure.code == "code_raised"
    refusals = ("PermissionError", "no module", "can't start new thread", "KeyError: 'resource'")
    assert any(word in failure.message for word in refusals)
    assert file.read_text() == "kept"


def test_code_sees_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAYMENTS_API_KEY", "hush")
    code = "import sys\ndef main(args): return dict(sys.modules['os'].environ)"
    assert "hush" not in str(run(ProcessSandbox(), code).value)


NATIVE = f"""
import ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("child", {str(CHILD)!r})
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
call = ctypes.CDLL(None, use_errno=True).syscall
errno = ctypes.get_errno
child.lock_up({{"memory_mb": 512, "timeout_ms": 9000, "unsafe": False}})
number = {{"x86_64": 41, "aarch64": 198}}[sys.argv[1]]  # socket(AF_INET, SOCK_DGRAM)
print(call(number, 2, 2, 0), errno(), flush=True)
"""


def test_machine_code_has_no_network_either() -> None:
    command = [sys.executable, "-c", NATIVE, platform.machine()]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert completed.stdout.split() == ["-1", str(errno.EPERM)]


@pytest.mark.parametrize(("unsafe", "expected"), [(False, "sandbox_unavailable"), (True, None)])
def test_without_the_kernels_filter_code_runs_only_when_that_is_wanted(unsafe: bool, expected: str | None) -> None:
    code = "def main(args):\n  try: open('/etc/hostname')\n  except OSError as error: return error.errno"
    request = {"code": code, "args": {}, "timeout_ms": 9_000, "memory_mb": 256, "max_output_bytes": 999,
               "max_print_characters": 9, "unsafe": unsafe}
    completed = subprocess.run([sys.executable, "-I", "-S", "-c", NO_FILTER], input=json.dumps(request), capture_output=True,
                          text=True, timeout=30, check=True)
    answer = json.loads(completed.stdout)
    assert (answer.get("error", {}).get("code"), answer.get("value")) == (expected, errno.EMFILE if unsafe else None)


# -- both walls: with the kernel's filter, and without it as on Lambda --------------------------------------------------

NO_FILTER = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("child", {str(CHILD)!r})
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
child._CALLS.clear()  # as on a machine without a filter
child.main()
"""


@pytest.fixture(params=["filter", "no filter"])
def walled(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    if request.param == "filter":
        return ProcessSandbox(unsafe=True)
    script = tmp_path / "no_filter.py"
    script.write_text(NO_FILTER)
    return ProcessSandbox(unsafe=True, script=script)


ATTACK = """
import typing, types
sys = typing.sys
os, posix, imp = (sys.modules[name] for name in ("os", "posix", "_imp"))
importer = sys.modules["_frozen_importlib"].BuiltinImporter

def everything():
    seen, left = set(), [object]
    while left:
        for kind in type.__subclasses__(left.pop()):
            if kind not in seen:
                seen.add(kind)
                left.append(kind)
    return seen

def named(name):
    "A function of that name, wherever one is still held."
    for module in list(sys.modules.values()):
        for value in vars(module).values():
            held = value if isinstance(value, (set, frozenset, list, tuple)) else (value,)
            for each in held:
                if getattr(each, "__name__", "") == name and isinstance(each, types.BuiltinFunctionType):
                    return each
    raise PermissionError("nowhere")

def above():
    "The globals of everything that called this."
    frame, found = sys._getframe(), []
    while frame is not None:
        found += [frame.f_globals, frame.f_locals]
        frame = frame.f_back
    return found

def main(args):
    try:
        return {"done": (lambda: %s)()}
    except (OSError, LookupError, ImportError, AttributeError, StopIteration) as error:
        return {"refused": type(error).__name__}
"""

ATTACKS = {
    "signal the parent": "os.kill(args['parent'], 9)",
    "signal everybody": "os.kill(-1, 0)",
    "signal the group of the parent": "os.killpg(args['parent'], 9)",
    "signal by a name that is held elsewhere": "named('kill')(args['parent'], 9)",
    "signal by a fresh posix": "importer.load_module('posix').kill(args['parent'], 9)",
    "make a module anew": "imp.create_builtin(importer.find_spec('posix')).kill(args['parent'], 9)",
    "make ctypes": "imp.create_dynamic(types.SimpleNamespace(name='_ctypes', origin='/usr/lib/_ctypes.so'))",
    "read the parent's environment": "open(f\"/proc/{args['parent']}/environ\", 'rb').read()",
    "read the parent's environment by descriptor": "os.open(f\"/proc/{args['parent']}/environ\", 0)",
    "read the parent's memory": "open(f\"/proc/{args['parent']}/mem\", 'rb')",
    "write the parent's memory": "open(f\"/proc/{args['parent']}/mem\", 'r+b')",
    "read where the parent runs": "os.readlink(f\"/proc/{args['parent']}/exe\")",
    "read its own environment": "open('/proc/self/environ', 'rb').read()",
    "limit the parent": "next(each['resource'] for each in above() if 'resource' in each).prlimit(args['parent'], 0, (0, 0))",
    "delete by what os keeps": "next(f for f in os.supports_dir_fd if f.__name__ == 'unlink')(args['file'])",
    "delete": "os.unlink(args['file'])",
    "rename": "os.replace(args['file'], args['file'] + '2')",
    "write a file": "open(args['file'], 'w')",
    "start a process": "os.fork()",
    "start a process another way": "sys.modules['_posixsubprocess'].fork_exec()",
    "replace its program": "os.execv('/bin/true', ['true'])",
    "find ctypes by name": "sys.modules['ctypes']",
    "find ctypes in the script": "sys.modules['__main__'].ctypes",
    "find ctypes in what called": "next(iter([each['ctypes'] for each in above() if 'ctypes' in each]), None).CDLL",
    "find ctypes in a module": "[module for module in list(sys.modules.values()) if hasattr(module, 'ctypes')][0]",
    "import it": "importer.load_module('_ctypes')",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_neither_wall_lets_code_out(attack: str, walled: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAYMENTS_API_KEY", "hush")
    file = tmp_path / "precious"
    file.write_text("kept")
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        parent = bystander.pid  # of the same user as the parent; the test survives if the attack succeeds
        answer = run(walled, ATTACK % attack, parent=parent, file=str(file)).value
        assert list(answer) == ["refused"], answer
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"\n")
    assert bystander.returncode == 0
    assert file.read_text() == "kept"


def test_without_the_filter_nothing_that_calls_machine_code_was_ever_loaded(walled: Sandbox, request: Any) -> None:
    code = ATTACK % "sorted(kind.__module__ for kind in everything() if 'ctypes' in kind.__module__)"
    found = run(walled, code).value["done"]
    assert found == [] or "no filter" not in request.node.name


def test_without_the_filter_few_functions_of_the_system_are_left(walled: Sandbox, request: Any) -> None:
    code = ATTACK % "[name for name, value in vars(posix).items() if isinstance(value, types.BuiltinFunctionType)]"
    left = set(run(walled, code).value["done"])
    assert left >= {"write", "_exit", "urandom"}
    assert len(left) < 20 or "no filter" not in request.node.name


HELD = f"""
import gc, importlib.util, sys
spec = importlib.util.spec_from_file_location("child", {str(CHILD)!r})
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
for name in (*child.OFFERED, *child._NEEDED):
    importlib.import_module(name)
posix = sys.modules["posix"]
stay = child._KEPT["posix"]
taken = [value for name, value in vars(posix).items() if isinstance(value, type(len)) and name not in stay]
kept = [gc.get_referrers]
child.strip_modules()
def is_ours(holder):  # the list, and the tuple that passes it
    return isinstance(holder, (list, tuple)) and len(holder) == len(taken)
print(len(taken), sorted({{type(holder).__name__ for holder in kept[0](*taken) if not is_ours(holder)}} - {{"frame"}}))
"""


def test_no_module_holds_what_was_taken_away() -> None:
    completed = subprocess.run([sys.executable, "-I", "-S", "-c", HELD], capture_output=True, text=True, timeout=60, check=True)
    number, _, holders = completed.stdout.partition(" ")
    assert int(number) > 100
    assert holders.strip() == "[]"


def test_code_runs_the_same_behind_both_walls(walled: Sandbox) -> None:
    code = ("import uuid, random, traceback, time, hashlib, datetime\ndef main(args):\n  random.random()\n"
            "  try: 1 / 0\n  except ZeroDivisionError: completed = traceback.format_exc()\n"
            "  print('seen')\n  return [len(str(uuid.uuid4())), 'ZeroDivisionError' in completed, args['n'] + 1]")
    assert run(walled, code, n=1) == Ran([36, True, 2], "seen\n")


@pytest.mark.parametrize(("code", "expected", "more"), [
    ("def main(args):\n  while True: pass", "code_timeout", {"timeout_ms": 1_500}),
    ("def main(args): return 'x' * (1 << 30)", "code_memory", {}),
    ("def main(args): raise KeyError('x')", "code_raised", {}),
    ("import typing\ndef main(args): typing.sys.modules['os']._exit(3)", "code_raised", {}),
])  # fmt: skip
def test_code_ends_the_same_behind_both_walls(code: str, expected: str, more: dict[str, int], walled: Sandbox) -> None:
    assert failing(walled, code, **more).code == expected


def test_the_function_hides_its_process() -> None:
    code = ("import ctypes\nfrom stepless.runtime.wiring.sandbox import hide_process\nhide_process()\n"
            "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))")
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert completed.stdout.strip() == "0"
