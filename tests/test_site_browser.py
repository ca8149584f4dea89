"""The built site in a real browser: found, searched, read at night and on a phone."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urljoin

import pytest

from support.browser import NEEDS_BROWSER, browsing

SITE = Path(__file__).parents[1] / "docs" / "site"
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
NARROW = (
    "index.html", "getting_started.html", "from_diffprivlib.html", "choosing_epsilon.html",
    "printed_and_true.html", "generated/gallery/index.html", "generated/gallery/plot_tuning.html",
    "generated/api/linear_model.html", "generated/proofs/gaussian_sum.html",
    "notebooks/hospital_readmission.html",
    "generated/api/names/discreet.linear_model.LinearClassifier.html",
)  # fmt: skip
"""Pages of every kind: prose, tables, pictures, mathematics, code, a notebook with a card."""

OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
BROKEN_PICTURES = """
const isBroken = each => !(each.complete && each.naturalWidth);
return [...document.images].filter(isBroken).map(each => each.src);
"""

pytestmark = [
    NEEDS_BROWSER,
    pytest.mark.skipif(
        not (SITE / "index.html").exists(), reason="the site is not built; `make docs` builds it"
    ),
]


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a log."""

    def log_message(self, format, *args):
        pass


@contextmanager
def serving(folder):
    """Serve the files of a folder from a thread of this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def site():
    with serving(SITE) as url:
        yield url


@pytest.fixture(scope="module")
def driver():
    with browsing() as made:
        yield made


@pytest.fixture
def wait(driver):
    from selenium.webdriver.support.ui import WebDriverWait

    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.set_window_size(1300, 900)
    driver.get_log("browser")
    yield WebDriverWait(driver, 120)
    told = driver.get_log("browser")
    assert [line for line in told if line["level"] in ("SEVERE", "WARNING")] == []


def find(driver, selector):
    return driver.find_elements("css selector", selector)


def shown(driver, selector):
    return [each for each in find(driver, selector) if each.is_displayed()]


def test_a_reader_gets_about(driver, site, wait):
    driver.get(site)
    assert "Discreet" in driver.title
    tops = [link.text for link in shown(driver, ".bd-header .nav-link")]
    assert {"Getting started", "User guide"} <= set(tops)
    next(
        link for link in shown(driver, ".bd-header a.nav-link") if link.text == "User guide"
    ).click()
    wait.until(lambda _: driver.current_url.endswith("guide.html"))
    side = shown(driver, ".bd-sidebar-primary nav a.reference")
    next(link for link in side if "planning.html" in link.get_attribute("href")).click()
    wait.until(lambda _: driver.current_url.endswith("planning.html"))
    (onwards,) = shown(driver, "a.right-next")
    onwards.click()
    wait.until(lambda _: not driver.current_url.endswith("planning.html"))
    assert shown(driver, "h1")


@pytest.mark.parametrize("word", ["clipping", "sensitivity", "LinearClassifier"])
def test_search_finds_the_words_of_the_trade(driver, site, wait, word):
    driver.get(urljoin(site, f"search.html?q={word}"))
    wait.until(lambda _: shown(driver, "#search-results li a"))


def test_the_theme_turns_dark_and_light_again(driver, site, wait):
    driver.get(site)
    theme = "return document.documentElement.dataset.theme"
    behind = "return getComputedStyle(document.body).backgroundColor"
    colours = []
    for wanted in ("dark", "light"):
        shown(driver, "button.theme-switch-button")[0].click()
        choice = f"button.theme-change-button[data-mode={wanted}]"
        wait.until(lambda _, choice=choice: shown(driver, choice))[0].click()
        assert driver.execute_script(theme) == wanted
        colours.append(driver.execute_script(behind))
    assert colours[0] != colours[1]


@pytest.mark.parametrize("page", NARROW)
def test_pages_fit_a_phone_and_their_pictures_load(driver, site, wait, page):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    driver.get(urljoin(site, page))
    wait.until(lambda _: driver.execute_script("return document.readyState") == "complete")
    assert driver.execute_script(OVERFLOW) <= 0
    driver.execute_script("for (const each of document.images) each.loading = 'eager'")
    wait.until(lambda _: driver.execute_script(BROKEN_PICTURES) == [])


def test_the_menu_opens_on_a_phone(driver, site, wait):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    driver.get(urljoin(site, "guide.html"))
    assert not shown(driver, ".bd-sidebar-primary a, #pst-primary-sidebar-modal a")
    shown(driver, "button.primary-toggle")[0].click()
    wait.until(lambda _: shown(driver, ".bd-sidebar-primary a, #pst-primary-sidebar-modal a"))


def test_mathematics_is_set_without_the_network(driver, site, wait):
    driver.get(urljoin(site, "generated/api/names/discreet.losses.Logistic.html"))
    wait.until(lambda _: find(driver, "mjx-container"))
    loaded = "return performance.getEntriesByType('resource').map(each => each.name)"
    assert [name for name in driver.execute_script(loaded) if not name.startswith(site)] == []
