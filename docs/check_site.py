"""Check the built site: links, sizes, that nothing is loaded from elsewhere, and accessibility.

    python docs/check_site.py docs/_build/html

Accessibility is checked with axe in Chromium, light and dark, on a phone and a desktop; where there
is no Chromium this part is left out, and a line says so.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 1_000_000
"""Bytes of a page with its styles and scripts, without pictures."""
SERIOUS = {"serious", "critical"}
SCREENS = {"desktop": (1280, 800), "phone": (390, 844)}
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links, the anchors and the resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.resources: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect what the tag refers to."""
        found = {name: value for name, value in attributes if value is not None}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") != "canonical":
            self.resources.append((tag, found[LOADED[tag]]))


def read_pages(folder: Path) -> dict[Path, Page]:
    """Read every page of the site."""
    return {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts and "_downloads" not in path.parts
    }


def broken_links(folder: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each link within the site that leads nowhere."""
    for path, page in pages.items():
        for link in [*page.links, *(link for _, link in page.resources)]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(folder)}: {link} does not exist"
                continue
            fragment = unquote(parts.fragment)
            if fragment and target in pages and fragment not in pages[target].anchors:
                yield f"{path.relative_to(folder)}: {link} has no such anchor"


def remote_resources(folder: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each script, style and picture that would be loaded from another site."""
    for path, page in pages.items():
        for tag, link in page.resources:
            if urlsplit(link).netloc:
                yield f"{path.relative_to(folder)}: <{tag}> loads {link}"


def large_pages(folder: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each page that is too large, pictures left out."""
    for path, page in pages.items():
        size = path.stat().st_size
        for _, link in page.resources:
            target = path.parent / unquote(urlsplit(link).path)
            # Other links of a head lead to pages that are read when someone follows them.
            if target.suffix in (".css", ".js") and target.is_file():
                size += target.stat().st_size
        if size > LARGEST:
            yield f"{path.relative_to(folder)}: {size:,} bytes without pictures"


def accessibility(folder: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each serious finding of axe, with the first element that it concerns."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    axe = Axe()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for number, path in enumerate(pages):
            # Every page in one way, in turn: what is wrong with a theme shows on many pages.
            screen = list(SCREENS)[number % 2]
            scheme = ("light", "dark")[number // 2 % 2]
            width, height = SCREENS[screen]
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth")
            name = f"{path.relative_to(folder)} ({screen}, {scheme})"
            if wide > width:
                yield f"{name}: {wide} pixels wide, so it scrolls sideways"
            for finding in axe.run(page).response["violations"]:
                if finding["impact"] in SERIOUS:
                    element = finding["nodes"][0]["html"][:150]
                    count = len(finding["nodes"])
                    yield f"{name}: {finding['help']} ({finding['id']}, {count} times): {element}"
            page.close()
        browser.close()


def main() -> int:
    """Print every problem; return 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of the built site")
    folder = parser.parse_args().folder.resolve()
    pages = read_pages(folder)
    problems = [
        *broken_links(folder, pages),
        *remote_resources(folder, pages),
        *large_pages(folder, pages),
    ]
    if shutil.which("chromium"):
        problems += accessibility(folder, pages)
    else:
        print("no chromium: accessibility is not checked")
    print("\n".join(problems) or f"{len(pages)} pages: nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
