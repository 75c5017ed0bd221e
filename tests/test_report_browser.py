"""The page in a real browser: no errors, no network, every link, the keyboard, light and dark, phone and paper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from brokerlaw.report import write_all
from brokerlaw.report.against import with_changes
from brokerlaw.report.build import content_from
from brokerlaw.report.write import write_formats

from . import report_samples as samples
from .browser import Browser, browser_program

PAGES = ("broken", "clean", "several", "harmful", "changed")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"broken": samples.broken(), "clean": samples.clean()}
    made |= {"several": samples.several(), "harmful": samples.harmful()}
    pages = {name: write_all(data, folder / name)[0] for name, data in made.items()}
    changed = with_changes(content_from(made["broken"]), content_from(made["clean"]), "last-night")
    return {**pages, "changed": write_formats(changed, {"html": folder / "changed.html"})[0]}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = browser_program()
    if program is None:
        pytest.skip("there is no Chromium here, and it could not be installed")
    running = Browser(program, tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


@pytest.mark.parametrize("name", PAGES)
def test_it_loads_nothing_but_itself_and_has_no_errors(name: str, browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages[name])
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [pages[name].as_uri()]
    assert browser.run("document.scripts.length") == 0


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_place_and_ids_are_given_once(
    name: str, browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages[name])
    links = browser.run("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    assert len(links) > 10
    assert [link for link in links if not link.startswith("#")] == []
    assert (
        browser.run("[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.hash.slice(1))).length")
        == 0
    )
    ids = browser.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", PAGES)
def test_headings_are_in_order_and_tables_say_what_they_are(
    name: str, browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages[name])
    levels = browser.run("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert browser.run("[...document.querySelectorAll('table')].filter(t => !t.caption).length") == 0
    assert browser.run("[...document.querySelectorAll('th')].filter(t => !t.scope).length") == 0
    assert browser.run("[...document.querySelectorAll('svg')].filter(s => !s.getAttribute('aria-label')).length") == 0
    assert browser.run("document.documentElement.lang") == "en"


def test_every_finding_has_its_replay_command_and_its_picture(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"])
    found = "[...document.querySelectorAll('.finding')]"
    assert browser.run(f"{found}.map(f => f.querySelector('.replay').textContent.startsWith('brokerlaw replay '))") == [
        True
    ]
    assert browser.run(f"{found}.map(f => f.querySelectorAll('svg.timeline .mark').length)") == [1]


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"])
    active = "(e => [e.tagName, e.className, [...document.querySelectorAll('*')].indexOf(e)])(document.activeElement)"
    expected = browser.run("document.querySelectorAll('a[href], summary, [tabindex=\"0\"]').length")
    seen: list[Any] = []
    for _ in range(expected):
        browser.press_tab()
        seen.append(browser.run(active))
    assert seen[0][:2] == ["A", "skip"]
    places = [place for _, _, place in seen]
    hidden = browser.run("document.querySelectorAll('details:not([open]) [tabindex=\"0\"]').length")
    reached = places[: expected - hidden]
    assert reached == sorted(set(reached)), "nothing twice, nothing out of order"
    browser.open(pages["broken"])
    browser.press_tab()
    outline = browser.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus can be seen"
    assert browser.run("document.activeElement.getBoundingClientRect().left") >= 0, (
        "the skip link shows when it has focus"
    )


def test_light_and_dark_are_readable(browser: Browser, pages: dict[str, Path]) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        browser.open(pages["broken"], scheme=scheme)
        grounds[scheme] = browser.run("getComputedStyle(document.body).backgroundColor")
        ratios = browser.run(CONTRASTS)
        assert min(ratios.values()) >= 4.5, {what: ratio for what, ratio in ratios.items() if ratio < 4.5}
    assert grounds["light"] != grounds["dark"]


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_scrolling_to_the_side(name: str, browser: Browser, pages: dict[str, Path]) -> None:
    for width in (320, 390):
        browser.open(pages[name], width=width, height=800, scheme="dark")
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("name", ["broken", "harmful"])
def test_it_can_be_printed(name: str, browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages[name], scheme="dark", media="print")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    heights = browser.run("[...document.querySelectorAll('details > :not(summary)')].map(e => e.offsetHeight)")
    assert min(heights) > 0, "what is folded away on a screen is there on paper"
    printed = browser.pdf()
    assert printed.startswith(b"%PDF-")
    assert len(printed) > 20_000


CONTRASTS = """
(() => {
  const part = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = part(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const found = {};
  const texts = 'p, li, th, td, caption, code, a, summary, h1, h2, h3, .source, .evidence';
  for (const e of document.querySelectorAll(texts)) {
    if (!e.checkVisibility() || !e.textContent.trim()) continue;
    const [a, b] = [light(part(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), name = e.tagName + '.' + e.className;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
})()
"""
