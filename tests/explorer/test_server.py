"""The server over bare sockets: whom it answers, what it refuses, and that nothing keeps it from answering the next."""

import json
import socket
import threading
import time

import numpy as np
import pytest

from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.wire import unpack
from reluscope.explorer.serving.server import MAX_BODY, MAX_CONNECTIONS, PAGES, Server


class Echo:
    """Answers with the question; waits first where it is told to."""

    has_solids = False
    has_lesson = False

    def __init__(self):
        self.go_on = threading.Event()
        self.is_closed = False

    def answer(self, question):
        if question == {"ask": "wait"}:
            self.go_on.wait(10)
            self.go_on.clear()
        return Answer({"answer": question}, {"one": np.arange(3, dtype=np.int32)})

    def close(self):
        self.is_closed = True


@pytest.fixture(scope="module")
def server():
    made = Server(Echo(), patience=0.5)
    made.start()
    yield made
    made.close()


def once(server, raw, patience):
    """Send bytes over a connection of its own, and return status, headers and body of what comes back."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        connection.sendall(raw)
        come = b""
        while chunk := connection.recv(2**16):
            come += chunk
    if not come:
        raise ConnectionError("expected an answer, and the server hung up")
    head, _, body = come.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


def asking(server, body=b'{"ask": "hello"}', *, method="POST", path="/ask", without=(), **given):
    """Return the bytes of a request as the page makes it, with some headers changed or left out."""
    headers = {
        "Host": f"127.0.0.1:{server.port}",
        "Origin": f"http://127.0.0.1:{server.port}",
        "Authorization": f"Bearer {server.token}",
        "Content-Length": str(len(body)),
    }
    headers |= {name.replace("_", "-"): value for name, value in given.items()}
    lines = [f"{name}: {value}" for name, value in headers.items() if name not in without]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body


def getting(server, path="/", host=None, **given):
    lines = [f"Host: {host or f'127.0.0.1:{server.port}'}", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()


def send(server, raw, *, patience=10.0):
    """Return what `once` does, asked again while the server hangs up: it has no place, or the machine hiccups."""
    until = time.monotonic() + patience
    while True:
        try:
            return once(server, raw, patience)
        except ConnectionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def is_alive(server):
    status, _, body = send(server, asking(server))
    return status == 200 and unpack(body).header == {"answer": {"ask": "hello"}}


def test_the_page_asks_and_is_answered(server):
    status, headers, body = send(server, asking(server, json.dumps({"ask": "x", "seq": 3}).encode()))
    assert (status, headers["Content-Length"]) == (200, str(len(body)))
    assert unpack(body).header == {"answer": {"ask": "x", "seq": 3}}
    assert unpack(body).arrays["one"].tolist() == [0, 1, 2]


def test_it_listens_on_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/#token={server.token}"
    assert len(server.token) >= 32


@pytest.mark.parametrize("path", PAGES)
def test_pages_let_nothing_else_in(server, path):
    status, headers, body = send(server, getting(server, path))
    assert status == 200
    assert len(body) > 100
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert server.token.encode() not in body


def test_a_second_name_of_this_machine_is_known(server):
    host = f"localhost:{server.port}"
    assert send(server, getting(server, host=host))[0] == 200
    assert send(server, asking(server, Host=host, Origin=f"http://{host}"))[0] == 200
    assert send(server, asking(server, Host=host))[0] == 403, "Origin is of the other name"


@pytest.mark.parametrize(
    "changed",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": "user@127.0.0.1:{port}"},
        {"Host": " "},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://127.0.0.1:{port}/"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:{port}\r\nOrigin: http://evil.example"},
        {"Host": "127.0.0.1:{port}\r\nHost: evil.example"},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer {token}x"},
        {"Authorization": "bearer {token}"},
        {"Authorization": "Bearer \xe9\xff"},
        {"Authorization": "Basic {token}"},
    ],
    ids=repr,
)
def test_strangers_are_refused(server, changed):
    given = {name: value.format(port=server.port, token=server.token) for name, value in changed.items()}
    status, headers, body = send(server, asking(server, **given))
    assert status == 403
    assert headers["Content-Type"].startswith("text/plain")
    assert body.startswith(b"expected ")
    assert b"evil" not in body
    assert is_alive(server)


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_what_is_missing_is_refused(server, name):
    assert send(server, asking(server, without=(name,)))[0] == 403


def test_a_page_of_another_site_may_not_be_framed_or_read(server):
    assert send(server, getting(server, Origin="http://evil.example"))[0] == 403
    assert send(server, getting(server, host="evil.example"))[0] == 403
    _, headers, _ = send(server, getting(server))
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"Content_Length": str(MAX_BODY + 1)}, 413),
        ({"Content_Length": "9" * 5000}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "+5"}, 411),
        ({"Content_Length": "0x5"}, 411),
        ({"Content_Length": "five"}, 411),
        ({"Content_Length": "\xb2"}, 411),
        ({"Content_Length": "5\r\nContent-Length: 6"}, 411),
        ({"Transfer_Encoding": "chunked"}, 411),
        ({"without": ("Content-Length",)}, 411),
        ({"Content_Length": "5000"}, 408),
        ({"path": "/ask/"}, 404),
        ({"path": "/../ask"}, 404),
        ({"path": "/ask?token=1"}, 404),
        ({"method": "PUT"}, 501),
        ({"method": "OPTIONS"}, 501),
    ],
    ids=repr,
)
def test_bodies_and_places_have_limits(server, given, code):
    status, _, body = send(server, asking(server, **given))
    assert status == code
    assert body.endswith(b".\n")
    assert is_alive(server)


def test_a_large_body_is_refused_before_it_is_read(server):
    raw = asking(server, Content_Length=str(10**8)) + bytes(10**6)
    assert send(server, raw)[0] == 413
    assert is_alive(server)


def test_the_largest_body_is_read(server):
    body = json.dumps({"ask": "x" * (MAX_BODY - 11)}).encode()
    assert len(body) == MAX_BODY
    assert send(server, asking(server, body))[0] == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"ask": NaN', b"'hello'", b"{} {}", b"\x00", b"9" * 5000],
    ids=lambda body: repr(body[:12]),
)
def test_what_is_no_json_is_answered_by_an_error(server, body):
    status, _, packed = send(server, asking(server, body))
    answered = unpack(packed).header
    assert (status, answered["answer"], answered["kind"]) == (400, "error", "input")
    assert is_alive(server)


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\n\r\n",
        b"GET /\r\n\r\n",
        b"HELLO\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/x\r\n\r\n",
        b"GET  /  HTTP/1.1  x\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /%00 HTTP/1.1\r\nHost: x\x00y\r\n\r\n",
        b"\x00" * 3000 + b"\r\n\r\n",
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_what_is_no_request_is_refused_and_the_next_is_send(server, raw):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        come = b""
        while chunk := connection.recv(2**16):
            come += chunk
    assert come == b"" or come.startswith((b"HTTP/1.0 4", b"HTTP/1.1 4", b"HTTP/1.0 5", b"HTTP/1.1 5"))
    assert raw[5:2000] not in come or len(raw) < 60
    assert is_alive(server)


@pytest.mark.slow
def test_one_who_sends_slowly_is_left(server):
    """However steadily bytes come: the whole request has to be there in time."""
    request = getting(server)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        with pytest.raises(OSError, match=r"."):  # noqa: PT012
            for byte in request[:-2] * 5:
                connection.sendall(bytes([byte]))
                time.sleep(0.1)
        assert time.monotonic() - began < 4 * server.patience
    assert is_alive(server)


@pytest.mark.slow
def test_many_who_say_nothing_do_not_keep_others_out_for_long(server):
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(2 * MAX_CONNECTIONS)]
    time.sleep(1.5 * server.patience)
    assert is_alive(server)
    for connection in held:
        connection.close()


def test_one_question_does_not_keep_others_waiting(server):
    waiting = threading.Thread(target=send, args=(server, asking(server, b'{"ask": "wait"}')))
    waiting.start()
    assert is_alive(server)
    assert waiting.is_alive()
    server.desk.go_on.set()
    waiting.join()


def test_one_who_leaves_early_harms_nobody(server, capfd):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(asking(server, b'{"ask": "wait"}'))
    server.desk.go_on.set()
    assert is_alive(server)
    assert capfd.readouterr() == ("", "")


def test_ports(server):
    with pytest.raises(InputError, match=f"port {server.port} is in use: name another"):
        Server(Echo(), server.port)
    other = Server(Echo())
    other.start()
    assert other.token != server.token
    assert (
        send(other, asking(server, Host=f"127.0.0.1:{other.port}", Origin=f"http://127.0.0.1:{other.port}"))[0] == 403
    )
    other.close()
    assert other.desk.is_closed
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", other.port), timeout=1)
    Server(Echo(), other.port).server_close()  # free again at once
