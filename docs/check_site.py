"""Is the built site whole, and does it need nothing from elsewhere? ``python docs/check_site.py build/docs``.

Every link to a page or a place in one must lead somewhere; scripts, styles, fonts and pictures must be files of the
site. Links that a reader may follow to other sites are theirs to follow.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("link", "href"), ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("use", "href")}
IN_STYLES = re.compile(r"url\(\s*['\"]?(?P<address>[^'\")\s]+)|@import\s+['\"](?P<imported>[^'\"]+)")


class _Page(HTMLParser):
    """What a page links to, what it fetches, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in FETCHED:
                self.fetched.add(value)
            elif name == "href":
                self.links.add(value)
            elif name == "style":
                self.fetched |= set(_in_style(value))


def _in_style(text: str) -> list[str]:
    return [found["address"] or found["imported"] for found in IN_STYLES.finditer(text)]


def faults(site: Path) -> list[str]:
    """What is wrong, a line each.

    A link is wrong if there is no such file or place; a thing fetched is wrong if it is not a file of the site.
    """
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = [] if pages else [f"{site}: there is no page"]
    for path, page in pages.items():
        where = str(path.relative_to(site.resolve()))
        found += [f"{where}: fetches {address}" for address in sorted(page.fetched) if not _is_own(site, path, address)]
        for link in sorted(page.links | page.fetched):
            fault = _fault_of(link, path, pages)
            found += [f"{where}: {fault}"] if fault else []
    for style in site.rglob("*.css"):
        addresses = _in_style(style.read_text(encoding="utf-8"))
        found += [f"{style.relative_to(site)}: fetches {one}" for one in addresses if not _is_own(site, style, one)]
    return found


def _is_own(site: Path, page: Path, address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme == "data" or not (parts.scheme or parts.netloc or parts.path):
        return True
    target = (page.parent / unquote(parts.path)).resolve()
    return not parts.scheme and not parts.netloc and target.is_relative_to(site.resolve()) and target.exists()


def _fault_of(link: str, path: Path, pages: dict[Path, _Page]) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"leads to {link}, which is not there"
    place = unquote(parts.fragment)
    if place and target in pages and place not in pages[target].places:
        return f"leads to {link}, and there is no such place"
    return None


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else "every link leads somewhere, and nothing is fetched from elsewhere")
    sys.exit(1 if wrong else 0)
