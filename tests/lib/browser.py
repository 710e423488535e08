# browser.py - a headless Chromium, driven through its debugging pipe.
# SPDX-License-Identifier: Apache-2.0
"""
No driver and no package is needed: Chromium reads commands from descriptor 3
and answers on 4, JSON with a NUL behind each message.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}


def find():
    """The path of a browser, or None."""
    wanted = os.environ.get("SEEP_BROWSER")
    for name in ([wanted] if wanted else NAMES):
        path = shutil.which(name)
        if path:
            return path
    return None


class Failure(Exception):
    """Something the page did, or did not do."""


class Browser:
    """One page in one browser; what the page complains about is kept."""

    def __init__(self, width=1400, height=900, dark=False, mobile=False):
        self.profile = tempfile.mkdtemp(prefix="seep-browser.")
        self.complaints = []
        self.requests = []
        self.next = 1
        self.buffer = b""
        self.events = []
        self.start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.size(width, height, mobile)
        self.media(dark=dark)

    def start(self):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def pipes():
            os.dup2(to_read, 100)
            os.dup2(from_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--hide-scrollbars",
             "--force-color-profile=srgb", "--font-render-hinting=none",
             f"--user-data-dir={self.profile}", "about:blank"],
            close_fds=False, preexec_fn=pipes, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.out, self.input = to_write, from_read
        self.session = None

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (Failure, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- messages ----

    def read(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                return None
            more = os.read(self.input, 1 << 20)
            if not more:
                raise Failure("the browser has gone")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=60, **params):
        number, self.next = self.next, self.next + 1
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        end = time.monotonic() + seconds
        while True:
            answer = self.read(max(0, end - time.monotonic()))
            if answer is None:
                raise Failure(f"no answer to {method} within {seconds} s")
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        method, p = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            text = d.get("exception", {}).get("description", d["text"])
            self.complaints.append(f"exception: {text}")
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
            words = " ".join(str(a.get("value", a.get("description")))
                             for a in p["args"])
            self.complaints.append(f"console: {words}")
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {p['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        self.events.append(method)

    # ---- what a user does ----

    def size(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def media(self, dark=False, kind=""):
        self.call("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, ready="window.seep && seep.ready", seconds=60):
        self.complaints.clear()
        self.requests.clear()
        url = path if "://" in path else "file://" + os.path.abspath(path)
        self.call("Page.navigate", url=url)
        self.wait(ready, seconds)

    def eval(self, expression, seconds=60):
        answer = self.call("Runtime.evaluate", seconds=seconds, awaitPromise=True,
                           expression=expression, returnByValue=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            d = answer["exceptionDetails"]
            raise Failure(d.get("exception", {}).get("description", d["text"]) +
                          f"\nin: {expression}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.eval(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise Failure(f"not within {seconds} s: {expression}\n" +
                              "\n".join(self.complaints))
            time.sleep(0.02)

    def text(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)}).textContent")

    def box(self, selector):
        """x, y, width, height of an element that is in sight."""
        return self.eval(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect();"
            "return [r.left, r.top, r.width, r.height]; })()")

    def mouse(self, kind, x, y, buttons=0, clicks=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  button="left" if clicks or buttons else "none",
                  buttons=buttons, clickCount=clicks)

    def click_at(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1, 1)
        self.mouse("mouseReleased", x, y, 0, 1)

    def click(self, selector):
        x, y, w, h = self.box(selector)
        self.click_at(x + w / 2, y + h / 2)

    def drag(self, selector, begin, end):
        """From one share of the width of an element to another."""
        x, y, w, h = self.box(selector)
        y += h / 2
        self.mouse("mouseMoved", x + w * begin, y)
        self.mouse("mousePressed", x + w * begin, y, 1, 1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x + w * (begin + (end - begin) * i / 5), y, 1)
        self.mouse("mouseReleased", x + w * end, y, 0, 1)

    def key(self, name, text=None):
        code = KEYS.get(name, ord(name.upper()) if len(name) == 1 else 0)
        text = text if text is not None else (name if len(name) == 1 else "")
        if name == "Enter":
            text = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown",
                  key=name, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name,
                  windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True,
                         preferCSSPageSize=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
