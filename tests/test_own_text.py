"""A model of a text of one's own: what it learns is more than counting, what it writes is its own text's letters."""
import pytest
import torch

from mha.lab import own_text
from mha.lab.look import look


@pytest.fixture(scope="module")
def text():
    return own_text.read()


@pytest.fixture(scope="module")
def learned(text):
    model = own_text.model(text, d_model=32)
    return model, own_text.learn(model, text, steps=250)


def test_it_learns_more_than_the_letter_before(text, learned):
    model, history = learned
    counted = own_text.counted(model, text)
    assert counted["no letter"] > counted["one letter before"] > counted["two letters before"]
    assert history[0, 2] > counted["no letter"] and history[-1, 2] < counted["one letter before"]
    assert (history[-1, 1:] < history[0, 1:]).all()


def test_what_is_counted_is_what_a_table_of_pairs_gives():
    text = "abab" * 2000 + "ba" * 1000
    model = own_text.model(text)
    trained, held_out = (model.decode(part) for part in own_text.split(model, text))
    after = {pair: trained.count(pair) for pair in ("ab", "ba")}  # letters alternate, but for one place
    assert trained + held_out == text and after["ab"] > 4000
    assert own_text.counted(model, text)["one letter before"] < 0.01
    assert own_text.counted(model, text)["no letter"] == pytest.approx(0.6931, abs=0.001)


def test_it_writes_letters_of_the_text_the_same_from_the_same_seed(text, learned):
    model, _ = learned
    first, again, other = (own_text.written(model, "The ", 150, seed=seed) for seed in (0, 0, 1))
    assert first == again != other and len(first) == 154 and first.startswith("The ")
    assert set(first) <= set(text)
    likeliest = own_text.written(model, "The ", 20, temperature=0)
    ids = torch.tensor([model.encode("The ")])
    assert likeliest == model.decode(model.generate(ids, 20)[0])  # with the cache, the same


def test_no_letter_sees_a_later_one(text):
    model = own_text.model(text)
    ids = torch.tensor([model.encode("the value of a name")])
    other = ids.clone()
    other[0, 10:] = ids[0, :9].flip(0)
    with torch.no_grad():
        assert torch.equal(model(ids)[0, :10], model(other)[0, :10])


def test_its_heads_can_be_looked_at(learned):
    figure = look(learned[0], "The value")
    assert figure.weights.shape == (2, 4, 9, 9) and figure.tokens[0] == "T"


def test_seeds_leave_the_chance_of_others_alone(text):
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    a, b = (own_text.model(text, seed=1) for _ in range(2))
    assert torch.equal(torch.rand(3), wanted)
    assert torch.equal(a.embedding.weight, b.embedding.weight)
    assert torch.equal(a.layers[1].attention.W_Q.weight, b.layers[1].attention.W_Q.weight)


@pytest.mark.parametrize("bytes_, said", [(b"too short", "9 letters"), (b"\xff\xfe" * 4000, "byte 0 is 0xff"),
                                          (b"", "0 letters")])
def test_a_file_that_cannot_be_learned_is_refused_in_a_sentence(tmp_path, bytes_, said):
    (tmp_path / "mine.txt").write_bytes(bytes_)
    with pytest.raises(ValueError, match=said):
        own_text.read(tmp_path / "mine.txt")


def test_wrong_calls_get_a_sentence(text, learned):
    model, _ = learned
    with pytest.raises(ValueError, match="has no '☃'"):
        own_text.written(model, "A ☃", 5)
    with pytest.raises(ValueError, match="at least one letter"):
        own_text.written(model, "", 5)
    with pytest.raises(ValueError, match="0 or more, got -1"):
        own_text.written(model, "A", 5, temperature=-1)
    with pytest.raises(ValueError, match="the text has 3 letters"):
        own_text.model("abc")
    with pytest.raises(ValueError, match="heads"):
        own_text.model(text, heads=5)


def test_a_file_of_ones_own_is_read_whole(tmp_path):
    (tmp_path / "mine.txt").write_text("Zeile für Zeile\n" * 400, encoding="utf-8-sig")
    text = own_text.read(tmp_path / "mine.txt")
    assert text.startswith("Zeile") and len(text) == 6400
