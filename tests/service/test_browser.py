"""The page in a real browser: somebody asks and reads the answer, by keyboard and on a phone."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import uvicorn

from discreet.service import KeyBook, ReleasedModel, create_app
from support.browser import NEEDS_BROWSER, browsing
from support.service_world import QUICK, StandIn, make_model

pytestmark = NEEDS_BROWSER


@contextmanager
def listening(app):
    """Serve an application from a thread of this process."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def test_somebody_asks_a_question_and_reads_the_answer(released, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait

    book = KeyBook(tmp_path / "keys.db")
    _, key = book.create_key("a browser")
    oracle = StandIn(released, cap=2)
    with listening(create_app(oracle, book, limits=QUICK)) as url, browsing() as driver:
        wait = WebDriverWait(driver, 60)

        def text(name):
            return driver.find_element(By.ID, name).text

        driver.get(url)
        wait.until(lambda _: text("state") == "up")
        assert text("title") == "A stand-in"
        assert text("promise") == released.guarantee.sentence()

        driver.find_element(By.ID, "send").click()  # without a key
        wait.until(lambda _: "A valid key is needed" in text("answer"))

        driver.find_element(By.ID, "key").send_keys(key, Keys.ENTER)
        wait.until(lambda _: "2 of 2 different questions" in text("left-words"))

        age = driver.find_element(By.ID, "field-0")
        age.clear()
        age.send_keys("47")
        Select(driver.find_element(By.ID, "field-1")).select_by_visible_text("médecine")
        age.send_keys(Keys.ENTER)  # by keyboard alone
        wait.until(lambda _: driver.find_elements(By.ID, "prediction"))
        (expected,) = oracle.known.values()
        assert text("prediction") == expected.prediction
        assert driver.find_elements(By.CSS_SELECTOR, "#picture svg circle")
        wait.until(lambda _: "1 of 2 different questions" in text("left-words"))
        assert float(driver.find_element(By.ID, "bar").get_property("value")) == 0.5

        cells = [cell.text for cell in driver.find_elements(By.CSS_SELECTOR, "#before-rows td")]
        assert cells == ["47", "médecine", expected.prediction]

        phone = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360

        frame = driver.find_element(By.CSS_SELECTOR, "iframe")
        driver.execute_script("arguments[0].scrollIntoView()", frame)
        driver.switch_to.frame(frame)
        wait.until(lambda _: driver.find_elements(By.CSS_SELECTOR, "h1"))
        driver.switch_to.default_content()
        severe = [
            line["message"] for line in driver.get_log("browser") if "401" not in line["message"]
        ]
        assert severe == []  # nothing that the policy of the page forbids
    book.close()


def test_an_open_service_asks_for_no_key_and_any_name_may_be_asked(tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    model = make_model()
    model.feature_names_in_ = np.array(["__proto__", "ward"], dtype=object)
    with (
        listening(create_app(ReleasedModel(model), None, limits=QUICK)) as url,
        browsing() as driver,
    ):
        wait = WebDriverWait(driver, 60)
        driver.get(url)
        wait.until(lambda _: "no end to them" in driver.find_element(By.ID, "left-words").text)
        assert not driver.find_element(By.ID, "key").is_displayed()
        driver.find_element(By.ID, "send").click()
        wait.until(lambda _: driver.find_elements(By.ID, "prediction"))
        driver.save_screenshot(str(tmp_path / "page.png"))
        assert driver.find_element(By.ID, "prediction").text in ("home", "back")


def test_what_is_left_is_shown_though_it_is_told_late(released, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    book = KeyBook(tmp_path / "keys.db")
    _, key = book.create_key("a browser")
    padded = replace(QUICK, pad=0.1)
    with (
        listening(create_app(StandIn(released, cap=2), book, limits=padded)) as url,
        browsing() as driver,
    ):
        wait = WebDriverWait(driver, 60)
        driver.get(url)
        driver.find_element(By.ID, "key").send_keys(key, Keys.ENTER)
        words = driver.find_element(By.ID, "left-words")
        wait.until(lambda _: "2 of 2 different questions" in words.text)
        driver.find_element(By.ID, "send").click()
        wait.until(lambda _: "1 of 2 different questions" in words.text)
    book.close()
