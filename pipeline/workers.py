"""Worker processes of Beam's embedded runner, forked from a server that has loaded Beam.

Beam itself starts a new Python for each worker of each pipeline, which imports Beam and the stages
for seconds of CPU. Here one server per command imports them once; a fork of it starts at once and
shares its memory. The command sends the server a worker's environment, its standard error and the
end of a pipe, and the worker reports over this pipe whether it ended well.

    FnApiRunner(default_environment=ForkedWorkers.default())
"""

import atexit
import contextlib
import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apache_beam.portability.api import endpoints_pb2
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import sdk_worker_main
from apache_beam.transforms import environments
from google.protobuf import json_format, text_format

URN = "wikisum:env:forked_worker:v1"
SECONDS_TO_END = 10.0
_ENDED_WELL = b"0"
_SERVER = """
import sys
number, modules, *sys.path[:] = sys.argv[1:]
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
    """Starts a worker for Beam, waits for its end, and fails the pipeline if it is killed."""

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
        _request(environment, status)
        os.close(status)
        self._waiting = threading.Thread(target=self._wait, args=(ended,), daemon=True)
        self._waiting.start()

    def _wait(self, ended: int) -> None:
        with os.fdopen(ended, "rb") as status:
            if status.read(1) != _ENDED_WELL:
                message = "a worker process was killed, perhaps for lack of memory"
                self.control_conn.abort(RuntimeError(message))

    def stop_worker(self) -> None:
        self._waiting.join()


def _described(descriptor: endpoints_pb2.ApiServiceDescriptor) -> str:
    return text_format.MessageToString(descriptor)


def _request(environment: Mapping[str, str], status: int) -> None:
    """Ask the server for a worker with this environment that writes errors where we do."""
    with tempfile.TemporaryFile("w+") as file:
        json.dump(dict(environment), file)
        file.flush()
        socket.send_fds(start_server().connection, [b"1"], [file.fileno(), 2, status])


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


def serve(number: int, modules: Sequence[str]) -> None:
    """Be the server: import modules, then fork a worker for each request on a socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules:
        importlib.import_module(module)
    with socket.socket(fileno=number) as requests:
        while True:
            request, descriptors, _, _ = socket.recv_fds(requests, 1, 3)
            _reap(os.WNOHANG)
            if not request:
                break
            if not os.fork():
                requests.close()
                _be_worker(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
    _reap(0)


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
    with os.fdopen(environment) as file:
        file.seek(0)
        os.environ.update(json.load(file))
    try:
        sdk_worker_main.main([])
        os.write(status, _ENDED_WELL)
    finally:
        os._exit(0)
