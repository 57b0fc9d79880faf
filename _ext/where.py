"""Says where a reader is: under a chapter's title what is done, at its end what was won and what comes, and on the
front page where one was last. The counts come from where.js; without a script each line says what there is.
"""
from html import escape

from sphinx.util.osutil import relative_uri

from .exercise_pages import MAP, of_chapter
from .meta import description

HEAD = '<p class="where-head" role="status">{count} exercises, {core} of them on the core path</p>'
START = '<p class="where-start"><a href="{first}">Start with {title}</a></p>'
END = """<aside class="where-end" aria-labelledby="where-end"><p class="where-title" id="where-end">Where you are</p>
<p class="where-won"></p><p class="where-open"></p>{coming}</aside>"""
COMING = '<p>What comes: <a href="{link}">{title}</a>. {about}</p>'


def place(app, pagename, templatename, context, doctree):
    """The lines of a page, put where they belong."""
    items = of_chapter(pagename.rpartition("/")[2])
    if "body" not in context or not (items or pagename == MAP):
        return
    if pagename == MAP:
        first = app.env.toctree_includes[MAP][0]
        line = START.format(first=relative_uri(app.builder.get_target_uri(MAP), app.builder.get_target_uri(first)),
                            title=escape(app.env.titles[first].astext()))
    else:
        line = HEAD.format(count=len(items), core=sum(item.core for item in items))
        before, _, after = context["body"].rpartition("</section>")
        context["body"] = before + END.format(coming=coming(app, pagename)) + "</section>" + after
    context["body"] = context["body"].replace("</h1>", "</h1>" + line, 1)
    app.add_js_file("where.js", priority=320)


def coming(app, pagename):
    """The next page, with its first sentences."""
    following = app.builder.relations.get(pagename, (None, None, None))[2]
    if not following:
        return ""
    link = relative_uri(app.builder.get_target_uri(pagename), app.builder.get_target_uri(following))
    return COMING.format(link=link, title=escape(app.env.titles[following].astext()),
                         about=escape(description(app.env.get_doctree(following))))


def setup(app):
    app.connect("html-page-context", place, priority=700)
