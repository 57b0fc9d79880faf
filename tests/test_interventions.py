"""What is stored of a trained model whose heads are kept from [CLS], or one of which is switched off."""
import torch
import torch.nn.functional as F

from mha.lab.assets import switched_off, without_cls
from mha.lab.findings import chapter_08, heads
from tools.make_interventions import weights_of


def test_a_hidden_key_gets_nothing_and_the_others_share_what_it_had(some):
    scores, sinks = torch.randn(1, 3, 5, 7).double(), torch.randn(3).double()
    own = weights_of(scores, "as trained", None)
    for key in (0, -1, 4):
        hidden = weights_of(scores, key, None)
        rest = own.clone()
        rest[..., key] = 0
        torch.testing.assert_close(hidden, F.normalize(rest, p=1, dim=-1))
    dropped, logit = (weights_of(scores, change, sinks) for change in ("value", "logit"))
    assert (dropped[..., 0] == 0).all() and (logit[..., 0] == 0).all()
    torch.testing.assert_close(dropped[..., 1:], own[..., 1:])
    torch.testing.assert_close(logit.sum(-1), 1 - torch.cat([sinks[:, None, None].expand(1, 3, 5, 1), scores[..., 1:]],
                                                            -1).softmax(-1)[..., 0])


def test_without_cls_the_vectors_are_wrecked_and_one_more_logit_brings_most_back():
    found = without_cls()
    words = [cosine for name, (cosine, _) in found.items() if name.startswith("word")]
    assert all(least <= cosine for cosine, least in found.values()) and len(words) == 7
    assert found["[CLS]"][0] < 0.7 < 0.94 < min(words)
    assert found["one more logit"][1] > found["[CLS]"][0] and found["one more logit"][0] > 0.95
    assert found["its value"][1] > 0.99
    told = dict(chapter_08.without().rows[1:])
    assert float(told["one word hidden"]) == sorted(words)[3] and float(told["[CLS] hidden"]) == found["[CLS]"][0]


def test_two_heads_move_pronouns_more_than_all_others_by_the_ratio():
    moved = switched_off("pronouns")
    ratio = moved[:, 0] / moved[:, 1]
    assert moved.shape == (72, 2) and (moved > 0).all()
    assert [heads.name_of(n) for n in ratio.argsort(descending=True)[:2].tolist()] == ["2.4", "1.3"]
    assert "4.5 off: pronouns" in chapter_08.off("pronouns", "4.5")
