"""Firefox and WebKit, driven alike: both speak the commands of W3C WebDriver, the first over a socket, the second over
HTTP.

Firefox's own port (Marionette) is used as it is, for Debian has no geckodriver, whose one task is to translate HTTP
into it. WebKitGTK has a driver and a small browser of its own, but no mode without windows, so it gets a screen that
nobody sees.
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from glob import glob
from pathlib import Path

SECONDS = 120                   # how long a browser may take to start, and a script to run
# Runs the page's own function on one argument, and tells what it gives or why it does not.
EVALUATE = """
  const [argument, done] = arguments;
  const refuse = (error) => done({ error: `${error} ${error.stack}` });
  (async () => (%s)(argument))().then((value) => done({ value }), refuse);
"""


class Engine:
    """What the tests ask of a browser. A subclass sends a command of WebDriver and returns the answer's value."""

    def go(self, url):
        self.command("Navigate", url=url)

    def evaluate(self, function, argument=None):
        """The value of a JavaScript function, as Playwright's page.evaluate gives it."""
        answer = self.command("ExecuteAsyncScript", script=EVALUATE % function, args=[argument])
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def resize(self, width, height=900):
        """Make the window as wide as is asked, or as narrow as it gets."""
        self.command("SetWindowRect", width=width, height=height)

    def find(self, selector):
        return next(iter(self.command("FindElement", using="css selector", value=selector).values()))

    def click(self, selector):
        self.command("ElementClick", id=self.find(selector))

    def type(self, selector, keys):
        self.command("ElementSendKeys", id=self.find(selector), text=keys)

    def is_at(self, path):
        """Wait until a page whose address ends so is there: a key that leads on is not waited for by itself."""
        wait_for(lambda: self.url().endswith(path))

    def url(self):
        """The address of the page, without the place in it."""
        return self.command("GetCurrentURL").partition("#")[0]


# --- Firefox --------------------------------------------------------------------------------------------------------

# Nothing but 127.0.0.1 can be reached: everything else goes to a proxy that is not there.
FIREFOX_PREFS = {
    "marionette.port": 0,
    "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.proxy.no_proxies_on": "127.0.0.1",
    "layout.css.prefers-color-scheme.content-override": 1, "ui.prefersReducedMotion": 0,
    "browser.startup.page": 0, "browser.startup.homepage_override.mstone": "ignore",
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "app.normandy.enabled": False,
}


class Firefox(Engine):
    """Over Marionette: each message is its length, a colon, and JSON."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=SECONDS).makefile("rwb")
        self.receive()                                                          # it says who it is
        self.command("NewSession")
        self.command("SetTimeouts", script=1000 * SECONDS)

    def receive(self):
        length = b"".join(iter(lambda: self.stream.read(1), b":"))
        return json.loads(self.stream.read(int(length)))

    def command(self, name, **parameters):
        message = json.dumps([0, 0, f"WebDriver:{name}", parameters]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result.get("value", result)

    def print(self):
        """The page on paper, as a PDF; WebKit's driver cannot."""
        return base64.b64decode(self.command("Print", background=True))


@contextmanager
def firefox():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        wishes = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in FIREFOX_PREFS.items()]
        Path(profile, "user.js").write_text("\n".join(wishes))
        program = found("firefox-esr", "firefox")
        with running(program, "--headless", "--no-remote", "--marionette", "--profile", profile):
            yield Firefox(int(wait_for(Path(profile, "MarionetteActivePort").read_text)))


# --- WebKit ---------------------------------------------------------------------------------------------------------

MINI_BROWSERS = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
ENDPOINTS = {"NewSession": "session", "Navigate": "url", "ExecuteAsyncScript": "execute/async",
             "SetTimeouts": "timeouts", "SetWindowRect": "window/rect", "FindElement": "element",
             "ElementClick": "element/{id}/click", "ElementSendKeys": "element/{id}/value",
             "GetCurrentURL": "url", "DeleteSession": ""}
METHODS = {"GetCurrentURL": "GET", "DeleteSession": "DELETE"}


class WebKit(Engine):
    """Over HTTP, as W3C WebDriver is spoken."""

    def __init__(self, port):
        self.root = f"http://127.0.0.1:{port}"
        wait_for(lambda: self.request("GET", "/status"))
        browser = {"binary": glob(MINI_BROWSERS)[0], "args": ["--automation"]}
        session = self.command("NewSession", capabilities={"alwaysMatch": {"webkitgtk:browserOptions": browser}})
        self.root += f"/session/{session['sessionId']}"
        self.command("SetTimeouts", script=1000 * SECONDS)

    def request(self, method, path, body=None):
        asked = urllib.request.Request(self.root + path, json.dumps(body).encode() if method == "POST" else None,
                                       method=method)
        try:
            with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise RuntimeError(f"{path}: {said['error']} {said['message']}") from None

    def command(self, name, **parameters):
        path = ENDPOINTS[name].format(**parameters)
        return self.request(METHODS.get(name, "POST"), f"/{path}" if path else "", parameters)


@contextmanager
def webkit():
    with ExitStack() as stack:
        screen = stack.enter_context(running("Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24",
                                             "-nolisten", "tcp", stdout=subprocess.PIPE))
        port = free_port()
        display = f":{screen.stdout.readline().decode().strip()}"
        stack.enter_context(running("WebKitWebDriver", f"--port={port}", DISPLAY=display))
        browser = WebKit(port)
        stack.callback(browser.command, "DeleteSession")
        yield browser


# --- Both -----------------------------------------------------------------------------------------------------------

ENGINES = {"firefox": firefox, "webkit": webkit}


def missing(name):
    """What to say where an engine cannot be had on this machine; None where it can."""
    if name == "firefox" and not found("firefox-esr", "firefox"):
        return "there is no Firefox here; on Debian or Ubuntu: sudo apt-get install firefox-esr"
    if name == "webkit" and not (found("WebKitWebDriver") and found("Xvfb") and glob(MINI_BROWSERS)):
        return "there is no WebKit to drive here; on Debian or Ubuntu: sudo apt-get install webkit2gtk-driver xvfb"
    return None


def found(*programs):
    return next(filter(None, map(shutil.which, programs)), None)


@contextmanager
def running(*command, stdout=subprocess.DEVNULL, **variables):
    """A program that ends with the block."""
    process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL, env={**os.environ, **variables})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)
        if process.stdout:
            process.stdout.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(ask):
    """What `ask` gives, once it gives something."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if answer := ask():
                return answer
        except OSError:
            pass                                                                # it has not started yet
        time.sleep(0.03)
    raise TimeoutError(f"nothing came within {SECONDS} seconds")
