"""moto's S3 server on loopback, behind a proxy that can make faults.

It runs in a thread, or in a process of its own that can be killed. moto keeps everything in memory, but
records each request in a file. A process that is started again repeats them before the proxy passes anything
on: as if its state were on a disk.
"""

import http.client
import itertools
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.server import ThreadedMotoServer

_DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
_BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_GONE = b"<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"
_FAULTS = {"busy": (503, _BUSY), "denied": (403, _DENIED), "gone": (404, _GONE)}
_NAMES = itertools.count(1)


class S3:
    """The server as a store needs it.

    Attributes:
        environment: variables for obstore; the key is searched for in what a run writes.
        fault: called with method and path of each request; returns None, a key of `_FAULTS`, `reset` (it is
            not passed on), `lost` (it is, and the answer is lost) or `slow` (it is, and the client waits for
            an answer until it gives up).
        requests: method and path of each request.
    """

    def __init__(self, port, proxy):
        self._port = port
        self.fault = lambda _method, _path: None
        self.requests = []
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy}",
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_REGION": "us-east-1",
        }

    def bucket(self):
        """Create a bucket and return its address, with a prefix."""
        name = f"bucket-{next(_NAMES)}"
        self.send("PUT", f"/{name}")
        return f"s3://{name}/team/study"

    def send(self, method, path, body=b"", headers=()):
        """Send a request to moto and return its answer."""
        return _send(self._port(), method, path, body, headers)


class MotoProcess:
    """moto in a process of its own."""

    def __init__(self, folder):
        self._record = folder / "requests.jsonl"
        self._process = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = self.port = probe.getsockname()[1]

    def start(self):
        """Start it, with the state that it had."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)],
            env={
                **os.environ,
                "MOTO_ENABLE_RECORDING": "true",
                "MOTO_RECORDER_FILEPATH": str(self._record),
                "NO_PROXY": "*",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 120
        while True:
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", self._port)).close()
                break
            assert self._process.poll() is None, "moto did not start"
            assert time.monotonic() < deadline, "moto does not answer"
            time.sleep(0.05)
        if self._record.exists():
            whole = self._record.read_bytes()
            self._record.write_bytes(whole[: whole.rfind(b"\n") + 1])  # a request that was cut was not done
            assert _send(self._port, "POST", "/moto-api/recorder/replay-recording")[0] == 200
        self.port = self._port

    def kill(self):
        """End it as a crash does."""
        self.port = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _send(port, method, path, body=b"", headers=()):
    if port is None:
        raise ConnectionRefusedError
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheaders()
    finally:
        connection.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _pass_on(self):
        s3 = self.server.s3
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        s3.requests.append((self.command, self.path))
        fault = s3.fault(self.command, self.path)
        if fault in _FAULTS:
            return self._answer(*_FAULTS[fault], [])
        if fault != "reset":
            status, data, headers = s3.send(self.command, self.path, body, self.headers.items())
        if fault == "slow":
            self.connection.settimeout(60)
            self.connection.recv(1)  # until the client hangs up
        if fault in ("reset", "lost", "slow"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return self.connection.close()
        return self._answer(status, data, headers)

    def _answer(self, status, data, headers):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = dict(headers).get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (OSError, ValueError, http.client.HTTPException):  # one of both sides was killed, or a fault
            self.close_connection = True

    def log_message(self, *_):
        pass

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815 -- names of the base class


@contextmanager
def s3_server():
    """Run the server in a thread and yield its `S3`."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)  # a line for each request
    with ExitStack() as stack:
        moto.start()
        stack.callback(moto.stop)
        yield stack.enter_context(_proxy(lambda: moto.get_host_and_port()[1]))


@contextmanager
def s3_process(folder):
    """Run the server in a process and yield its `S3` and the `MotoProcess`."""
    moto = MotoProcess(folder)
    with ExitStack() as stack:
        stack.callback(moto.kill)
        moto.start()
        yield stack.enter_context(_proxy(lambda: moto.port)), moto


@contextmanager
def _proxy(port):
    """Run a proxy to what listens at `port()`, None while nobody does; yield its `S3`."""
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    proxy.daemon_threads = True
    proxy.s3 = S3(port, proxy.server_port)
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield proxy.s3
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
