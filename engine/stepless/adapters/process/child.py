"""The inside of the local sandbox: a script of the standard library alone, run by `python -I -S` with an empty environment.

It reads one request from its standard input, loads what the author's code may import, takes everything else away from itself for
good, and only then looks at the code. What is taken away, and who sees to it:

    new files, sockets, pipes   RLIMIT_NOFILE 0: there is no number left that one could have
    processes, threads          RLIMIT_NPROC 0
    memory, processor time      RLIMIT_AS, RLIMIT_CPU; wall time is the parent's to watch
    everything else             a seccomp filter: the kernel answers EPERM to each system call that is not in `_CALLS`, so
                                nothing can be deleted, renamed, signalled, traced, executed or mounted either, and machine code
                                cannot get around it any more than Python can

Where the filter cannot be had the script says so and does not run the code, unless the request is marked `unsafe`. Then it runs
the code in one more process, which never loads what calls machine code (`ctypes`) and takes away from its interpreter what the
filter would have refused: the functions of the operating system but for `_KEPT`, and whatever could make them anew. That holds
against Python, not against a fault of the interpreter itself. This process waits for the other one, and so is its parent.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import importlib.util
import json
import os
import resource
import struct
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

OFFERED = (
    "abc", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "collections.abc", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html",
    "html.entities", "io", "ipaddress", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics",
    "string", "struct", "textwrap", "time", "traceback", "types", "typing", "unicodedata", "urllib.parse", "uuid", "zlib",
)  # fmt: skip
_NEEDED = ("_strptime", "encodings.ascii", "encodings.latin_1", "encodings.cp1252", "encodings.utf_16", "encodings.idna")
_TAKEN = ("ctypes", "_ctypes", "importlib", "resource", "platform")  # loaded for this script only
_STRIPPED = "stripped"  # the word on the command line of the process that runs code without the filter
# Without the filter: the functions that stay, of modules of which all others are taken away, and those that are taken of others.
_KEPT = {
    "posix": ("_exit", "_path_normpath", "_path_splitroot", "_path_splitroot_ex", "cpu_count", "fspath", "fstat", "getpid",
              "getrandom", "isatty", "lseek", "read", "strerror", "times", "urandom", "write"),
    **dict.fromkeys(("_posixsubprocess", "_signal", "resource", "gc", "fcntl", "select", "_socket", "mmap"), ()),
}  # fmt: skip
_DROPPED = {
    "_imp": ("create_builtin", "create_dynamic", "exec_builtin", "exec_dynamic", "init_frozen"),
    "_thread": ("start_new_thread", "start_new", "start_joinable_thread"),
    "sys": ("remote_exec",),
}
_FILE = "<code>"
_MESSAGE_CHARACTERS = 2_000
_EXCEPTION_BYTES = 4_000  # where the caller, of a release before, does not say
_NOBODY = 65_534

# Computing, memory, the three streams that are open, clocks, chance, the end: system call numbers by machine.
_CALLS = {
    "x86_64": (0xC000003E, (
        0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 28, 35, 39, 60, 96, 98, 100, 131, 186, 202, 219, 228, 229, 230, 231,
        318,
    )),
    "aarch64": (0xC00000B7, (
        63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 124, 216, 233, 101, 172, 93, 169, 165, 153, 132, 178, 98, 128, 113,
        114, 115, 94, 278,
    )),
}  # fmt: skip
# read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn sched_yield mremap madvise
# nanosleep getpid exit gettimeofday getrusage times sigaltstack gettid futex restart_syscall clock_gettime clock_getres
# clock_nanosleep exit_group getrandom

_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050001, 0x7FFF0000  # the process; EPERM; go on


class Unavailable(Exception):
    """The kernel does not give the filter."""


def main() -> None:
    data = sys.stdin.buffer.read()
    request = json.loads(data)
    stripped = sys.argv[1:] == [_STRIPPED]
    if request["unsafe"] and not stripped and why_no_filter():
        run_stripped(data)
    for name in (*OFFERED, *_NEEDED):
        importlib.import_module(name)
    tell_of = load_raised().told
    prints = Prints(request["max_print_characters"])
    try:
        (strip if stripped else lock_up)(request)
    except Unavailable as error:
        answer = failed("sandbox_unavailable", str(error))
    else:
        sys.stdout = sys.stderr = prints  # author code may print wherever it likes
        code, most = request["code"], request.get("max_exception_bytes", _EXCEPTION_BYTES)
        answer = run(code, request["args"], lambda error: tell_of(error, most, {_FILE: code}))
    tell(answer, prints, request["max_output_bytes"])


def load_raised() -> Any:
    """`raised.py`, which needs the standard library alone, by its path: this process knows no package."""
    file = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "raised.py")
    spec = importlib.util.spec_from_file_location("raised", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lock_up(request: dict[str, Any]) -> None:
    """Takes away everything but computing. Raises `Unavailable` when the kernel's filter cannot be had."""
    if told := why_no_filter():
        raise Unavailable(told)
    prctl = kernel_prctl()
    restrict(request)
    install_filter(prctl)
    forget()


def strip(request: dict[str, Any]) -> None:
    """As far as that goes without the filter. Nothing that could call machine code was ever loaded here, and with no file
    descriptor nothing can be."""
    restrict(request)
    strip_modules()
    forget()


