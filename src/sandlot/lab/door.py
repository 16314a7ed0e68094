"""The door of the page: who may enter, and what is served besides viser's own page.

Everything goes through one check, the page as well as its connection (a WebSocket): without a token, only a browser on
this machine that opened this page; with a token, only who knows it. viser has no such check, so its server is made with
this one put in front: `guarded` replaces the function that starts it, for as long as it takes to start, and fails if it
was not used.
"""

import hmac
import http
import logging
import mimetypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sandlot.errors import SandlotError
from sandlot.extras import need

COOKIE = "sandlot-token"
LOCAL = ("localhost", "127.0.0.1", "::1")
KEYS = "/keys"
"""Path of the connection that tells which keys are held."""
FILES = "/files/"
"""Below it are files that the lab shows, such as reports of studies."""
SOFTWARE, KEY_LISTENER = (Path(__file__).with_name(name) for name in ("software.js", "keys.js"))
TITLE = "<title>Viser</title>"
SKY = """<style>
canvas[data-engine] { background: linear-gradient(rgb(196 214 226), rgb(227 233 237) 50%, rgb(246 247 245)) }
</style>"""
"""Behind what is drawn. In the scene it would cost a sixth of the time that a browser without a graphics card draws."""
SHORTEST = 8
"""Of a token [characters]."""
STARTING = threading.Lock()
"""One server at a time is started: `guarded` replaces a function of a library."""


def check_token(host: str, token: str | None) -> None:
    """Refuse a token that is too weak, and an address of others without any.

    Raises:
        SandlotError: It says what is needed.
    """
    if token is None and host not in LOCAL[:2]:
        raise SandlotError(f"--host {host} lets others in; give them a secret with --token, or leave --host out")
    if token is not None and (not token.isalnum() or not token.isascii() or len(token) < SHORTEST):
        raise SandlotError(f"--token needs at least {SHORTEST} letters and digits, and nothing else")


class Door:
    """Checks every request.

    Attributes:
        token: Needed to enter; none if only this machine may.
        files: Files that are served, by name.
    """

    def __init__(self, token: str | None, listen: Callable[[Any], Any]) -> None:
        """Take the token, and the handler of connections to `KEYS`."""
        self.token, self._listen, self._page = token, listen, b""
        self.files: dict[str, Path] = {}
        self._lock = threading.Lock()

    def offer(self, name: str, path: Path) -> str:
        """Serve a file; returns its address on the page."""
        with self._lock:
            self.files[name] = path
        return f"{FILES}{name}"

    def check(self, target: str, headers: Any) -> tuple[http.HTTPStatus, dict[str, str]] | None:
        """Refuse a request, or send it on with the token in a cookie; None lets it pass.

        Args:
            target: Path and query of the request.
            headers: Of the request.
        """
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if origin and urlsplit(origin).netloc != host:
            return http.HTTPStatus.FORBIDDEN, {}
        if self.token is None:
            try:
                local = urlsplit(f"//{host}").hostname in LOCAL
            except ValueError:  # not an address at all
                local = False
            return None if local else (http.HTTPStatus.FORBIDDEN, {})
        parts = urlsplit(target)
        given = parse_qs(parts.query).get("token", [])
        if given:
            if not self._right(given[0]):
                return http.HTTPStatus.FORBIDDEN, {}
            cookie = f"{COOKIE}={given[0]}; Path=/; HttpOnly; SameSite=Strict"
            return http.HTTPStatus.SEE_OTHER, {"Location": parts.path or "/", "Set-Cookie": cookie}
        try:
            cookies = SimpleCookie(headers.get("Cookie", ""))
        except CookieError:
            return http.HTTPStatus.FORBIDDEN, {}
        kept = cookies.get(COOKIE)
        return None if kept and self._right(kept.value) else (http.HTTPStatus.FORBIDDEN, {})

    def _right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    def request(self, inner: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """A ``process_request`` of websockets, in front of viser's own."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        def answer(status: http.HTTPStatus, headers: dict[str, str], body: bytes = b"") -> Any:
            fixed = {
                "Cache-Control": "no-store",
                "X-Frame-Options": "DENY",
            }  # no other page may show this one in a frame
            headers = {"Content-Length": str(len(body)), **fixed, **headers}
            return Response(status.value, status.phrase, Headers(headers), body)

        def process(connection: Any, request: Any) -> Any:
            refused = self.check(request.path, request.headers)
            if refused:
                status, headers = refused
                return answer(status, headers, b"" if headers else b"403 Forbidden\n")
            path = unquote(urlsplit(request.path).path)
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return None
            if path == "/":
                return answer(http.HTTPStatus.OK, {"Content-Type": "text/html; charset=utf-8"}, self._index())
            if path.startswith(FILES):
                with self._lock:
                    file = self.files.get(path.removeprefix(FILES))
                if file is None or not file.is_file():
                    return answer(http.HTTPStatus.NOT_FOUND, {}, b"404 Not Found\n")
                kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                return answer(http.HTTPStatus.OK, {"Content-Type": kind}, file.read_bytes())
            return inner(connection, request)

        return process

    def handler(self, inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A handler of connections: the keys', or viser's own."""

        async def handle(connection: Any) -> None:
            path = urlsplit(connection.request.path).path
            await (self._listen(connection) if path == KEYS else inner(connection))

        return handle

    def _index(self) -> bytes:
        """Viser's page, with the lab's title and script."""
        if not self._page:
            self._page = page().encode()
        return self._page


def page() -> str:
    """Viser's page with the lab's title and script."""
    folder = Path(need("viser", "lab").__file__).parent
    text = (folder / "client/build/index.html").read_text(encoding="utf-8")
    if TITLE not in text:
        raise SandlotError("this version of viser has another page than the lab knows; install the one of sandlot[lab]")
    return with_scripts(text, SOFTWARE, KEY_LISTENER)


def with_scripts(text: str, *scripts: Path) -> str:
    """A page of viser with the lab's title, sky and scripts."""
    added = [f"<script>\n{each.read_text(encoding='utf-8')}</script>" for each in scripts]
    return text.replace(TITLE, "\n".join(["<title>Sandlot</title>", SKY, *added]), 1)


@contextmanager
def guarded(door: Door) -> Iterator[None]:
    """Within it, a server of viser that is started has the door in front.

    Raises:
        SandlotError: If a server was started without it.
    """
    module = need("websockets.asyncio.server", "lab")
    used: list[bool] = []

    def serve(handler: Any, *where: Any, process_request: Any, **options: Any) -> Any:
        used.append(True)
        return original(door.handler(handler), *where, process_request=door.request(process_request), **options)

    # Browsers open connections that they do not use; each would print a traceback.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with STARTING:
        original, module.serve = module.serve, serve
        try:
            yield
        finally:
            module.serve = original
    if not used:
        raise SandlotError("this version of viser cannot be guarded; install the one of sandlot[lab]")
