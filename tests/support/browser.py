# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium for tests of pages, controlled by plain WebDriver."""
import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request


def programs():
    """Returns the paths of chromedriver and of a browser; None if one of them is missing."""
    driver, binary = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    return (driver, binary) if driver and binary else None


class Browser:
    """One session of chromedriver. `ready` is a script that says whether a page that was opened is complete."""

    def __init__(self, size, dark, profile, ready):
        driver, binary = programs()
        self.ready = ready
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session = None
        port = None
        for line in self.driver.stdout:
            if "successfully on port " in line:
                port = line.split("on port ")[1].strip().rstrip(".")
                break
        if port is None:
            raise RuntimeError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{port}"
        width, height = size
        options = {
            "binary": binary,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={profile}", f"--window-size={width},{height}",
                     "--force-dark-mode" if dark else "--disable-features=DarkMode"],
        }
        if width < 500:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": True}}
        wished = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            self.session = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wished}})["sessionId"]
        except (RuntimeError, OSError):
            self.close()
            raise

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:600]) from None

    def call(self, path, body):
        return self.send("POST", f"/session/{self.session}{path}", body)

    def open(self, page):
        self.call("/url", {"url": page.as_uri()})
        while not self.run(self.ready):  # tests run under watched.py, which ends a test that waits for ever
            time.sleep(0.05)

    def run(self, script, *arguments):
        return self.call("/execute/sync", {"script": script, "args": arguments})

    def messages(self):
        return [m["message"] for m in self.call("/se/log", {"type": "browser"}) if m["level"] in ("SEVERE", "WARNING")]

    def picture(self, path, whole):
        shot = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            shot["clip"] = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000), "scale": 1}
        answer = self.call("/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": shot})
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self):
        try:
            if self.session:
                self.send("DELETE", f"/session/{self.session}")
        except (RuntimeError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()
