"""Who may see the page."""

import http.client
import socket
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from sandlot.errors import SandlotError
from sandlot.lab.door import COOKIE, Door, guarded
from sandlot.lab.lab import Lab

TOKEN = "abcdefgh1234"


@pytest.fixture(scope="module")
def local():
    lab = Lab(0, tabs=False)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def shared():
    lab = Lab(0, "0.0.0.0", TOKEN, tabs=False)
    yield lab
    lab.close()


def get(lab, target="/", **headers):
    port = urlsplit(lab.address).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", target, headers={"Host": f"localhost:{port}", **headers})
    answer = connection.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def join(lab, path="/", **headers):
    """Connect as the page does; returns whether something comes."""
    port = urlsplit(lab.address).port
    protocol = "viser-v" + __import__("viser").__version__
    with connect(f"ws://localhost:{port}{path}", subprotocols=[protocol], additional_headers=headers) as connection:
        return bool(connection.recv(timeout=10))


def test_this_machine_gets_the_page_and_its_connection(local):
    status, body, _ = get(local)
    assert status == 200
    assert b"<title>Sandlot</title>" in body
    assert b"KeyW" in body
    assert join(local)


def test_only_this_machine_is_listened_to(local):
    addresses = {each[4][0] for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with pytest.raises(OSError):  # noqa: PT011 its text differs between systems
            socket.create_connection((address, urlsplit(local.address).port), timeout=2)


def test_pages_of_others_cannot_use_it(local):
    assert get(local, Host="evil.example")[0] == 403
    assert get(local, Origin="http://evil.example")[0] == 403
    with pytest.raises(InvalidStatus, match="403"):
        join(local, Origin="http://evil.example")


def test_files_are_served_by_name_only(local, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("hello")
    assert local.door.offer("a/report.html", page) == "/files/a/report.html"
    assert get(local, "/files/a/report.html")[:2] == (200, b"hello")
    assert get(local, "/files/../door.py")[0] == 404
    assert get(local, "/files/other.html")[0] == 404
    assert get(local, "/../../etc/passwd")[0] == 404


@pytest.mark.parametrize("target", ["/", "/?token=", "/?token=wrong", f"/?token={TOKEN}x", "/files/x", "/keys"])
def test_a_wrong_token_gets_nothing(shared, target):
    status, body, headers = get(shared, target)
    assert (status, body) == (403, b"403 Forbidden\n")
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize("path", ["/", "/keys", "/?token=wrong"])
@pytest.mark.parametrize("headers", [{}, {"Cookie": f"{COOKIE}=wrong"}, {"Cookie": ";=;[]"}])
def test_a_wrong_token_gets_no_connection(shared, path, headers):
    with pytest.raises(InvalidStatus, match="403"):
        join(shared, path, **headers)


def test_the_token_lets_in(shared):
    status, _, headers = get(shared, f"/?token={TOKEN}")
    assert (status, headers["Location"]) == (303, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    cookie = headers["Set-Cookie"].split(";")[0]
    assert get(shared, Cookie=cookie)[0] == 200
    assert join(shared, Cookie=cookie)


def test_others_need_a_token():
    with pytest.raises(SandlotError, match="--token"):
        Lab(0, "0.0.0.0")
    with pytest.raises(SandlotError, match="8 letters"):
        Lab(0, "0.0.0.0", "short")


def test_a_port_in_use_is_one_line(local):
    with pytest.raises(SandlotError, match="choose another with --port"):
        Lab(urlsplit(local.address).port)


def test_a_server_without_the_door_is_refused():
    with pytest.raises(SandlotError, match="cannot be guarded"), guarded(Door(None, lambda _: None)):
        pass
