"""Every claim of the appendix is computed and supports its verdict, and a claim that does not is caught."""
import inspect
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import torch

from mha.lab import folklore, sentences
from mha.lab.assets import real_heads
from mha.lab.findings.heads import number_of
from mha.lab.folklore import choices

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
PAGE = nbformat.read(CHAPTERS / "A_folklore.ipynb", as_version=4)
PARTS = list(dict.fromkeys(claim.part for claim in folklore.CLAIMS))


def named(words):
    """The one claim that says these words."""
    found = [claim for claim in folklore.CLAIMS if words in claim.printed]
    assert len(found) == 1, (words, found)
    return found[0]


# --- The list ---------------------------------------------------------------------------------------------------------

def test_of_every_claim_the_page_tells_what_came_out_with_a_number():
    """The page's run computes them all; it fails where a verdict is not supported, or another number comes out."""
    told = "\n\n".join(output.data["text/plain"] for cell in PAGE.cells if "folklore.tell(" in cell.source
                       for output in cell.get("outputs", []))
    for claim, words in zip(folklore.CLAIMS, told.split("\n\n"), strict=True):
        came = " ".join(words.partition(f"\n{claim.verdict.capitalize()}. ")[2].split())
        assert re.fullmatch(r".*\d.*\.\)? \((lab|chapter|only) \w+\)", came), words


def test_claims_are_numbered_in_the_order_of_their_parts():
    parts = [claim.part for claim in folklore.CLAIMS]
    assert [claim.number for claim in folklore.CLAIMS] == list(range(1, len(folklore.CLAIMS) + 1))
    assert parts == sorted(parts, key=PARTS.index)


def test_the_page_offers_the_verdicts_in_their_order():
    script = (CHAPTERS.parent / "_ext" / "static" / "claims.js").read_text("utf8")
    offered = re.search(r"const VERDICTS = \[(.*?)\]", script, re.S)[1]
    assert tuple(re.findall('"(.*?)"', offered)) == folklore.VERDICTS


def test_every_verdict_is_given_and_no_claim_stands_twice():
    assert {claim.verdict for claim in folklore.CLAIMS} == set(folklore.VERDICTS)
    assert len({claim.printed for claim in folklore.CLAIMS}) == len(folklore.CLAIMS)


def test_a_computation_is_short():
    """Two lines of head, and twelve."""
    assert [claim.number for claim in folklore.CLAIMS if len(inspect.getsource(claim.compute).splitlines()) > 14] == []


def test_computing_a_claim_leaves_the_random_numbers_alone():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    named("Closeness").found(), named("sees a set").found()
    assert torch.equal(torch.rand(3), wanted)


# --- A false claim is caught ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("supported", [False, torch.tensor(False)])
def test_a_claim_whose_numbers_do_not_support_it_raises_an_error(supported):
    false = folklore.Claim(97, "softmax", "The sky is green.", "right", "02_one_head",
                           lambda: ("It is 0.5.", supported))
    with pytest.raises(ValueError,
                       match=r"claim 97, The sky is green\.: the verdict 'right' is not what came out: It is 0\.5\."):
        false.found()
    with pytest.raises(ValueError, match="claim 97"):
        folklore.Told([false])


def test_a_verdict_that_is_none_is_named():
    with pytest.raises(ValueError, match="verdict must be one of 'right', .*, got 'perhaps'"):
        folklore.Claim(1, "softmax", "", "perhaps", "02_one_head", lambda: ("", True))


def test_a_part_that_is_none_is_named():
    with pytest.raises(ValueError, match="part must be one of 'softmax', .*, got 'fish'"):
        folklore.tell("fish")


