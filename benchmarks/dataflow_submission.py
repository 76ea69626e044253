"""What does a build on Dataflow send to Google? Recorded by a stub on this machine.

    pip install 'apache-beam[gcp]'
    python -m benchmarks.dataflow_submission

Starts a build with inputs and output on a stub of Google Cloud Storage (tests/object_stores.py) and
`--runner=DataflowRunner`. A stub of Dataflow records the jobs and says that each is done; for the
job that checks the workers, the stub writes what a worker would write. The build fails after the
first job of the stage `articles`, of which no part was written. Prints per job its name, labels,
options, steps, and the size of the request, the files that were staged and the transforms of each
graph. Fails if a job lacks its name, label, package or stage.
"""

import email
import hashlib
import json
import os
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import google_crc32c
import pytest
from apache_beam.io.gcp import gcsio
from apache_beam.portability.api import beam_runner_api_pb2
from werkzeug import Request, Response

from tests.object_stores import BUCKET, Buckets, served
from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.engines import write_versions

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
JOBS = "/v1b3/projects/project/locations/region/jobs"


class Google:
    """A WSGI application: storage by both of its interfaces, and jobs that are done at once."""

    def __init__(self) -> None:
        self.buckets = Buckets()
        self.jobs: list[dict[str, Any]] = []
        self.request_bytes: list[int] = []
        self.staged: dict[str, int] = {}

    def __call__(self, environ: dict, start_response: Any) -> Any:
        request = Request(environ)
        if request.path.startswith("/v1b3/"):
            return self._dataflow(request)(environ, start_response)
        if request.path.startswith("/upload/"):
            return self._upload(request)(environ, start_response)
        if request.path.startswith("/storage/v1/"):
            return self._storage(request)(environ, start_response)
        return self.buckets(environ, start_response)

    def _dataflow(self, request: Request) -> Response:
        if request.method == "POST" and request.path == JOBS:
            self.jobs.append(json.loads(request.data))
            self.request_bytes.append(len(request.data))
            self._answer_check()
        if "messages" in request.path:
            return _json({})
        name = self.jobs[-1]["name"]
        return _json(
            {"id": f"job-{len(self.jobs)}", "name": name, "currentState": "JOB_STATE_DONE"}
        )

    def _answer_check(self) -> None:
        if "-check-" in (name := self.jobs[-1]["name"]):
            with tempfile.NamedTemporaryFile() as file:
                write_versions(file.name)
                data = Path(file.name).read_bytes()
            key = f"out/.work/check-{name.rpartition('-')[2]}.json"
            self.buckets._objects[key] = (data, 10**6)

    def _upload(self, request: Request) -> Response:
        if request.args["uploadType"] == "resumable" and request.method == "POST":
            name = request.args.get("name") or json.loads(request.data)["name"]
            where = f"{request.host_url}upload/put?uploadType=resumable&name={name}"
            return Response(status=200, headers={"Location": where})
        if request.args["uploadType"] == "resumable":
            return self._store(request.args["name"], request.data)
        head = f"Content-Type: {request.content_type}\r\n\r\n".encode()
        about, content = email.message_from_bytes(head + request.data).get_payload()
        data = content.get_payload(decode=True)
        return self._store(json.loads(about.get_payload())["name"], data)

    def _store(self, name: str, data: bytes) -> Response:
        self.staged[name] = len(data)
        self.buckets._objects[name] = (data, 1)
        about = {"name": name, "bucket": BUCKET, "size": str(len(data)), "generation": "1"}
        about["md5Hash"] = b64encode(hashlib.md5(data).digest()).decode()
        about["crc32c"] = b64encode(google_crc32c.Checksum(data).digest()).decode()
        return _json(about)

    def _storage(self, request: Request) -> Response:
        _, _, key = request.path.partition("/o/")
        if not key:
            return _json({"name": BUCKET, "projectNumber": "1", "items": [], "location": "US"})
        return Response(status=404) if unquote(key) not in self.buckets._objects else _json({})


def _json(plain: Any) -> Response:
    return Response(json.dumps(plain), mimetype="application/json")


def report(google: Google) -> dict[str, Any]:
    """Return what was sent: per job its name, labels, options and steps; the staged files."""
    jobs = []
    for job, size in zip(google.jobs, google.request_bytes, strict=True):
        options = job["environment"]["sdkPipelineOptions"]["options"]
        kept = ("runner", "region", "temp_location", "setup_file", "job_name", "labels")
        jobs.append(
            {
                "name": job["name"],
                "labels": job.get("labels"),
                "request bytes": size,
                "options": {name: options.get(name) for name in kept},
                "staged": sorted(
                    Path(p["name"]).name for p in job["environment"]["workerPools"][0]["packages"]
                ),
                "machine": job["environment"]["workerPools"][0].get("machineType"),
                "scaling": job["environment"]["workerPools"][0].get("autoscalingSettings"),
                "image": job["environment"]["workerPools"][0].get("workerHarnessContainerImage"),
            }
        )
    staged = {name: size for name, size in google.staged.items() if name.startswith("tmp/")}
    graphs = {n: _transforms(google, n) for n in staged if n.endswith("pipeline.pb")}
    return {"jobs": jobs, "staged bytes": staged, "graphs": graphs}


def _transforms(google: Google, name: str) -> list[str]:
    """Return the names of a staged graph's transforms that no other transform holds."""
    graph = beam_runner_api_pb2.Pipeline.FromString(google.buckets._objects[name][0])
    transforms = graph.components.transforms
    (root,) = graph.root_transform_ids
    return [transforms[child].unique_name for child in transforms[root].subtransforms]


def check(found: dict[str, Any]) -> None:
    """Raise AssertionError if something that a job needs was not sent."""
    stages = ["check", "templates"]
    assert [job["labels"] for job in found["jobs"]] == [{"wikisum-stage": s} for s in stages]
    for stage, job, graph in zip(stages, found["jobs"], found["graphs"].values(), strict=True):
        assert job["name"].startswith(f"wikisum-{stage}-")
        assert job["request bytes"] < 100_000  # Dataflow refuses 10 MB
        assert job["options"]["runner"] == "DataflowRunner"
        assert "workflow.tar.gz" in job["staged"]
        assert job["machine"] == "n2-highmem-2"  # each has one part
        assert job["scaling"]["maxNumWorkers"] == 1
        assert stage in graph


def main() -> int:
    google = Google()
    gcsio._get_project_number = lambda *_, **__: 1  # would ask Google, and wait for a minute
    with pytest.MonkeyPatch.context() as patch, served(google) as store:
        address = store.address.replace("127.0.0.1", "localhost")
        patch.setenv("STORAGE_EMULATOR_HOST", address)
        inputs = [f"gs://{BUCKET}/in/{n}" for n in ("sample.xml.bz2", "sample-pages-00000.warc.gz")]
        for path in inputs:
            files.write_bytes(path, (GOLDEN / os.path.basename(path)).read_bytes())
        status = wikisum(
            ["build", "--articles", inputs[0], "--warcs", inputs[1], "--out", f"gs://{BUCKET}/out",
             "--", "--runner=DataflowRunner", "--project=project", "--region=region", "--no_auth",
             f"--temp_location=gs://{BUCKET}/tmp", f"--dataflow_endpoint={address}",
             f"--setup_file={ROOT / 'setup.py'}"]
        )  # fmt: skip
    found = report(google)
    print(json.dumps({"exit status": status, **found}, indent=1))
    check(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
