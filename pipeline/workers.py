"""Worker processes of Beam's embedded runner, forked from a server that has loaded Beam.

Beam itself starts a new Python for each worker of each pipeline, which imports Beam and the stages
for seconds of CPU. Here one server per command imports them once; a fork of it starts at once and
shares its memory. The command sends the server a worker's environment, its standard error and the
end of a pipe, and the worker reports over this pipe how it ended. What workers of a stage load
before their first task, such as spaCy's model, the server can load for all of them.

    preload(recognizer)
    FnApiRunner(default_environment=ForkedWorkers.default())
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

from apache_beam.portability.api import beam_fn_api_pb2, endpoints_pb2
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.transforms import environments
from google.protobuf import json_format, text_format

URN = "wikisum:env:forked_worker:v1"
SECONDS_TO_END = 10.0
_ENDED_WELL, _FAILED = b"0", b"1"  # the first byte of a worker's report
_FAIL_EVERY_SECONDS = 0.5
_MAX_REPORT = 2_000  # bytes, so that a pipe takes it whole
_FORK, _LOAD = b"f", b"l"  # requests
_RESUME = "perhaps for lack of memory; run the same command to resume"
_SERVER = """
import sys
number, modules, *sys.path[:] = sys.argv[1:]
import wikisum.pipeline.cli  # drops a warning of Beam
from wikisum.pipeline.workers import serve
serve(int(number), modules.split())
"""


@environments.Environment.register_urn(URN, bytes)
class ForkedWorkers(environments.Environment):
    """The environment of transforms that run in forked workers."""

    @classmethod
    def default(cls) -> "ForkedWorkers":
        """Return the environment of this package on this machine."""
        return cls(environments.python_sdk_capabilities())

    def to_runner_api_parameter(self, context: Any) -> tuple[str, bytes]:
        return URN, b""

    @staticmethod
    def from_runner_api_parameter(
        payload: bytes, capabilities: Any, artifacts: Any, resource_hints: Any, context: Any
    ) -> "ForkedWorkers":
        return ForkedWorkers(capabilities, artifacts, resource_hints)

    @classmethod
    def from_options(cls, options: Any) -> "ForkedWorkers":
        return cls.default()


@worker_handlers.WorkerHandler.register_environment(URN, bytes)
class ForkedWorkerHandler(worker_handlers.GrpcWorkerHandler):
    """Starts a worker for Beam, waits for its end, and fails the pipeline with its error."""

    def __init__(self, payload: bytes, state: Any, provision_info: Any, grpc_server: Any) -> None:
        super().__init__(state, provision_info, grpc_server)

    def start_worker(self) -> None:
        ended, status = os.pipe()
        options = self.provision_info.provision_info.pipeline_options
        environment = {
            **os.environ,
            "CONTROL_API_SERVICE_DESCRIPTOR": _described(self.control_api_service_descriptor()),
            "LOGGING_API_SERVICE_DESCRIPTOR": _described(self.logging_api_service_descriptor()),
            "PIPELINE_OPTIONS": json_format.MessageToJson(options),
            "WORKER_ID": self.worker_id,
        }
        server = start_server()
        try:
            _send(server, _FORK, json.dumps(environment).encode(), 2, status)
        finally:
            os.close(status)
        self._stopped = threading.Event()
        self._waiting = threading.Thread(target=self._wait, args=(server, ended), daemon=True)
        self._waiting.start()

    def _wait(self, server: "Server", ended: int) -> None:
        report = os.read(ended, _MAX_REPORT)
        os.close(ended)
        if report == _ENDED_WELL:
            return
        cause = _cause(server, report)
        self._fail_requests(cause)
        while not self._stopped.wait(_FAIL_EVERY_SECONDS):  # Beam goes on sending requests
            self._fail_requests(cause)

    def _fail_requests(self, cause: str) -> None:
        """Answer all requests to this worker with an error.

        Beam's own `abort` leaves a bundle waiting for data if its worker ended before it connected.
        """
        waiting = self.control_conn._futures_by_id
        for id_ in list(waiting):
            answer = beam_fn_api_pb2.InstructionResponse(instruction_id=id_, error=cause)
            waiting.pop(id_).set(answer)

    def stop_worker(self) -> None:
        self._stopped.set()
        self._waiting.join()


def _described(descriptor: endpoints_pb2.ApiServiceDescriptor) -> str:
    return text_format.MessageToString(descriptor)


class Server(NamedTuple):
    """The process that forks workers, and the connection to it."""

    connection: socket.socket
    process: subprocess.Popen[bytes]


@functools.lru_cache(maxsize=1)
def start_server() -> Server:
    """Start the server of this command, unless it runs; it ends with us at the latest."""
    ours, theirs = socket.socketpair()
    modules = " ".join(name for name in sys.modules if name.startswith("wikisum.pipeline."))
    command = [sys.executable, "-c", _SERVER, str(theirs.fileno()), modules, *sys.path]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    atexit.register(end_server)
    return Server(ours, process)


def end_server() -> None:
    """End the server if there is one, and wait for it: the CPU time of all workers is then ours."""
    if not start_server.cache_info().currsize:
        return
    server = start_server()
    start_server.cache_clear()
    server.connection.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.process.wait(SECONDS_TO_END)


def preload(function: Callable[[], object]) -> None:
    """Let the server call a function of a module, which keeps what it loads for all later workers.

    This returns at once; workers that are asked for later start when it is loaded. Raises
    RuntimeError if the server has ended.
    """
    _send(start_server(), _LOAD, pickle.dumps(function))


def _send(server: Server, kind: bytes, content: bytes, *descriptors: int) -> None:
    """Send a request with its content in a file. Raises RuntimeError if the server has ended."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            socket.send_fds(server.connection, [kind], [file.fileno(), *descriptors])
        except OSError as error:
            raise RuntimeError(_end_of(server) or str(error)) from error


