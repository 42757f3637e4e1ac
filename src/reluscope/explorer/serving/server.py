"""The explorer on a page of this machine: a small HTTP server of the standard library that answers nobody else.

It listens on 127.0.0.1. The page, which anyone here may read, holds nothing; questions need the token, which is in the
part of the address that browsers keep to themselves, and have to come from the page itself: ``Host`` and ``Origin`` are
compared as they are, scheme and port included, so that no other site can ask, whatever name it gives this address.

One request a connection, which has to arrive whole within some seconds; a bounded number of connections at once.
"""

import contextlib
import errno
import hmac
import io
import json
import os
import secrets
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any

from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.bundled import program
from reluscope.explorer.exchange.wire import pack
from reluscope.explorer.serving.desk import Desk

HOST = "127.0.0.1"
MAX_BODY = 2**20  # a question names at most some thousand points
MAX_CONNECTIONS = 32
MAX_UNREAD = 2**24
PATIENCE = 10.0  # seconds for a request to arrive
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
BYTES = "application/octet-stream"
PAGES = {"/": "text/html", "/explorer.js": "text/javascript"}


class Server(socketserver.ThreadingTCPServer):
    """Serves the explorer's page and answers its questions.

    Port 0 is any that is free; InputError if the port is in use or may not be used.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # there it would let two servers share a port
    request_queue_size = 64

    def __init__(self, desk: Desk, port: int = 0, *, patience: float = PATIENCE) -> None:
        self.desk, self.patience = desk, patience
        self.token = secrets.token_urlsafe(24)
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        try:
            super().__init__((HOST, port), _Request)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = "is in use" if error.errno == errno.EADDRINUSE else "may not be used by you"
            raise InputError(f"port {port} {why}: name another, or none for any that is free") from error
        self.port: int = self.server_address[1]
        names = (HOST, "localhost")
        self.hosts = frozenset(f"{name}:{self.port}" for name in names)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)

    @property
    def url(self) -> str:
        """Address of the page, with the token in the part that is not sent."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def program(self) -> str:
        """Return the source of the page's program, with the parts that this session needs."""
        return program(live=True, space=self.desk.has_solids, learn=self.desk.has_lesson)

    def start(self) -> None:
        """Serve in a thread of its own until `close`."""
        threading.Thread(target=self.serve_forever, name="reluscope explorer", daemon=True).start()

    def close(self) -> None:
        """End what is running, and stop listening."""
        self.desk.close()
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread, or close it where there are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer on a connection, and free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke: pages are closed while answers are on their way."""


class _Request(BaseHTTPRequestHandler):
    """One request: read whole, checked, answered, and the connection closed."""

    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version, sys_version = "reluscope", ""
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_Patient(self.connection, self.server.patience))

    def do_GET(self) -> None:
        if not self._is_from_here(needs_origin=False):
            return
        name = self.path.partition("?")[0]
        if name not in PAGES:
            self._refuse(404, "expected / or /explorer.js")
            return
        page = (files("reluscope.explorer") / "web/page.html").read_text(encoding="utf-8")
        text = page if name == "/" else self.server.program()
        self._reply(200, f"{PAGES[name]}; charset=utf-8", text.encode())

    def do_POST(self) -> None:
        if not self._is_from_here(needs_origin=True):
            return
        given, expected = self.headers.get("Authorization") or "", f"Bearer {self.server.token}"
        if self.path != "/ask":
            self._refuse(404, "expected /ask")
        elif not hmac.compare_digest(given.encode(), expected.encode()):
            self._refuse(403, "expected the token of this explorer: open the address that it printed")
        elif (body := self._body()) is not None:
            try:
                question = json.loads(body)
            except (ValueError, RecursionError):
                wrong = {"answer": "error", "kind": "input", "message": "expected a question as JSON"}
                self._reply(400, BYTES, pack(Answer(wrong, {})))
            else:
                self._reply(200, BYTES, pack(self.server.desk.answer(question)))

    def _is_from_here(self, *, needs_origin: bool) -> bool:
        """Tell whether the request was made by this page, and refuse it otherwise."""
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            self._refuse(403, f"expected the address {HOST}:{self.server.port}: open the one that was printed")
        elif (needs_origin or origins) and origins != [f"http://{hosts[0]}"]:
            self._refuse(403, "expected a request of this explorer's own page")
        else:
            return True
        return False

    def _body(self) -> bytes | None:
        """Return the body, or refuse it."""
        lengths = self.headers.get_all("Content-Length", [])
        is_one = len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit()
        if not is_one or "Transfer-Encoding" in self.headers:
            self._refuse(411, "expected one Content-Length")
        elif len(lengths[0]) > 9 or int(lengths[0]) > MAX_BODY:
            self._refuse(413, f"expected a question of at most {MAX_BODY:,} bytes")
        else:
            try:
                body = self.rfile.read(int(lengths[0]))
            except TimeoutError:
                body = b""
            if len(body) == int(lengths[0]):
                return body
            self._refuse(408, f"expected the whole question within {self.server.patience:g} s")
        return None

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request, without repeating what came."""
        del message, explain
        self._refuse(code, self.responses[code][0])

    def _refuse(self, code: int, sentence: str) -> None:
        """Answer with a sentence, and take what is still on its way: closing at once would take the answer back."""
        if self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"  # even so it is told
        self._reply(code, "text/plain; charset=utf-8", f"{sentence}.\n".encode())
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            left = MAX_UNREAD
            while left > 0 and (come := self.rfile.read1(2**16)):
                left -= len(come)

    def _reply(self, code: int, kind: str, body: bytes) -> None:
        self.close_connection = True
        self.send_response(code)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", POLICY),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name in the standard library)
        """Write nothing: the page says what went wrong."""


class _Patient(io.RawIOBase):
    """What comes in on a socket until a time by which all of a request has to be there."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection, self._until = connection, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(None)
