"""What the names of mistakes in a table of grades mean."""
from mha.exercises import EXERCISES
from mha.exercises.engine import exceptions


class Refused(ValueError):
    """Why a command does nothing."""


def glossary(wanted=()):
    """The lines that say what the names of mistakes mean, of some exercises and chapters, or of all.

    Raises:
        Refused: there is no such exercise nor chapter.
    """
    items = EXERCISES.values()
    unknown = set(wanted) - {item.id for item in items} - {item.chapter for item in items}
    if unknown:
        raise Refused(f"no exercise or chapter is called {', '.join(sorted(unknown))}; known are 2.1 and 05_masks, for "
                      "instance")
    groups = {item.label: mistakes(item) for item in items if not wanted or {item.id, item.chapter} & {*wanted}}
    groups["What an error means, in any exercise in code"] = general()
    for title, group in groups.items():
        if group:
            yield from (title, *(f"   {id:30} {says}" for id, says in group.items()), "")


def mistakes(item):
    """Name -> what it means, of the mistakes that an exercise foresees."""
    if item.in_code:
        return leads(m for options in (*item.switches.values(), item.without) for m in options.values())
    if item.letters:
        return {option.mistake: f"{letter}: {option.text}" for letter, option in zip(item.letters, item.options)
                if option.mistake}
    return leads(m for _, m in getattr(item, "mistakes", ()))


def leads(mistakes):
    """Name -> what it means; of mistakes that share a name the first, which is the plainest."""
    found = {}
    for mistake in mistakes:
        found.setdefault(mistake.id, mistake.lead)
    return found


def general():
    """The same of what an exception means."""
    return leads([*(m for _, m in exceptions.MEANINGS), exceptions.TURNED_BATCH, exceptions.NO_DEVICE,
                  exceptions.INSIDE])
