#!/usr/bin/env python3
"""Opens a file in headless Chromium, runs a script in it, and says what went wrong on the page.

    browser.py [--width PIXELS] [--dark] [--paper] [--print FILE.pdf] [--picture FILE.png [--part TOP:BOTTOM]]
        PAGE.html [SCRIPT.js]

The script is the body of an async function; what it returns is printed, a line for each item of a list.  Then come
lines "console: ..." for errors and warnings of the page, and "network: ..." for each address it asked for other than
itself.  Status 2: there is no Chromium.  Only Python's own modules are needed: the browser's protocol runs through a
pipe (https://chromedevtools.github.io/devtools-protocol/).
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 120


class Browser:
    def __init__(self, program, profile):
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def place_pipes():
            # The browser reads at 3 and writes to 4.  Copies keep either from being overwritten first.
            read, write = os.dup(to_read), os.dup(from_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--user-data-dir=" + profile, "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.rest = b""
        self.n = 0
        self.events = []
        self.session = None

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.from_read, 1 << 16)
            if not more:
                raise RuntimeError("the browser has gone")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.n += 1
        command = {"id": self.n, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        while True:
            message = self.receive()
            if message.get("id") != self.n:
                self.events.append(message)
            elif "error" in message:
                raise RuntimeError(method + ": " + message["error"]["message"])
            else:
                return message["result"]

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def end(self):
        self.process.kill()
        self.process.wait()


def open_page(browser, options):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=options.width, height=900, deviceScaleFactor=1,
                 mobile=False)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if options.dark else "light"}
    browser.call("Emulation.setEmulatedMedia", media="print" if options.paper else "", features=[scheme])
    browser.events.clear()
    browser.call("Page.navigate", url=pathlib.Path(options.page).resolve().as_uri())
    browser.wait_for("Page.loadEventFired")


def run_script(browser, text):
    result = browser.call("Runtime.evaluate", expression="(async () => {" + text + "\n})()", awaitPromise=True,
                          returnByValue=True)
    if "exceptionDetails" in result:
        print("console: the script failed: " + result["exceptionDetails"]["exception"].get("description", "?"))
        return
    value = result["result"].get("value")
    for item in value if isinstance(value, list) else [] if value is None else [value]:
        print(item if isinstance(item, str) else json.dumps(item))


def save(browser, options):
    if options.picture:
        size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        top, bottom = map(int, options.part.split(":"))
        clip = {"x": 0, "y": top, "width": options.width, "height": min(size["height"], bottom) - top, "scale": 1}
        shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        pathlib.Path(options.picture).write_bytes(base64.b64decode(shot["data"]))
    if options.print:
        paper = browser.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        pathlib.Path(options.print).write_bytes(base64.b64decode(paper["data"]))


def say_events(browser, page):
    own = pathlib.Path(page).resolve().as_uri()
    for event in browser.events:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            print("console: " + details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            print("console: " + " ".join(str(arg.get("description", arg.get("value"))) for arg in parameters["args"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            print("console: " + parameters["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent" and parameters["request"]["url"].split("#")[0] != own:
            print("network: " + parameters["request"]["url"][:200])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--print")
    parser.add_argument("--picture")
    parser.add_argument("--part", default="0:12000")
    parser.add_argument("page")
    parser.add_argument("script", nargs="?")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        return 2
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        guard = threading.Timer(PATIENCE_S, browser.process.kill)
        guard.start()
        try:
            open_page(browser, options)
            if options.script:
                run_script(browser, pathlib.Path(options.script).read_text())
            save(browser, options)
            browser.call("Runtime.evaluate", expression="0")
            say_events(browser, options.page)
        finally:
            guard.cancel()
            browser.end()
    return 0


sys.exit(main())
