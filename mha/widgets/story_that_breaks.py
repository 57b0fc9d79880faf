"""A trained decoder that writes in the page, with every head's map, its switches, and its cache to change.

Before a press nothing of it is loaded: what it writes with each head off, or with keys or values of another text, is
stored. A press brings the model, 7.3 MB, from the site or, in a notebook, from the kernel.
"""
import functools

from mha import viz
from mha.lab import stories, story_file
from mha.lab.assets.told import ALL_HEADS, FIRST_OFF, HEADS, LAYERS, NAME_HEAD, OPENINGS, STEPS, told
from mha.widgets.figure import HERE, Dropdown, LiveFigure, State, float16_bytes, packed

NAMES = ["Anna has a friend named Max", "Ben is sad", "The dogs near the big tree"]
LENT = ["values of head 5.1 are lent", "values of all heads are lent", "keys of all heads are lent"]
CHANGES = ["nothing", *LENT, *(f"head {layer}.{head} is off" for layer, head in ALL_HEADS)]
OWN = "what you did yourself"                       # in the model that runs, where it is none of the above
OWN_TEXT = "your own text"                          # in the model that runs; before, the first of the stored ones
MEGABYTES = 7.3


@functools.cache
def file():
    """The bytes of the model for a page; FileNotFoundError where the weights are nowhere."""
    stored = told()
    return story_file.packed(*stories.load(), stored.kept.tolist(), stored.means)


def worker():
    """The program that runs beside the page."""
    return "".join((HERE / "story" / f"{part}.js").read_text("utf-8") for part in ("decoder", "worker"))


class StoryThatBreaks(LiveFigure):
    """stories15M goes on with a story, as it is and changed: a head off, or keys or values of another text lent to it.

    `numbers()` gives next and whole (10): the chances of the tokens listed, of the changed model and of the whole one;
    weight (n): what the chosen head of the whole model gives to each token, seen from the last one.
    """

    label = "A story that a small model writes, the maps of its 36 heads, the next token's chances and the cache."
    opening = Dropdown("the story begins", [*NAMES, OWN_TEXT])
    change = Dropdown("changed", [*CHANGES, OWN])
    head = State(ALL_HEADS.index(NAME_HEAD))        # the one whose weights are shown, 6 layer + head
    asks = State(-1)                                # the token whose row that is; -1 is the last

    def __init__(self):
        stored = told()
        openings = [{"tokens": stored.tokens[i].tolist(), "maps": packed(stored.weights[i], STEPS), "word": word,
                     "other": other, "written": stored.written[i].tolist(), "next": stored.next[i].tolist()}
                    for i, (_, word, other) in enumerate(OPENINGS)]
        super().__init__({"pieces": stored.pieces, "openings": openings, "steps": STEPS,
                          "chance": float16_bytes(stored.chance), "layers": LAYERS, "heads": HEADS,
                          "firstOff": FIRST_OFF, "megabytes": MEGABYTES})
        self.canvas.on_msg(self.answer)

    def answer(self, canvas, content, buffers):
        """A page with a kernel asks for the model."""
        if content.get("ask") != "model":
            return
        try:
            canvas.send({"worker": worker()}, [file()])
        except (FileNotFoundError, ValueError) as missing:
            canvas.send({"error": str(missing)})

    def numbers(self, opening, change, head=ALL_HEADS.index(NAME_HEAD)):
        stored, opening = told(), opening % len(NAMES)
        chance = stored.chance[opening, change % len(CHANGES)].double()
        return {"next": chance[0], "whole": chance[1],
                "weight": stored.weights[opening].flatten(0, 1)[head, -1]}

    def picture(self):
        stored, setting = told(), self.setting()
        shown, change = self.numbers(**setting), setting["change"] % len(CHANGES)
        opening = setting["opening"] % len(NAMES)
        listed = [readable(stored.pieces[i]) for i in stored.next[opening, change].tolist()]
        picture = viz.bars(listed, chance=shown["next"], of_the_whole_model=shown["whole"])
        picture.text = picture.text.replace(picture.text.splitlines()[0],
                                            f"{self.label} The table: what comes next, changed: {CHANGES[change]}.", 1)
        return picture


def readable(piece):
    """A piece as a table shows it."""
    return {"\n": "new line", "\n<s>\n": "the end"}.get(piece, piece.strip() or "space")
