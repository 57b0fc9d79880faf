"""Files of the site that the build writes itself, beside those of _ext/static."""
import hashlib
from pathlib import Path


def static(app, name, text):
    """Make a file of this name and text in _static, where Sphinx takes it like any other."""
    folder = Path(app.doctreedir).parent / "generated"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf8")
    if str(folder) not in app.config.html_static_path:
        app.config.html_static_path.append(str(folder))


def named(folder, name, ending, data):
    """Write a file under a name that has its sha256 in it, so that a browser may keep it for ever; that name."""
    full = f"{name}-{hashlib.sha256(data).hexdigest()[:16]}{ending}"
    (folder / full).write_bytes(data)
    return full
