"""The decoder that runs in a page, in Chromium, against this package's own layers on the same file: token by token on
six texts, and with heads off, tokens hidden, keys and values lent.
"""
import base64

import numpy as np
import pytest
import torch

from mha import masks
from mha.lab import stories, story_file
from mha.lab.assets.told import ALL_HEADS, CHANGES, FIRST_OFF, LENDS, OPENINGS
from mha.widgets import story_that_breaks
from tools import make_told

TEXTS = [
    "Mia had a small red boat. Every day she took it to the pond behind her house.",
    "\"I need a soft pillow,\" he said. The sheep heard him and gave him some of her wool.",
    "Then the cat jumped on the table and the tower fell down. \"Oh no!\" said Anna.",
    "The man said, \"This is the key to my music box! I lost it years ago.\"",
    "The twins Leo and Nora had one bike.\nLeo wanted to ride and Nora wanted to ride too.",
    "My attention heads: 2 x 3 = 6?",
]
SIXTH = 6               # of logits, every sixth is compared, beside the largest of all


@pytest.fixture(scope="module")
def model():
    if stories.find(download=False) is None:
        pytest.skip("no weights of stories15M: set MHA_MODELS")
    return story_file.read(story_that_breaks.file())


@pytest.fixture(scope="module")
def engine(chrome, model):
    """A page with the decoder and its file: run(script) sees `decoder` and `words`, and `told` packs floats."""
    tab = chrome.new_page()
    source = (story_that_breaks.HERE / "story" / "decoder.js").read_text("utf8")
    tab.add_script_tag(content=source + """
      const told = (numbers) => {
        const bytes = new Uint8Array(Float32Array.from(numbers).buffer);
        let text = "";
        for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
        return btoa(text);
      };
      const begin = async (file) => {
        const found = readModel(await unzip(Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0))));
        window.words = new Pieces(found.pieces);
        [window.decoder, window.lender] = [0, 1].map(() => new Decoder(found));
      };
    """)
    tab.evaluate("(file) => begin(file)", base64.b64encode(story_that_breaks.file()).decode())
    yield lambda script, *given: tab.evaluate(script, list(given))
    tab.close()


def floats(text, *shape):
    return torch.from_numpy(np.frombuffer(base64.b64decode(text), np.float32).copy()).view(*shape)


@torch.no_grad()
def scores(model, ids):
    """(n, vocabulary), logits after every token."""
    return model(torch.tensor([ids]))[0]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_logit_and_weight_is_that_of_torch(engine, model, text):
    ours, tokenizer, _ = model
    found = engine("""([text, every]) => {
      decoder.length = 0;
      const ids = words.encode(text);
      const { logits, weights } = decoder.read(ids, true);
      const n = ids.length;
      const rows = ids.map((_, i) => logits.subarray(i * logits.length / n, (i + 1) * logits.length / n));
      return { ids, best: rows.map(likeliest), weights: told(weights),
        some: told(rows.flatMap((row) => [...row].filter((_, i) => i % every === 0))) };
    }""", text, SIXTH)
    ids = tokenizer.encode(text)
    n, wanted = len(ids), scores(ours, ids)
    assert found["ids"] == ids
    assert found["best"] == wanted.argmax(-1).tolist()
    assert (floats(found["some"], n, -1) - wanted[:, ::SIXTH]).abs().max() < 1e-4
    assert (floats(found["weights"], 6, 6, n, n) - make_told.weights_of(ours, ids)).abs().max() < 1e-5


def test_token_by_token_on_its_cache_it_says_the_same(engine, model):
    ids, one, all_at_once, length = engine("""([text]) => {
      const ids = words.encode(text);
      decoder.length = 0;
      const rows = ids.map((id) => [...decoder.read([id]).logits]);
      const length = decoder.length;
      decoder.length = 0;
      const { logits } = decoder.read(ids, true);
      return [ids, told(rows.flat()), told(logits), length];
    }""", TEXTS[0])
    assert length == len(ids)
    assert (floats(one, len(ids), -1) - floats(all_at_once, len(ids), -1)).abs().max() < 1e-4


@pytest.mark.parametrize("opening", range(len(OPENINGS)))
def test_every_change_that_is_stored_is_what_it_computes(engine, model, opening):
    """Nothing, keys or values lent, and each head off, in one of the openings."""
    text, word, other = OPENINGS[opening]
    off = [*range(opening, len(ALL_HEADS), len(OPENINGS))]
    found = engine("""([text, word, other, lends, heads]) => {
      const ids = words.encode(text);
      const [own, theirs] = [word, other].map((name) => words.number.get(` ${name}`));
      const last = ids.length - 1;
      const after = (change) => {
        decoder.length = 0;
        decoder.read(ids.slice(0, last));
        change();
        const { logits } = decoder.read([ids[last]]);
        return [...logits].filter((_, i) => i % 6 === 0);
      };
      lender.length = 0;
      lender.read(ids.slice(0, last).map((id) => (id === own ? theirs : id)));
      const rows = [after(() => {}), ...lends.map(([what, some]) => after(() => ids.slice(0, last).forEach((id, j) =>
        id === own && decoder.lend(lender, j, j, what, some))))];
      for (const i of heads) {
        decoder.off[i] = 1;
        rows.push(after(() => {}));
        decoder.off[i] = 0;
      }
      return told(rows.flat());
    }""", text, word, other, [[what, [list(head) for head in heads]] for what, heads in LENDS], off)
    wanted, _ = make_told.changed(*model[:2], OPENINGS[opening])
    tried = wanted[[*range(FIRST_OFF), *(FIRST_OFF + i for i in off)]]
    assert len(wanted) == CHANGES and (floats(found, len(tried), -1) - tried[:, ::SIXTH]).abs().max() < 1e-4
    assert (wanted[FIRST_OFF:] - wanted[0]).abs().amax(-1).min() > 0.01            # each head counts for something