def _cause(server: Server, report: bytes) -> str:
    """Return why a worker ended: its own error, or that it or the server was killed."""
    if report.startswith(_FAILED):
        return f"a worker process failed: {report.removeprefix(_FAILED).decode(errors='ignore')}"
    return _end_of(server) or f"a worker process was killed, {_RESUME}"


def _end_of(server: Server) -> str:
    """Return how the server has ended, or an empty text if it runs."""
    try:
        status = server.process.wait(timeout=1)  # its sockets close before it can be waited for
    except subprocess.TimeoutExpired:
        return ""
    if status < 0:
        return f"the process that forks the workers was killed, {_RESUME}"
    return f"the process that forks the workers failed with exit status {status}"


def serve(number: int, modules: Sequence[str]) -> None:
    """Be the server: import modules, then fork a worker for each request on a socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)
    with socket.socket(fileno=number) as requests:
        while True:
            kind, descriptors, _, _ = socket.recv_fds(requests, 1, 3)
            _reap(os.WNOHANG)
            if not kind:
                break
            if kind == _LOAD:
                _load(descriptors.pop())
            elif not os.fork():
                requests.close()
                _be_worker(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
    _reap(0)


def _load(content: int) -> None:
    """Call the function that is pickled in a file, here, where no thread of Beam runs yet.

    A worker that needs what could not be loaded fails with the same error, which then has a stage.
    """
    with _opened(content) as file, contextlib.suppress(Exception):
        pickle.load(file)()
    gc.collect()
    gc.freeze()  # collections in workers then leave these pages shared


def _opened(content: int) -> BinaryIO:
    file = os.fdopen(content, "rb")
    file.seek(0)
    return file


def _reap(flags: int) -> None:
    """Wait for workers that have ended, or for all."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, flags)[0]:
            pass


def _be_worker(environment: int, errors: int, status: int) -> None:
    """Be a worker; the numbers are those of a file, of standard error and of a pipe."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(errors, 2)
    os.close(errors)
    with _opened(environment) as file:
        os.environ.update(json.load(file))
    try:
        sdk_worker_main.main([])
        report = _ENDED_WELL
    except BaseException as error:
        traceback.print_exc()
        report = (_FAILED + _last_line(error).encode(errors="replace"))[:_MAX_REPORT]
    with contextlib.suppress(OSError):  # the command has ended
        os.write(status, report)
    os._exit(0)


def _last_line(error: BaseException) -> str:
    """Return what a traceback ends with, in one line."""
    text = "".join(traceback.format_exception_only(error)).strip()
    return text.splitlines()[-1] if text else type(error).__name__
