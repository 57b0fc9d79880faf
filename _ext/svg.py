"""Makes a figure's SVG fit to stand inline in a page.

Inline, and not as <img>, because its ink is `currentColor`: it takes the colour of the text around it, in
light and dark. Inline ids must be unique in the page, and the picture needs a name for a screen reader.
"""
import re
import xml.etree.ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
# No transform: what it scales would move further.
PLACES = {"d", "points", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "r", "cx", "cy"}
LONG = re.compile(r"-?\d+\.\d{3,}")
BREAK = re.compile(r"^\s*\n\s*$")
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def inline(source, alt, prefix):
    """The SVG as HTML: the ids that it uses start with `prefix`, the accessible name is `alt`."""
    root = ET.fromstring(source)
    for unused in root.findall(f"{{{SVG}}}metadata"):
        root.remove(unused)
    shorten(root)
    keep_styles_inside(root)
    make_ids_unique(root, prefix)
    root.set("role", "img")
    root.set("aria-label", alt)
    return ET.tostring(root, encoding="unicode")


def shorten(root):
    """Places to a hundredth of a point, and no line breaks: a third of what matplotlib writes is unseen."""
    for node in root.iter():
        for name in PLACES & node.attrib.keys():
            node.set(name, LONG.sub(lambda number: f"{float(number[0]):.2f}", node.get(name)))
        node.text, node.tail = (BREAK.sub("", text or "") for text in (node.text, node.tail))


def keep_styles_inside(root):
    """Matplotlib writes <style>*{...}</style>, which inline would style the whole page: put it on the root instead."""
    for parent in list(root.iter()):
        for style in parent.findall(f"{{{SVG}}}style"):
            everywhere = re.fullmatch(r"\s*\*\s*\{([^}]*)\}\s*", style.text or "")
            if everywhere:
                parent.remove(style)
                root.set("style", ";".join(filter(None, [root.get("style"), everywhere[1]])))


def make_ids_unique(root, prefix):
    # An id is used as url(#id) in styles, as #id in links, and bare in aria-labelledby. Matplotlib writes many for
    # nothing, and the same one twice where it draws the same map twice.
    reference = re.compile(r"#([\w.:-]+)")
    used = set()
    for node in root.iter():
        for text in [node.text or "", *node.attrib.values()]:
            used.update(reference.findall(text))
        used.update(word for name, value in node.attrib.items() if name.startswith("aria-") for word in value.split())
    for node in root.iter():
        if node.get("id") not in used:
            node.attrib.pop("id", None)
    ids = {node.get("id") for node in root.iter() if node.get("id")}

    def renamed(match):
        return f"#{prefix}{match[1]}" if match[1] in ids else match[0]

    for node in root.iter():
        for name, value in node.attrib.items():
            if name == "id":
                node.set(name, prefix + value)
            elif name.startswith("aria-"):
                node.set(name, " ".join(prefix + word if word in ids else word for word in value.split(" ")))
            else:
                node.set(name, reference.sub(renamed, value))
        if node.tag == f"{{{SVG}}}style" and node.text:
            node.text = reference.sub(renamed, node.text)
