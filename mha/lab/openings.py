"""Openings of stories that differ in one word: names, things, nouns of one and of many (chapter 13)."""

GIRLS = ("Lily Sara Anna Mia Lucy Sue Amy Jane Mary Emma Molly Daisy Kate Sally Ella Bella Rose Jenny Maria Sarah "
         "Sophie Mandy Lisa Nina Lola Emily Alice Jill Kim Zara Tina Annie Grace Julie Susie").split()
BOYS = ("Tom Tim Ben Sam Jack John Bob Billy Bobby Jake Leo Mark Fred Charlie Joe Johnny Peter Timmy Tommy David Adam "
        "Michael Dan Mike Jim Henry Joey George Harry Paul James Alex Danny Jimmy").split()
THINGS = ("dog cat bird toy ball car bear duck frog tree flower cow horse apple rabbit monkey star cloud shoe "
          "hat").split()
SMALL = "and the was very with from into then that over".split()        # words that name nothing
NOUNS = ("dog cat bird boy girl toy ball car bear duck frog tree flower cow horse apple rabbit monkey rock star cloud "
         "shoe hat book cake cookie block train truck boat egg kid friend animal bug bee ant chicken pig squirrel bone "
         "stick door window lamp kitten lion elephant doll robot balloon stone shell banana carrot king queen chair "
         "table bed cup spoon").split()

NAMED = ('Once upon a time, there was a little {kind} named {name}. {name} had a friend named Max. '
         'One day, Max said to',
         'Once upon a time, there was a {kind} named {name}. {name} was sad. Mom said, "Don\'t be sad,',
         'Mom and {name} went to the park. Mom gave an ice cream to')                  # the next word is the name
PRONOUN = "Once upon a time, there was a little {kind} named {name}. One day, {name} was very happy because"
NUMBER = ("Once upon a time, there was a park. The {noun} in the park",
          "One day, Tom looked at the garden. The {noun} near the big tree")           # next: was, or were
TOLD = ("Once upon a time, there was a little {kind} named {name}. {name} had a {thing}. One day,",
        "{name} was a {kind} who liked to play outside with a {thing}. One morning,",
        "There was once a {kind} named {name}. {name} found a {thing} in the garden. Then,",
        "Mom gave {name} a {thing}. {name} was a happy {kind}. Soon,")                 # the story goes on
TOYS = "ball dog cat book boat hat car bird tree bear".split()


def word(tokenizer, text: str) -> int | None:
    """The token of a word within a sentence, where it is one."""
    return tokenizer.number.get(b" " + text.encode()) if len(tokenizer.encode(text)) == 2 else None


def named(tokenizer) -> list[tuple[str, str]]:
    """(name, "girl" or "boy"), of names that are one token each."""
    every = [(name, "girl") for name in GIRLS] + [(name, "boy") for name in BOYS]
    return [pair for pair in every if word(tokenizer, pair[0]) is not None]


def with_others(tokenizer, step: int = 3) -> list[tuple[str, str, str]]:
    """(name, "girl" or "boy", another name of that kind), the names `step` further on."""
    pairs = []
    for kind in ("girl", "boy"):
        names = [name for name, of in named(tokenizer) if of == kind]
        pairs += [(name, kind, names[(k + step) % len(names)]) for k, name in enumerate(names)]
    return pairs


def nouns(tokenizer) -> list[str]:
    """Nouns that are one token each, and one more with an s."""
    return [noun for noun in NOUNS if None not in (word(tokenizer, noun), word(tokenizer, noun + "s"))]
