"""Small wrongs of the tools below, set right in the finished page."""


def fix_html(app, pagename, templatename, context, doctree):
    # A list whose items are no list items, by its role: a screen reader would announce a list of nothing.
    context["body"] = context.get("body", "").replace('<div role="list" class="citation-list">',
                                                      '<div class="citation-list">')
    # A role that has been withdrawn.
    context["body"] = context["body"].replace(' role="doc-biblioentry"', "")
    # A heading must say of which level.
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app):
    app.connect("html-page-context", fix_html, priority=900)