def restrict(request: dict[str, Any]) -> None:
    """What needs no filter: limits, another user, no further imports."""
    sys.meta_path[:] = [Offer()]
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):  # a container may have no such user; the filter holds for root too
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    limit("RLIMIT_AS", request["memory_mb"] << 20)
    limit("RLIMIT_CPU", request["timeout_ms"] // 1000 + 2)
    for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
        limit(name, 0)


def forget() -> None:
    """Leaves no way from the code to what this script has loaded for itself: neither by name nor by its own globals."""
    for name in _TAKEN:
        sys.modules.pop(name, None)
        globals().pop(name, None)


def strip_modules() -> None:
    """Puts `refuse` in place of every function of the operating system that is not kept, and of what makes modules anew: in its
    own module and wherever another one has taken it over."""
    taken = {
        id(value)
        for module, stay in _KEPT.items() if module in sys.modules
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, types.BuiltinFunctionType) and name not in stay
    }
    taken |= {id(vars(sys.modules[module])[name]) for module, names in _DROPPED.items() for name in names
              if name in vars(sys.modules[module])}
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if id(value) in taken:
                setattr(module, name, refuse)
            elif isinstance(value, set) and any(id(held) in taken for held in value):
                value.clear()  # `os.supports_dir_fd` and its like hold them as well


def refuse(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def run_stripped(data: bytes) -> NoReturn:
    """Runs the request in a process that has loaded less, and ends as it ends."""
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        os.dup2(reading, 0)
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-B", __file__, _STRIPPED])
    os.close(reading)
    with contextlib.suppress(BrokenPipeError), open(writing, "wb") as pipe:
        pipe.write(data)
    _, status = os.waitpid(number, 0)
    if os.WIFSIGNALED(status):
        limit("RLIMIT_CORE", 0)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def limit(name: str, value: int) -> None:
    number = getattr(resource, name, None)
    if number is not None:
        _, hard = resource.getrlimit(number)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):  # some systems know a limit by name only
            resource.setrlimit(number, (most, most))


def kernel_prctl() -> Any:
    import ctypes  # never in the process that runs code without the filter

    return ctypes.CDLL(None, use_errno=True).prctl


def why_no_filter() -> str:
    """Why the kernel does not give the filter; empty when it does. Asks for one that is nowhere: EFAULT says that it would read
    it."""
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _CALLS:
        return f"there is no system call filter for {sys.platform} on {machine}"
    import ctypes

    prctl = kernel_prctl()
    zero, one = ctypes.c_ulong(0), ctypes.c_ulong(1)
    if prctl(_SET_NO_NEW_PRIVILEGES, one, zero, zero, zero) != 0:
        return f"the kernel refuses the system call filter: {os.strerror(ctypes.get_errno())}"
    prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), zero, zero, zero)
    if ctypes.get_errno() != errno.EFAULT:
        return f"the kernel refuses the system call filter: {os.strerror(ctypes.get_errno())}"
    return ""


def install_filter(prctl: Any) -> None:
    import ctypes

    architecture, calls = _CALLS[os.uname().machine]
    steps = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    steps += [(_JUMP_EQUAL, len(calls) - place, 0, number) for place, number in enumerate(calls)]
    steps += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    if prctl(*(ctypes.c_ulong(argument) for argument in (_SET_SECCOMP, _FILTER, ctypes.addressof(program), 0, 0))) != 0:
        raise Unavailable(f"the kernel refuses the system call filter: {os.strerror(ctypes.get_errno())}")


class Offer:
    """The last word on imports: what is not loaded yet is not to be had."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        raise ModuleNotFoundError(f"there is no module {name!r} in the sandbox; there are {', '.join(OFFERED)}", name=name)


class Prints:
    """What the code prints, up to `most` characters."""

    encoding = "utf-8"

    def __init__(self, most: int) -> None:
        self.text = ""
        self._most = most

    def write(self, text: str) -> int:
        if len(self.text) < self._most:
            self.text += text[: self._most - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """There is nothing to flush."""


def run(code: str, args: dict[str, Any], tell_of: Callable[[BaseException], dict[str, Any]]) -> dict[str, Any]:
    """{value} or {error}, with what `tell_of` says of the exception."""
    module = types.ModuleType("author")
    try:
        exec(compile(code, _FILE, "exec", dont_inherit=True), module.__dict__)
        value = module.__dict__["main"](args)
    except MemoryError:
        return failed("code_memory", "the code takes more memory than it may")
    except SyntaxError as error:
        return failed("code_raised", f"SyntaxError: {error.msg}", error.lineno, tell_of(error))
    except BaseException as error:  # also SystemExit: whatever it is, it is told
        return failed("code_raised", sentence(error), line_of(error), tell_of(error))
    return {"value": value}


def failed(code: str, message: str, line: int | None = None, exception: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message[:_MESSAGE_CHARACTERS], "line": line, "exception": exception}}


def sentence(error: BaseException) -> str:
    name = type(error).__name__
    try:
        return f"{name}: {error}".encode("utf-8", "replace").decode()
    except BaseException:  # its own __str__ is author code too
        return name


def line_of(error: BaseException) -> int | None:
    """The line of the author's code that was being run, the innermost one."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def tell(answer: dict[str, Any], prints: Prints, most: int) -> None:
    """Writes the answer, or why there is none."""
    printed = prints.text.encode("utf-8", "replace").decode()
    try:
        data = json.dumps({**answer, "printed": printed}, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        answer = failed("result_not_json", f"main returned what is not JSON: {sentence(error)}")
        data = json.dumps({**answer, "printed": printed}).encode()
    except MemoryError:
        data = json.dumps(failed("code_memory", "the result takes more memory than the code may have")).encode()
    if len(data) > most:
        told = f"the result and what is printed take {len(data):,} bytes; {most:,} is the limit"
        data = json.dumps(failed("code_output_too_large", told)).encode()
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
    os._exit(0)  # nothing that the code left behind runs any more
