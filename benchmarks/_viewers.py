"""Viewers of the lab's page: a browser that counts what it draws, and connections that only read, or not even that."""

import asyncio
import importlib
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
chromium: Any = importlib.import_module("chromium")

SIZE: Any = {"width": 1100, "height": 700}
"""Of the browser's window [pixel]."""
COUNT = """
(() => {
  const sums = new Map(), changes = new Map(), changed = new Set();
  let drew = false, frames = 0;
  const gl = WebGL2RenderingContext.prototype;
  const watch = (name, look) => {
    const original = gl[name];
    gl[name] = function (...given) { look(given); return original.apply(this, given); };
  };
  for (const name of ["drawElements", "drawElementsInstanced"]) watch(name, () => { drew = true; });
  watch("texSubImage2D", (given) => {  // poses of shapes are floats in a texture
    for (const data of given) {
      if (!(data instanceof Float32Array)) continue;
      const sum = data.reduce((total, each) => total + each, 0);
      if (sums.get(data) !== sum) changed.add(data);
      sums.set(data, sum);
    }
  });
  const tick = () => {
    if (drew) {
      frames += 1;
      for (const each of changed) changes.set(each, (changes.get(each) ?? 0) + 1);
      changed.clear();
    }
    drew = false;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.counted = () => ({ frames, updates: Math.min(...[...changes.values()].filter((each) => each > 1)) });
})();
"""
"""Counts frames, and those that show other poses than the frame before, of the shapes for which these are fewest."""


class Page:
    """A page of a browser, which is asked by Chromium's own protocol.

    Playwright would make the browser copy every message that the page gets, and so slow down what is measured.
    """

    def __init__(self, connection: Any) -> None:
        """Take a connection to the page."""
        self._connection, self._asked = connection, 0

    def ask(self, method: str, **parameters: object) -> Any:
        """Call a method of the protocol."""
        self._asked += 1
        self._connection.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._connection.recv(timeout=60.0))
            if answer.get("id") == self._asked:
                return answer["result"]

    def evaluate(self, expression: str) -> Any:
        """Value of an expression of JavaScript."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")


@contextmanager
def browser(address: str) -> Iterator[Page]:
    """A page in headless Chromium; ``page.evaluate("counted()")`` says what it has drawn."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory() as folder:
        options = [f"--user-data-dir={folder}", "--remote-debugging-port=0", "--no-first-run"]
        command = [chromium.find(), "--headless", *options, *chromium.FLAGS, "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_page_of(Path(folder)), max_size=None) as connection:
                page = Page(connection)
                page.ask("Emulation.setDeviceMetricsOverride", **SIZE, deviceScaleFactor=1, mobile=False)
                page.ask("Page.enable")
                page.ask("Page.addScriptToEvaluateOnNewDocument", source=COUNT)
                page.ask("Page.navigate", url=address)
                yield page
        finally:
            process.terminate()
            process.wait()


def _page_of(folder: Path) -> str:
    """Address of the only page of a browser that has just been started."""
    port = folder / "DevToolsActivePort"
    for _ in range(600):
        time.sleep(0.1)
        if port.exists() and (number := port.read_text().partition("\n")[0]):
            with urlopen(f"http://127.0.0.1:{number}/json") as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
    raise TimeoutError("the browser did not start")


@contextmanager
def readers(address: str, count: int, silent: int) -> Iterator[Any]:
    """Connections in a process of their own: ``count`` in all, of which ``silent`` never read.

    Yields:
        How many bytes the others have read.
    """
    context = multiprocessing.get_context("spawn")
    read, ready = context.Value("q", 0), context.Event()
    process = context.Process(target=_work, args=(address, count, silent, read, ready), daemon=True)
    process.start()
    if not ready.wait(60.0):
        raise TimeoutError("the viewers did not connect")
    yield read
    process.terminate()
    process.join()


def _work(address: str, count: int, silent: int, read: Any, ready: Any) -> None:
    asyncio.run(_connect(address, count, silent, read, ready))


async def _connect(address: str, count: int, silent: int, read: Any, ready: Any) -> None:
    import viser
    from websockets.asyncio.client import connect

    where = f"ws://{urlsplit(address).netloc}/"
    options: dict[str, Any] = {
        "subprotocols": [f"viser-v{viser.__version__}"],
        "max_size": None,
        "max_queue": 4,
        "compression": None,
    }
    opened = [await connect(where, **options) for _ in range(count)]

    async def listen(connection: Any) -> None:
        async for message in connection:
            read.value += len(message)

    ready.set()
    await asyncio.gather(*(listen(each) for each in opened[silent:]))
