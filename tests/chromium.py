"""Finds a Chromium for the tests in a browser, or installs one: `python tests/chromium.py`, which `make test` runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--disable-background-networking",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
]
"""Draw without a graphics card, as a user's browser does that finds none, and talk to nobody but the page."""


def find() -> str | None:
    """Path of a Chromium: of the system, or one that Playwright has downloaded."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def install() -> None:
    """Install Debian's package as root, or else let Playwright download its own."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing chromium (once; a minute or two) ...", flush=True)
        subprocess.run(["apt-get", "update"], **quiet)
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], **quiet)
    if find() is None:
        print("Downloading a Chromium for Playwright (once; a minute or two) ...", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], **quiet)


if __name__ == "__main__":
    if find() is None:
        install()
    if find() is None:
        print("No Chromium could be found or installed: the tests in a browser are skipped.")
