"""Viewers of the lab's page: a browser that counts what it draws, and connections that only read, or not even that."""

import asyncio
import importlib
import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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


@contextmanager
def browser(address: str) -> Iterator[Any]:
    """A page in headless Chromium; ``page.evaluate("counted()")`` says what it has drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
        page = opened.new_page(viewport=SIZE)
        page.add_init_script(COUNT)
        page.goto(address)
        page.locator("canvas").first.wait_for(timeout=60_000)
        yield page
        opened.close()


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
