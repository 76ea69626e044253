"""Incomplete uploads of killed runs are aborted, those of other folders are not."""

import boto3
import pytest
from botocore.exceptions import BotoCoreError

from tests.object_stores import BUCKET, s3_store
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.store.uploads import abort_uploads


def test_a_run_aborts_the_uploads_below_its_folder(monkeypatch):
    with s3_store(monkeypatch):
        client = boto3.client("s3")
        for key in ("out/examples/a", "out/.work/b", "outside/c", "d"):
            client.create_multipart_upload(Bucket=BUCKET, Key=key)
        with Workspace(f"s3://{BUCKET}/out").locked():
            left = client.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
        assert sorted(upload["Key"] for upload in left) == ["d", "outside/c"]
        assert abort_uploads(f"s3://{BUCKET}") == 2


def test_a_store_that_refuses_is_named_and_ends_no_run(monkeypatch, capsys):
    with s3_store(monkeypatch), monkeypatch.context() as patch:
        patch.setattr(boto3, "client", _refused)
        with Workspace(f"s3://{BUCKET}/out").locked():
            assert "incomplete uploads were not deleted" in capsys.readouterr().err
    with s3_store(monkeypatch), pytest.raises(OSError, match="s3://other/out: incomplete uploads"):
        abort_uploads("s3://other/out")
    assert abort_uploads(f"gs://{BUCKET}/out") == 0


def _refused(*_, **__):
    raise BotoCoreError
