"""Shared stores that fail, stay away, deny access, or have no credentials or room."""

import os
import socket
import sys
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flows.adapters import shared_store
from flows.adapters.shared_store import FolderBlobs, ObjectBlobs, open_blobs
from flows.common.errors import ConfigError, StoreError
from flows.schema.completion import CompletionStatus
from flows.schema.settings import Retry
from flows.schema.store_address import StoreAddress
from tests.adapters.completions.helpers import (
    a_model,
    a_request,
    a_store,
    an_answer,
    ask,
)
from tests.support.scripted_server import Say, ScriptedServer, Status


@pytest.mark.parametrize("kind", ["busy", "reset", "lost"])
def test_transient_faults_are_retried(s3, tmp_path, kind):
    address = s3.bucket()
    seen = Counter()

    def fault(method, path):
        seen[method, path] += 1
        return kind if seen[method, path] % 3 == 1 and len(seen) % 2 else None

    s3.fault = fault
    with ScriptedServer(an_answer) as server:
        requests = [a_request(f"prompt {number}", server.base) for number in range(8)]
        for cache in ("one", "two"):
            outcomes = ask(f"{address} {tmp_path}/{cache}", a_model(server.base), *requests)
            assert [outcome.completion.text for outcome in outcomes] == [
                f"answer to prompt {number}" for number in range(8)
            ]
    assert len(server.billed) == 8


def test_an_answer_that_comes_too_late_is_asked_for_again(s3, monkeypatch):
    monkeypatch.setattr(shared_store, "_REQUEST_S", 1)
    blobs = open_blobs(StoreAddress.of(s3.bucket()))
    s3.requests.clear()
    s3.fault = lambda _method, _path: "slow" if len(s3.requests) == 1 else None
    assert blobs.create("a", b"one")  # the first try created it
    assert [method for method, _ in s3.requests] == ["PUT", "PUT", "GET"]
    s3.requests.clear()
    assert blobs.get("a") == b"one"
    assert [method for method, _ in s3.requests] == ["GET", "GET"]


def test_a_store_that_stays_away_is_given_up(s3, monkeypatch):
    monkeypatch.setattr(shared_store, "PATIENCE_S", 0.5)
    address = StoreAddress.of(s3.bucket())
    s3.fault = lambda _method, _path: "busy"
    blobs = ObjectBlobs(address, patience_s=0.5)
    with pytest.raises(StoreError, match=r"can't be reached for 0 s: SlowDown, Please reduce"):
        blobs.put("a", b"b")
    sent = len(s3.requests)
    with pytest.raises(StoreError, match="SlowDown"):
        blobs.get("a")  # nothing waits for it again
    assert len(s3.requests) == sent


def test_access_denied_stops_the_run_and_the_paid_reply_is_stored_by_the_next(s3, tmp_path):
    place = f"{s3.bucket()} {tmp_path}/one"
    s3.fault = lambda method, path: (
        "denied" if method == "PUT" and path.rpartition("/")[2].isalnum() else None
    )
    with ScriptedServer(an_answer) as server:
        request = a_request("prompt 1", server.base)
        (error,) = ask(place, a_model(server.base), request)
        assert isinstance(error, StoreError)
        assert error.found == "access denied: AccessDenied, Access Denied"
        assert "the paid reply is kept in" in error.remedy
        (still,) = ask_open(place)
        assert still.found == "access denied: AccessDenied, Access Denied"
        s3.fault = lambda _method, _path: None
        (outcome,) = ask(place, a_model(server.base), request)
        assert outcome.completion.text == "answer to prompt 1"
        (other,) = ask(place.replace("/one", "/two"), a_model(server.base), request)
        assert (outcome.replayed, other.replayed, len(server.billed)) == (True, True, 1)
    assert not [path for path in (tmp_path / "one" / "unsent").rglob("*") if path.is_file()]


def ask_open(place):
    """The error of opening a store."""
    try:
        a_store(place).close()
    except StoreError as error:
        return [error]
    return []


def test_a_bucket_that_is_not_there_is_named_at_once(s3):
    with pytest.raises(StoreError, match="s3://no-such-bucket/x: no such bucket: NoSuchBucket"):
        open_blobs(StoreAddress.of("s3://no-such-bucket/x"))


