"""Says where a reader is: under a chapter's title its place in the whole and what is done, at its end what was won and
what comes, and on the front page where one was last. The counts come from reader_location.js; without a script each
line says what there is.
"""
from html import escape

from sphinx.util.osutil import relative_uri

from .exercise_pages import MAP, of_chapter
from .labs import neighbours
from .meta import description

HEAD = '<p class="where-head" role="status">{count} exercises{core}</p>'
START = '<p class="where-start"><a href="{first}">Start: {question}</a></p>'
END = """<aside class="where-end" aria-labelledby="where-end"><p class="where-title" id="where-end">Where you are</p>
<p class="where-won"></p><p class="where-open"></p>{coming}</aside>"""
COMING = '<p>What comes: <a href="{link}">{title}</a>{stop} {about}</p>'


# The parts of the picture in chapter 0 that a chapter is about, and the step of that picture to begin with.
PARTS = {"01_soft_lookup": (7, "weight mixture"), "02_one_head": (5, "score weight"),
         "03_query_and_key": (2, "query key score"), "04_value_and_output": (4, "value mixture written"),
         "05_masks": (7, "weight"), "06_multi_head": (0, "words query key value score weight mixture written after")}
WHOLE = "00_the_whole.html"


def here(pagename):
    """The picture of chapter 0 in the size of a line, a chapter's own parts filled, as a link to their step."""
    step, parts = PARTS.get(pagename.rpartition("/")[2], (0, ""))
    if not parts:
        return ""
    about = ", ".join(parts.split()) if step else "all of it"
    boxes = [box("words", "stream", 1, 11, 22, parts)]
    for head, y in ((1, 1), (2, 22)):
        boxes += [box("query", "query", 30, y, 11, parts), box("key", "key", 43, y, 11, parts),
                  box("value", "value", 56, y, 11, parts), box("score", "weight", 73, y, 17, parts),
                  box("weight", "weight", 93, y, 17, parts), box("mixture", f"head-{head}", 115, y, 11, parts)]
    boxes += [box("written", "stream", 132, 11, 22, parts), box("after", "stream", 163, 11, 22, parts)]
    return (f'<a class="you-are-here" href="{WHOLE}#step={step}"><svg viewBox="0 0 186 40" aria-hidden="true">'
            f'{"".join(boxes)}</svg><span>You are here in the whole: {about}</span></a>')


def box(name, hue, x, y, width, parts):
    lit = " is-lit" if name in parts.split() else ""
    return f'<rect class="hue-{hue}{lit}" x="{x}" y="{y}" width="{width}" height="17" rx="1.5"/>'


def place(app, pagename, templatename, context, doctree):
    """The lines of a page, put where they belong."""
    items = of_chapter(pagename.rpartition("/")[2])
    if "body" not in context or not (items or pagename == MAP):
        return
    if pagename == MAP:
        first = app.env.toctree_includes[MAP][0]
        address = relative_uri(app.builder.get_target_uri(MAP), app.builder.get_target_uri(first))
        line = START.format(first=address, question=escape(app.env.titles[first].astext().partition(": ")[2]))
        context["body"] = context["body"].replace("</p>", "</p>" + line, 1)
    else:
        core = sum(item.core for item in items)
        line = HEAD.format(count=len(items), core=f", {core} of them on the core path" if 0 < core < len(items) else "")
        before, _, after = context["body"].rpartition("</section>")
        context["body"] = before + END.format(coming=coming(app, pagename)) + "</section>" + after
        row = f'</h1><div class="where-row">{here(pagename)}{line}</div>'
        context["body"] = context["body"].replace("</h1>", row, 1)
    app.add_js_file("reader_location.js", priority=320)


def coming(app, pagename):
    """The next page, with its first sentences."""
    following = neighbours(app, pagename)[1]
    if not following:
        return ""
    link = relative_uri(app.builder.get_target_uri(pagename), app.builder.get_target_uri(following))
    title = app.env.titles[following].astext()
    return COMING.format(link=link, title=escape(title), stop="" if title.endswith("?") else ".",
                         about=escape(description(app.env.get_doctree(following))))


def setup(app):
    app.connect("html-page-context", place, priority=700)
