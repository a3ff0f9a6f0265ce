"""An S3-compatible server on loopback: moto's, with a bucket that is empty at the start."""

import logging
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import s3fs
from moto.server import ThreadedMotoServer

BUCKET = "docs"


@contextmanager
def s3_server() -> Generator[str]:
    """Serve, with what the driver reads from the environment set; yields `s3://<bucket>`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    # All servers of a process share their buckets.
    reset = urllib.request.Request(f"http://{host}:{port}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset).close()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "any")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "any")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # A driver's object lives as long as its process and would keep an earlier address.
        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir(BUCKET)
        try:
            yield f"s3://{BUCKET}"
        finally:
            s3fs.S3FileSystem.clear_instance_cache()
            server.stop()