def test_a_bucket_that_goes_away_is_not_an_empty_store(s3):
    address = s3.bucket()
    blobs = open_blobs(StoreAddress.of(address))
    s3.fault = lambda _method, _path: "gone"
    with pytest.raises(StoreError, match="no such bucket"):
        blobs.get("completions/00/key")


def test_a_reply_that_fails_is_asked_for_again_by_another_machine(address, tmp_path):
    replies = iter([Status(400), Say("yes")])
    with ScriptedServer(lambda _call: next(replies)) as server:
        model, request = a_model(server.base), a_request("x", server.base)
        (first,) = ask(f"{address} {tmp_path}/one", model, request)
        assert first.completion.status is CompletionStatus.error
        (kept,) = ask(f"{address} {tmp_path}/two", model, request, retry=Retry.none)
        assert kept.completion.status is CompletionStatus.error
        (second,) = ask(f"{address} {tmp_path}/two", model, request)
        (third,) = ask(f"{address} {tmp_path}/one", model, request)
    assert (second.completion.text, third.completion.text, third.replayed) == ("yes", "yes", True)


def test_without_obstore_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(ConfigError, match=r"pip install 'staffbench\[cluster\]'"):
        open_blobs(StoreAddress.of("s3://bucket/x"))


@pytest.mark.parametrize("address", ["gs://bucket/x", "az://container/x"])
def test_other_clouds_open_without_a_request(address, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    assert ObjectBlobs(StoreAddress.of(address)).address == address


METADATA = {
    "gs": ["GCE_METADATA_HOST", "GCE_METADATA_IP"],
    "az": ["AZURE_MSI_ENDPOINT"],
    "s3": ["AWS_METADATA_ENDPOINT"],
}
"""Variables that say where a machine's own credentials are asked for."""


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    """No credentials of any provider; returns what sets where a machine's own are asked for."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setattr(shared_store, "_REQUEST_S", 1)
    # A retry would sleep first.
    monkeypatch.setattr(shared_store.time, "sleep", lambda _s: pytest.fail("it was tried again"))

    def at(scheme, host):
        paths = {"gs": host, "az": f"http://{host}/metadata/identity/oauth2/token", "s3": f"http://{host}"}
        for name in METADATA[scheme]:
            monkeypatch.setenv(name, paths[scheme])

    return at


@pytest.mark.parametrize("scheme", sorted(METADATA))
@pytest.mark.parametrize("asked", ["refuses", "is not there", "does not answer", "knows nothing"])
def test_without_credentials_a_bucket_is_refused_in_bounded_time(scheme, asked, no_credentials):
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        if asked == "is not there":  # what asks for a connection gets no answer, as of a full queue
            listener.listen(0)
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.settimeout(0)
                waiting.connect_ex(listener.getsockname())
        elif asked == "does not answer":
            listener.listen(50)
        elif asked == "knows nothing":
            host = f"127.0.0.1:{stack.enter_context(http_server(404))}"
        no_credentials(scheme, host)
        with pytest.raises(StoreError) as error:
            open_blobs(StoreAddress.of(f"{scheme}://bucket/x"))
    assert error.value.where == f"{scheme}://bucket/x"
    assert error.value.found.startswith("no credentials in the environment; docs/how-to/store.md names")


@contextmanager
def http_server(status):
    """A server that answers every request with `status`; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.send_error(status)

        def log_message(self, *_):
            pass

        do_GET = do_PUT = answer  # noqa: N815 -- names of the base class

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_an_account_that_is_not_named_is_asked_for(no_credentials, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME")
    with pytest.raises(ConfigError, match=r"Account must be specified.*store\.md names the variables"):
        open_blobs(StoreAddress.of("az://container/x"))


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"])
@pytest.mark.parametrize("value", ["127.0.0.1:5555", "", "https://"])
def test_an_address_of_a_service_without_a_scheme_is_named(no_credentials, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    address = "s3://bucket/x" if name.startswith("AWS") else "az://container/x"
    with pytest.raises(ConfigError, match=f"^{name}: '{value}' is no address; expected http://HOST:PORT"):
        open_blobs(StoreAddress.of(address))


def test_a_folder_without_room_names_the_path(tmp_path, full_disk):
    blobs = FolderBlobs(StoreAddress.of(str(tmp_path)))
    for write in (blobs.put, blobs.create):
        with pytest.raises(StoreError, match="No space left"):
            write("a", b"long enough")
    assert list(tmp_path.rglob("*")) == []