@torch.no_grad()
def test_a_head_that_gives_its_mean_and_a_hidden_token_are_those_of_torch(engine, model):
    ours, tokenizer, means = model
    ids = tokenizer.encode(OPENINGS[0][0])
    n, token, query = len(ids), 12, 20
    mean, hidden = engine("""([ids, token, query]) => {
      const read = () => {
        decoder.length = 0;
        return told(decoder.read(ids, true).logits);
      };
      decoder.off[31] = 2;
      const mean = read();
      decoder.off[31] = 0;
      decoder.hiddenFrom[token] = query;
      const hidden = read();
      decoder.hiddenFrom[token] = Infinity;
      return [mean, hidden];
    }""", ids, token, query)

    def off(_, given):
        heads = given[0].unflatten(-1, (6, -1)).clone()
        heads[..., 1, :] = means[5, 1]
        return heads.flatten(-2)

    hook = ours.layers[5].attention.W_O.register_forward_pre_hook(off)
    wanted = scores(ours, ids)
    hook.remove()
    assert (floats(mean, n, -1) - wanted).abs().max() < 1e-4
    seen = masks.causal(n)
    seen[query:, token] = False
    wanted = ours(torch.tensor([ids]), mask=seen)[0]
    assert (floats(hidden, n, -1) - wanted).abs().max() < 1e-4


def test_a_seed_settles_what_is_drawn_and_chances_are_kept(engine):
    again, other, drawn, p = engine("""() => {
      const logits = Float32Array.of(0, 1, 2, -1);
      const draws = (seed, count) => {
        const next = randomOf(seed);
        return Array.from({ length: count }, () => choose(logits, 0.8, next));
      };
      return [String(draws(3, 50)) === String(draws(3, 50)), String(draws(3, 50)) === String(draws(4, 50)),
        draws(5, 20000), [...chances(logits, 0.8)]];
    }""")
    assert again and not other
    assert np.abs(np.bincount(drawn, minlength=4) / 20000 - p).max() < 0.015
    assert engine("() => choose(Float32Array.of(0, 3, 1), 0, null)") == 1


def test_letters_that_are_no_piece_are_named(engine):
    assert engine("() => [words.unknown('caf\\u00e9 \\u20ac5'), words.decode(words.encode('caf\\u00e9'))]") == [
        ["\u00e9", "\u20ac"], "caf\u25a1"]


# A widget's model as a notebook gives it, whose kernel answers with what it is told here
NOTEBOOK = """
  async ([source, state, chance, answer]) => {
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
    state.data.chance = new DataView(bytes(chance));
    const heard = {};
    const model = {
      get: (name) => state[name],
      set(name, value) {
        state[name] = value;
        for (const act of heard[`change:${name}`] ?? []) act();
      },
      on: (event, act) => (heard[event] ??= []).push(act),
      off: (event, act) => { heard[event] = heard[event].filter((other) => other !== act); },
      save_changes() {},
      send(asked) {
        const [content, file] = answer;
        const say = () => heard["msg:custom"].forEach((act) => act(content, file ? [new DataView(bytes(file))] : []));
        if (asked.ask === "model") setTimeout(say);
      },
    };
    const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const el = document.body.appendChild(document.createElement("div"));
    module.default.render({ model, el });
    const until = async (holds) => {
      for (let i = 0; i < 1200 && !holds(); i++) await new Promise((done) => setTimeout(done, 50));
    };
    const press = el.querySelector(".press button");
    const said = press.textContent;
    press.click();
    const says = () => el.querySelector(".press")?.innerText ?? "";
    await until(() => el.querySelector(".own") || says().includes("could not"));
    const listed = [...el.querySelectorAll(".next th[scope=row]")].map((one) => one.textContent);
    return [said, says(), listed[0], el.querySelectorAll(".token").length];
  }
"""


def in_a_notebook(chrome, content, file=None):
    """The words of the button, what stands beside it after a press, the likeliest token, and how many are shown."""
    figure, tab = story_that_breaks.StoryThatBreaks(), chrome.new_page()
    canvas = figure.canvas
    state = {name: getattr(canvas, name) for name in ("figure", "module", "label", "setting_names",
                                                      *figure.declared())}
    data = {name: value for name, value in canvas.data.items() if name != "chance"}
    tab.goto("about:blank")
    found = tab.evaluate(NOTEBOOK, [str(canvas._esm), state | {"data": data},
                                    base64.b64encode(canvas.data["chance"]).decode(),
                                    [content, file and base64.b64encode(file).decode()]])
    tab.close()
    return found


def test_in_a_notebook_the_kernel_sends_the_model(chrome, model):
    said, _, best, tokens = in_a_notebook(chrome, {"worker": story_that_breaks.worker()}, story_that_breaks.file())
    assert said.endswith(f"{story_that_breaks.MEGABYTES} MB") and (best, tokens) == ("Anna", 27)


def test_in_a_notebook_without_the_weights_it_says_why(chrome):
    _, says, best, tokens = in_a_notebook(chrome, {"error": "Set MHA_MODELS"})
    assert "The model could not be loaded: Set MHA_MODELS." in says and (best, tokens) == ("Anna", 67)
