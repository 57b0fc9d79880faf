"""The server puts a script of ours before all others of a page, as a file of the site, which its policy allows: so that
no error, refusal or violation is missed, however early.
"""
import io
from pathlib import Path

import served

NAME = "heard-first.js"
HEARD = """
  window.heard = [];
  // What an engine says when a figure that was resized is measured again a frame later is no error.
  const hear = (words) => /^ResizeObserver loop/.test(words) || window.heard.push(words);
  // While capturing: what a script or picture meets when it cannot be loaded does not bubble.
  addEventListener("error", (event) => hear(event.message ? `${event.message} (${event.filename}:${event.lineno})`
    : `not loaded: ${event.target.outerHTML?.slice(0, 160)}`), true);
  addEventListener("unhandledrejection", (event) => hear(`nobody caught: ${event.reason}`));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
    hear(`the policy refused: ${violatedDirective} ${blockedURI} (${sourceFile}:${lineNumber})`));
  const say = console.error;
  console.error = (...words) => {
    hear(words.join(" "));
    say.apply(console, words);
  };
"""
WITH_BETS = served.WITHOUT_BETS.replace('"off"', '"on"')
OPEN = f"if (location.search.includes('bets')) {{ {WITH_BETS} }} else {{ {served.WITHOUT_BETS} }}"
SCRIPT = f"(() => {{ {HEARD} }})();\n(() => {{ {served.FRAMES} }})();\n{OPEN}".encode()


class Listening(served.Silent):
    def send_head(self):
        if self.path == f"/{NAME}":
            return self.send(SCRIPT, "text/javascript")
        path = Path(self.translate_path(self.path))
        if path.suffix == ".html" and path.exists():
            first = f'<head><script src="/{NAME}"></script>'
            return self.send(path.read_bytes().replace(b"<head>", first.encode(), 1), "text/html; charset=utf-8")
        return super().send_head()

    def send(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)
