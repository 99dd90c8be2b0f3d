"""Tests of pages in a browser, Debian's chromium without a screen."""

import json
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER and find_spec("selenium")),
    reason="needs selenium, chromium and chromedriver (chromium-driver in Debian)",
)

#: Contrast of every text that is seen with what is behind it; gives those that are below 4.5.
CONTRAST = """
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = (rgb) => {
  const [r, g, b] = rgb.slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (; element; element = element.parentElement) {
    const colour = channels(getComputedStyle(element).backgroundColor);
    if ((colour[3] ?? 1) === 1) return colour;
  }
  throw new Error("nothing is behind it");
};
const low = [];
let seen = 0;
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("");
  const visible = element.checkVisibility({ visibilityProperty: true }) && element.offsetWidth > 1;
  if (!text.trim() || !visible || element.tagName === "SCRIPT") continue;
  seen += 1;
  const a = luminance(channels(getComputedStyle(element).color));
  const b = luminance(behind(element));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) low.push([text.trim(), element.className, ratio]);
}
return [seen, low];
"""


@contextmanager
def chromium():
    """Start a browser, and end it after the block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


class Browser:
    """Open page in a browser."""

    def __init__(self, driver, path):
        self.driver = driver
        self.see(1280)
        for kind in ("browser", "performance"):
            driver.get_log(kind)
        driver.get(path.as_uri())

    def see(self, width, dark=False, touch=False):
        send = self.driver.execute_cdp_cmd
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": touch}
        send("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        send("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        send("Emulation.setTouchEmulationEnabled", {"enabled": touch})

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def visible_texts(self, selector):
        """Return the texts of elements that are not hidden."""
        script = """
        return [...document.querySelectorAll(arguments[0])]
          .filter((element) => element.checkVisibility({ visibilityProperty: true }))
          .map((element) => element.innerText.replace(/\\s+/g, " ").trim());
        """
        return self.run(script, selector)

    def press(self, key):
        """Press a key, which the focused element receives."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39, "ArrowDown": 40}[key]
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, **text}
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)

    def centre_of(self, selector):
        """Scroll to an element, and return the centre of its first line."""
        script = """
        arguments[0].scrollIntoView({block: "center", behavior: "instant"});
        const box = arguments[0].getBoundingClientRect();
        return {x: Math.round(box.x + box.width / 2), y: Math.round(box.y + 9)};
        """
        return self.run(script, self.find(selector))

    def point(self, selector):
        event = {"type": "mouseMoved", "button": "none", **self.centre_of(selector)}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def tap(self, selector):
        for kind, points in (("touchStart", [self.centre_of(selector)]), ("touchEnd", [])):
            event = {"type": kind, "touchPoints": points}
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    def requested_urls(self):
        """Return the addresses that the page requested, without data URLs."""
        events = [
            json.loads(line["message"])["message"] for line in self.driver.get_log("performance")
        ]
        sent = [e["params"]["request"]["url"] for e in events if e["method"].endswith("WillBeSent")]
        return {url for url in sent if not url.startswith("data:")}
