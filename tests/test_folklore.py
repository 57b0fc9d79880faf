"""Every claim of the appendix is computed and supports its verdict, and a claim that does not is caught."""
import inspect
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import torch

from mha import masks
from mha.lab import folklore, sentences
from mha.lab.assets import Agreement, Itself, Places, Special, position_runs, pruning, real_heads
from mha.lab.findings.heads import number_of
from mha.lab.folklore import choices, fast, layers, matrices, position, scores, sharing, trained

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
PAGE = nbformat.read(CHAPTERS / "A_folklore.ipynb", as_version=4)
PARTS = list(dict.fromkeys(claim.part for claim in folklore.CLAIMS))

LISTED = {  # what the book set out to check: a word of each claim, and how its verdict begins
    "0.66, 0.24, 0.10": "wrong", "0.3, 0.5, 0.2": "wrong", "Cat sat": "right", "100x": "wrong",
    "same dimension as the input": "true",
    "large gradients": "true", "j != i": "wrong", "Finally, we concatenate": "wrong",
    "Closeness": "true",
    "out-of-vocabulary": "true",
    "long distances\"": "true", "animal 0.7": "not found here",
    "masked_fill": "true",
    "don't add parameters": "true",
    "only focus on one": "true", "512 / 8 = 64": "true",
    "to be symmetric": "true",
    "subject from object": "true", "grows with dimension": "true",
    "subject-verb": "true",
    "pruning many heads": "true", "slices": "wrong",
    "the mechanism is there": "true", "Sum to 1": "right", "10 x 10": "right",
    "same shape": "right", "99 steps": "right", "rank d_k at most": "right", "sees a set": "right",
    "1 - h / r": "true",
    "More heads capture": "true", "fixed offsets": "true",
    "a job of its own": "true",
    "much is handed on": "true", "W_O could be left out": "true",
    "W_i^A": "wrong", "in one text": "true", "h d_k by d_model": "true",
    "representational diversity": "true", "introduced as an alternative": "true",
    "model cannot tell them apart": "true", "number of predecessors": "true",
    "easily learn to attend": "true", "rotate_half": "wrong", "gets \"rotated\"": "wrong",
    "in 16 bits": "true", "gradually diminishes": "true",
    "extrapolates better": "true", "32×+": "true",
    "each head's specialization": "true", "sacrificing quality": "true",
    "smaller than MQA": "true", "approximation error": "true",
    "absorbed into": "true", "per-sequence": "true",
    "bit-for-bit": "true",
    "Causality": "not found here", "(batch, queries, keys)": "true",
    "approximates attention": "wrong", "does fewer operations": "true", "head dimension": "true",
    "waits for memory": "true",
}


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


@pytest.mark.parametrize("words, verdict", LISTED.items())
def test_a_claim_that_the_book_set_out_to_check_is_on_the_list(words, verdict):
    assert named(words).verdict.startswith(verdict)


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


@pytest.mark.parametrize("claim", folklore.CLAIMS, ids=lambda claim: claim.compute.__name__)
def test_a_computation_is_short(claim):
    assert len(inspect.getsource(claim.compute).splitlines()) <= 14  # its two lines of head, and twelve


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


ONES = torch.ones(3, 72)


def real_heads_with(**fields):
    """A loader that gives what is stored of the heads but for these fields."""
    return lambda: replace(real_heads(), **fields)


def pruning_with(**fields):
    """The same of what is stored of pruning."""
    return lambda: replace(pruning(), **fields)


def runs_with(**fields):
    """A loader that gives what is stored of layers and positions but for these fields."""
    return lambda task, positions, *_, **__: replace(position_runs(task, positions), **fields)


def equal_errors(r, h, **options):
    return torch.full((8,), 0.3), torch.full((8, h, r), 0.3)