def test_the_numbers_that_hang_on_a_choice_stand_beside_those_that_are_stored():
    stored, two = real_heads(), number_of("0.2")
    even = sum(1 / (len(words) + 2) for words in sentences.relations()[0]) / len(sentences.relations()[0])
    share, heads = choices.CLS_HANDED_ON["ratio of sums"]
    assert abs(stored.sinks_carried.cls.mean() - share) < 6e-4 and (stored.sinks_carried.cls > even).sum() == heads
    for kind, seen in (("one, 150 steps", stored.before_learned.one), ("two, 150 steps", stored.before_learned.two)):
        assert abs(seen[two] - choices.TOKEN_BEFORE[kind][1]) < 2e-3


# --- How it is told ---------------------------------------------------------------------------------------------------

def test_a_claim_is_told_with_what_is_printed_what_came_out_and_the_verdict():
    quotation = folklore.Claim(7, "softmax", '"a < b", they say.', "wrong", "02_one_head",
                               lambda: ("It is 3 & 4.", True))
    ours = folklore.Claim(8, "softmax", "b > a", "right", "11_sharing_heads", lambda: ("So it is. " * 20, True))
    told = folklore.Told([quotation, ours])
    text = repr(told).splitlines()
    assert text[:4] == ['7. "a < b", they say.', "Wrong. It is 3 & 4. (chapter 2)", "", "8. In our words: b > a"]
    assert max(map(len, text)) <= 80 and text[4].startswith("Right. So it is.") and text[-1].endswith("(chapter 11)")
    card = told._repr_html_().split('<div class="claim" ')[1]
    assert card.startswith('id="claim-7" data-number="7" data-verdict="wrong" data-chapter="2" '
                           'data-page="chapter"><p><strong>7.</strong> "a &lt; b", they say.</p>')
    of_lab = folklore.Told([replace(quotation, chapter="02_one_head_lab")])._repr_html_()
    assert 'data-chapter="2" data-page="lab">' in of_lab and "(lab 2)" in of_lab
    assert '<div class="claim-came"><p><strong>Wrong.</strong> It is 3 &amp; 4. (chapter 2)</p></div>' in card


def test_each_quotation_is_in_the_table_of_texts():
    table = PAGE.cells[-1].source.split("## References")[1]
    rows = re.findall(r"^\| .*\| ([\d, ]+) \|$", table, flags=re.M)
    listed = [[int(number) for number in row.split(", ")] for row in rows]
    assert all(row == sorted(set(row)) for row in listed)
    quoting = {claim.number for claim in folklore.CLAIMS if '"' in claim.printed}
    assert quoting <= set(sum(listed, [])) <= {claim.number for claim in folklore.CLAIMS}


def test_where_names_each_claim_of_a_part_once():
    for part in PARTS:
        said = re.sub(r"\[.*?\]", "", folklore.where(part))
        numbers = [int(number) for number in re.findall(r"(?<=[ ,])\d+(?=,| ·|$)", said)]
        assert sorted(numbers) == [claim.number for claim in folklore.CLAIMS if claim.part == part]


# --- The page ---------------------------------------------------------------------------------------------------------

def test_the_page_tells_each_part_once_in_order():
    cells = "\n".join(cell.source for cell in PAGE.cells if cell.cell_type == "code")
    assert re.findall(r'folklore\.tell\("(.+?)"\)', cells) == PARTS


@pytest.mark.parametrize("part", PARTS)
def test_the_page_links_the_chapter_of_every_claim(part):
    prose = "\n".join(cell.source for cell in PAGE.cells if cell.cell_type == "markdown")
    assert f"More in {folklore.where(part)}." in prose


@pytest.mark.parametrize("chapter", sorted({claim.chapter for claim in folklore.CLAIMS}))
def test_the_chapter_of_a_claim_exists(chapter):
    assert (CHAPTERS / f"{chapter}.ipynb").is_file()


def test_code_in_a_claim_is_set_as_code_on_its_card():
    card = folklore.tell("masks")._repr_html_()
    assert "<code>scores.masked_fill(mask == 0, float('-inf'))</code>" in card and "`" not in card
