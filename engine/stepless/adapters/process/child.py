"""Runs author code inside the local sandbox. The script needs only the standard library, and is started as `python -I -S` with an
empty environment.

It reads one request from its standard input, imports the modules that the author's code may use, permanently gives up all other
permissions, and only then reads the code. What it gives up, and what enforces it:

    new files, sockets, pipes   RLIMIT_NOFILE 0: no file descriptor is available
    processes, threads          RLIMIT_NPROC 0
    memory, processor time      RLIMIT_AS, RLIMIT_CPU; the parent enforces the wall-clock time
    everything else             a seccomp filter: the kernel answers EPERM to each system call that is not in `_CALLS`, so that
                                the code cannot delete, rename, signal, trace, execute or mount anything; the filter applies to
                                machine code as it does to Python

If the kernel has no filter, the script reports that and does not run the code, unless the request is marked `unsafe`. Then it
runs the code in a second process, which never loads a module that calls machine code (`ctypes`) and removes from its interpreter
what the filter would refuse: all operating system functions except `_KEPT`, and everything that could create them again. This
protects against Python code, not against a fault of the interpreter itself. The first process is the parent of the second one,
and waits for it.
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
_STRIPPED = "stripped"  # the command-line argument of the process that runs code without the filter
# Without the filter: `_KEPT` are the only functions that stay in these modules; `_DROPPED` are removed from these other modules.
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
_EXCEPTION_BYTES = 4_000  # if the caller, of an earlier release, does not send a limit
_NOBODY = 65_534

# The allowed system calls, by machine: computation, memory, the three open streams, clocks, random numbers, exit.
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
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050001, 0x7FFF0000  # kill the process; return EPERM; allow the call


class Unavailable(Exception):
    """The kernel does not provide the filter."""


def main() -> None:
    data = sys.stdin.buffer.read()
    request = json.loads(data)
    stripped = sys.argv[1:] == [_STRIPPED]
    if request["unsafe"] and not stripped and why_no_filter():
        run_stripped(data)
    for name in (*OFFERED, *_NEEDED):
        importlib.import_module(name)
    describe = load_raised().described
    prints = Prints(request["max_print_characters"])
    try:
        (strip if stripped else lock_up)(request)
    except Unavailable as error:
        answer = failed("sandbox_unavailable", str(error))
    else:
        sys.stdout = sys.stderr = prints  # captures both streams of the author's code
        code, most = request["code"], request.get("max_exception_bytes", _EXCEPTION_BYTES)
        answer = run(code, request["args"], lambda error: describe(error, most, {_FILE: code}))
    write_answer(answer, prints, request["max_output_bytes"])


def load_raised() -> Any:
    """Loads `raised.py`, which needs only the standard library, by its path: no package is importable in this process."""
    file = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "raised.py")
    spec = importlib.util.spec_from_file_location("raised", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lock_up(request: dict[str, Any]) -> None:
    """Removes all permissions but computation. Raises `Unavailable` if the kernel does not provide the filter."""
    if reason := why_no_filter():
        raise Unavailable(reason)
    prctl = kernel_prctl()
    restrict(request)
    install_filter(prctl)
    forget()


def strip(request: dict[str, Any]) -> None:
    """Removes what can be removed without the filter. This process has never loaded a module that calls machine code, and without
    a file descriptor it cannot load one."""
    restrict(request)
    strip_modules()
    forget()


def restrict(request: dict[str, Any]) -> None:
    """Applies the restrictions that need no filter: limits, another user, no further imports."""
    sys.meta_path[:] = [Offer()]
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):  # a container may have no such user; the filter applies to root too
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    limit("RLIMIT_AS", request["memory_mb"] << 20)
    limit("RLIMIT_CPU", request["timeout_ms"] // 1000 + 2)
    for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
        limit(name, 0)


def forget() -> None:
    """Removes the modules that this script loaded for itself, so that the code finds them neither by name nor in its globals."""
    for name in _TAKEN:
        sys.modules.pop(name, None)
        globals().pop(name, None)


def strip_modules() -> None:
    """Replaces with `refuse` every operating system function that is not kept, and every function that creates modules: in their
    own modules and in every module that imported them."""
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
                value.clear()  # sets such as `os.supports_dir_fd` hold these functions as well


def refuse(*_: object, **__: object) -> NoReturn:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def run_stripped(data: bytes) -> NoReturn:
    """Runs the request in a process that has loaded fewer modules, and exits as that process does."""
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
        with contextlib.suppress(ValueError, OSError):  # some systems define a limit but do not support it
            resource.setrlimit(number, (most, most))


def kernel_prctl() -> Any:
    import ctypes  # never in the process that runs code without the filter

    return ctypes.CDLL(None, use_errno=True).prctl


def why_no_filter() -> str:
    """Returns why the kernel does not provide the filter; empty if it does. Passes a null pointer: EFAULT means that the kernel
    tried to read a filter there, and so supports filters."""
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
    """Refuses the import of every module that is not loaded yet."""

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


def run(code: str, args: dict[str, Any], describe: Callable[[BaseException], dict[str, Any]]) -> dict[str, Any]:
    """{value} or {error}; `describe` gives the details of the exception."""
    module = types.ModuleType("author")
    try:
        exec(compile(code, _FILE, "exec", dont_inherit=True), module.__dict__)
        value = module.__dict__["main"](args)
    except MemoryError:
        return failed("code_memory", "the code needs more memory than its limit")
    except SyntaxError as error:
        return failed("code_raised", f"SyntaxError: {error.msg}", error.lineno, describe(error))
    except BaseException as error:  # every exception is reported, SystemExit too
        return failed("code_raised", sentence(error), line_of(error), describe(error))
    return {"value": value}


def failed(code: str, message: str, line: int | None = None, exception: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message[:_MESSAGE_CHARACTERS], "line": line, "exception": exception}}


def sentence(error: BaseException) -> str:
    name = type(error).__name__
    try:
        return f"{name}: {error}".encode("utf-8", "replace").decode()
    except BaseException:  # the exception's __str__ may be author code, and raise
        return name


def line_of(error: BaseException) -> int | None:
    """Returns the innermost line of the author's code that was running."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def write_answer(answer: dict[str, Any], prints: Prints, most: int) -> None:
    """Writes the answer to the standard output, or an error if the answer cannot be written."""
    printed = prints.text.encode("utf-8", "replace").decode()
    try:
        data = json.dumps({**answer, "printed": printed}, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        answer = failed("result_not_json", f"main returned what is not JSON: {sentence(error)}")
        data = json.dumps({**answer, "printed": printed}).encode()
    except MemoryError:
        data = json.dumps(failed("code_memory", "the result needs more memory than the code's limit")).encode()
    if len(data) > most:
        message = f"the result and the printed text have {len(data):,} bytes; the limit is {most:,}"
        data = json.dumps(failed("code_output_too_large", message)).encode()
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
    os._exit(0)  # skips exit handlers and finalizers of the author's code
