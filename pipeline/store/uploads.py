"""Incomplete multipart uploads on S3: a killed worker leaves them, and no list of objects has them.

They cost money until they are aborted. obstore cannot list them; boto3 can.
"""

from typing import Any

from wikisum.pipeline.store.clients import s3_settings


def abort_uploads(folder: str) -> int:
    """Abort the incomplete uploads below a folder of S3; return how many there were.

    Call it only while holding the lock of the folder. On Google Cloud Storage nothing is done.
    """
    if not folder.startswith("s3://"):
        return 0
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = folder.removeprefix("s3://").partition("/")
    prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    try:
        client = _client()
        pages = client.get_paginator("list_multipart_uploads").paginate(
            Bucket=bucket, Prefix=prefix
        )
        found = [upload for page in pages for upload in page.get("Uploads", ())]
        for upload in found:
            client.abort_multipart_upload(
                Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
            )
    except (BotoCoreError, ClientError) as error:
        raise OSError(f"{folder}: incomplete uploads were not deleted: {error}") from error
    return len(found)


def _client() -> Any:
    import boto3

    settings = s3_settings()
    return boto3.client(
        "s3",
        endpoint_url=settings["endpoint"],
        region_name=settings["region"],
        aws_access_key_id=settings["access_key_id"],
        aws_secret_access_key=settings["secret_access_key"],
        aws_session_token=settings["session_token"],
    )