@pytest.mark.parametrize("words, module, name, false", [
    ("100x", scores, "MultiHeadAttention", lambda d, *_, **__: torch.nn.LSTM(d, d)),
    ("large gradients", scores, "pulls", lambda d_k, scale=None, sets=500, m=64: torch.ones(sets)),
    ("small gradients", scores, "slopes", lambda d_k, scale=None, queries=500, m=64: torch.ones(queries)),
    ("introduced as an alternative", scores, "attention", lambda q, k, v: (0 * q, None)),
    ("sees a set", scores, "attention", lambda q, k, v: (q @ k.mT * torch.arange(len(k)) @ v, None)),
    ("training fails", scores, "fit_lookup", lambda d_k, **_: torch.full((8,), 0.2)),
    ("subject from object", matrices.masks, "causal", lambda n: torch.ones(n, n, dtype=torch.bool)),
    ("minus infinity", matrices.torch.Tensor, "half", lambda self: self),
    ("a direction", matrices, "fit_pointers", lambda task, score: torch.zeros(8)),
    ("simple patterns", matrices, "fit_pattern", lambda pattern, d_k: pattern[None]),
    ("most to itself", matrices, "real_heads", real_heads_with(tops=Places(*ONES), own=Itself(*ONES[:2]))),
    ("set weights to zero", matrices, "leaks", lambda layer, x: torch.zeros(6, 6)),
    ("set weights to zero", matrices, "attention", lambda x, *_, **__: (x.softmax(-1), None)),
    ("considers all words", matrices, "attention", lambda x, *_, **__: (x, torch.ones(6, 6))),
    ("More heads capture", layers, "trained_heads", equal_errors),
    ("Too many heads", layers, "trained_heads", equal_errors),
    ("relation of its own", layers, "trained_heads", equal_errors),
    ("don't add parameters", layers, "MultiHeadAttention", lambda *_, **__: torch.nn.Linear(2, 2)),
    ("average", layers, "attention", lambda Q, K, V, **_: (Q, torch.ones(len(Q), Q.shape[1], Q.shape[1]) / Q.shape[1])),
    ("in one text", layers, "attention", lambda Q, K, V: (V, None)),
    ("representational diversity", layers.torch.linalg, "matrix_rank", lambda A: torch.tensor(1)),
    ("(batch, queries, keys)", matrices.masks, "padding",
     lambda lengths, m: torch.ones(len(lengths), 1, 1, m, dtype=torch.bool)),
    ("Causality", trained, "real_heads",
     real_heads_with(cross=torch.ones(2, 72, 16))),
    ("W_O could be left out", layers, "merge_heads",
     lambda outs: torch.zeros(outs.shape[1], outs.shape[0] * outs.shape[2]).double()),
    ("to spare", layers, "prune_heads", lambda h, r, **_: (torch.zeros(2, h + 1), None)),
    ("80 %", trained.measure, "luckiest", lambda **_: 0.5),
    ("large weight", trained, "real_heads",
     real_heads_with(sinks=Special(*ONES[:2]), sinks_carried=Special(*ONES[:2]), carried_rank=Agreement(*ONES[:2]))),
    ("large weight", trained, "real_heads",
     real_heads_with(carried_rank=Agreement(*2 * [real_heads().carried_rank.words]))),
    ("animal 0.7", trained.findings, "from_it", lambda ending: torch.tensor([0.7, 0.2]).expand(72, 2)),
    ("out-of-vocabulary", trained.findings, "rare", lambda: trained.findings.relation("nsubj")),
    ("fixed offsets", trained, "real_heads", real_heads_with(near=Places(*ONES), tops=Places(*ONES))),
    ("fixed offsets", trained, "real_heads",
     real_heads_with(near=replace(real_heads().near, after=real_heads().near.before))),
    ("a job of its own", trained.findings, "apart", lambda kind: torch.zeros(72, 20)),
    ("a job of its own", trained.findings, "relations", lambda real=trained.findings.relations: {"det": real()["det"]}),
    ("the mechanism is there", trained, "induction_runs", lambda kind, real=trained.induction_runs: real("two layers")),
    ("need two layers", trained, "induction_runs", lambda kind, real=trained.induction_runs: real("two layers")),
    ("pruning many heads", trained, "pruning",
     pruning_with(curves={kind: pruning().curves["most costly first"] for kind in pruning().curves})),
    ("Not all heads", trained, "pruning", pruning_with(alone=torch.ones(6, 12))),
    ("Not all heads", trained, "pruning",
     pruning_with(chance={kind: pruning().chance["random"] for kind in pruning().chance})),
    ("derivative of the loss", trained, "pruning", pruning_with(slope=pruning().size)),
    ("derivative of the loss", trained, "pruning",
     pruning_with(flat_gradient=pruning().size)),
    ("cannot tell them apart", position, "shuffled", lambda depth, causal: torch.tensor(0.0)),
    ("cannot tell them apart", position, "shuffled", lambda depth, causal: torch.tensor(0.5)),
    ("number of predecessors", position, "deep", lambda layers, x: x * torch.arange(len(x))[:, None]),
    ("number of predecessors", position, "attention", lambda q, k, v, causal: (v / 2, None)),
    ("easily learn", position, "sinusoids", lambda n, d: torch.arange(n)[:, None].expand(n, d) / n),
    ("easily learn", position, "position_runs", runs_with(errors=torch.zeros(8, 3), windowed=torch.zeros(8, 3))),
    ("gets \"rotated\"", position, "rope", lambda x, i, **_: x),
    ("gets \"rotated\"", position, "rope", lambda x, i, **_: x + i[:, None]),
    ("rotate_half", position, "rope", lambda x, i, interleaved=False: x),
    ("rotate_half", position, "rope", lambda x, i, real=position.rope, **_: real(x, i)),
    ("in 16 bits", position, "angles", lambda i, dtype, real=position.angles: real(i, torch.double)),
    ("gradually diminishes", position, "rope", lambda x, i: x * torch.exp(-i.abs() / 100)[:, None]),
    ("extrapolates better", position, "position_runs", runs_with(errors=torch.zeros(8, 3))),
    ("extrapolates better", position, "position_runs", lambda task, *_, **__: position_runs(task, "sinusoids")),
    ("32×+", position, "position_runs", lambda task, *_, **__: position_runs(task, "sinusoids")),
    ("32×+", position, "alibi_bias", lambda h, n, m, offset, slopes=None: torch.zeros(h, n, m)),
    ("specialization", sharing, "padded", lambda Q: Q.repeat(1, 1, len(Q))),
    ("specialization", sharing, "serves", lambda order, mark: True),
    ("sacrificing quality", sharing, "kept", lambda layer: 7),
    ("sacrificing quality", sharing, "unread", lambda g: torch.tensor(0.0)),
    ("smaller than MQA", sharing, "kept", lambda layer: 256),
    ("approximation error", sharing, "as_latent",
     lambda layer, real=sharing.as_latent: real(layer if layer.num_kv_heads > 2 else sharing.MultiHeadAttention(
         48, 6, num_kv_heads=2, bias=False, causal=True).double())),
    ("absorbed into", sharing, "rope", lambda x, i: x),
    ("per-sequence", sharing, "decoded", lambda layer, x: (x, 4 * x.shape[1])),
    ("bit-for-bit", sharing, "decoded", lambda layer, x: (layer(x, need_weights=True)[0], 0)),
    ("bit-for-bit", sharing, "decoded", lambda layer, x: (x, 0)),
    ("approximates attention", fast, "attention", lambda q, k, v: (v, None)),
    ("does fewer operations", fast, "operations", lambda n, d, stored: (4 * n * n * d, 8 * n * n * d)),
    ("does fewer operations", fast, "unhidden", lambda n, side: 1.0),
    ("head dimension", fast, "of_half_the_width", lambda layer, x, machine: layer(x)[0] / 2),
    ("head dimension", fast, "split", lambda layer, machines, real=fast.split: real(layer, machines)[:1]),
    ("waits for memory", fast, "decoding", lambda layer, real=fast.decoding: real(fast.LAYERS[0])),
    ("subject-verb", trained.findings, "relations",
     lambda real=trained.findings.relations: {name: real()["nsubj"] for name in real()}),
])
def test_a_claim_notices_when_what_it_computes_with_is_wrong(words, module, name, false, monkeypatch):
    monkeypatch.setattr(module, name, false)
    with pytest.raises(ValueError, match="is not what came out"):
        named(words).found()


def test_the_wrong_padding_mask_is_noticed_by_its_claim(monkeypatch):
    monkeypatch.setattr(masks, "padding", lambda lengths, m: torch.ones(len(lengths), 1, 1, m, dtype=torch.bool))
    with pytest.raises(ValueError, match="is not what came out"):
        named("masked_fill").found()


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
