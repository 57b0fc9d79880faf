"""mha.lab.sentences: the annotations are what README.md beside them says."""
from collections import Counter

import pytest

from mha.lab import sentences


def test_the_relations_are_as_many_as_the_readme_says():
    texts, marks = sentences.relations()
    assert (len(texts), len(marks)) == (62, 483)
    readme = (sentences.HERE / "README.md").read_text(encoding="utf-8")
    assert "62 sentences, 483 relations" in readme and {mark.kind for mark in marks} == set(sentences.KINDS)


def test_every_relation_joins_two_words_of_one_sentence():
    texts, marks = sentences.relations()
    for mark in marks:
        words = texts[mark.sentence]
        assert 0 <= mark.head < len(words) and mark.head != mark.dependent and words[mark.head].isalpha()


def test_a_determiner_is_an_article_or_points_and_the_noun_stands_to_its_right():
    texts, marks = sentences.relations()
    found = {texts[mark.sentence][mark.dependent].lower() for mark in marks if mark.kind == "det"}
    assert found == {"the", "a", "an", "this", "that"}
    assert all(mark.head > mark.dependent for mark in marks if mark.kind in ("det", "amod"))


def test_every_article_is_marked():
    texts, marks = sentences.relations()
    marked = {(mark.sentence, mark.dependent) for mark in marks if mark.kind == "det"}
    articles = {(number, place) for number, words in enumerate(texts) for place, word in enumerate(words)
                if word.lower() in ("the", "a", "an")}
    assert articles <= marked


def test_no_word_has_two_heads_of_one_kind():
    counts = Counter((mark.sentence, mark.kind, mark.dependent) for mark in sentences.relations()[1])
    assert max(counts.values()) == 1


PRONOUNS = "it its he him his himself she her herself they them their themselves".split()


@pytest.mark.parametrize("items, count", [(sentences.pronouns(), 30), (sentences.pronouns(again=True), 30),
                                          ([one for pair in sentences.twins() for one in pair], 32),
                                          (sentences.late(), 16)])
def test_all_mentions_stand_before_their_pronoun(items, count):
    assert len(items) == count
    for item in items:
        assert item.others and item.antecedent not in item.others and max(item.antecedent, *item.others) < item.pronoun
        assert item.words[item.pronoun].lower() in PRONOUNS


def test_twins_share_all_words_up_to_their_ending_and_exchange_their_antecedents():
    for one, two in sentences.twins():
        assert one.words[:one.pronoun + 1] == two.words[:two.pronoun + 1] and one.words != two.words
        assert (one.antecedent,) == two.others and (two.antecedent,) == one.others and one.antecedent < two.antecedent


def test_a_pronouns_item_names_each_mention_once():
    for item in sentences.pronouns() + sentences.pronouns(again=True):
        lowered = [word.lower() for word in item.words]
        assert all(lowered.count(lowered[place]) == 1 for place in (item.antecedent, *item.others))


def test_no_pronoun_of_the_second_set_stands_in_a_sentence_of_the_first():
    first, second = ({" ".join(item.words) for item in sentences.pronouns(again)} for again in (False, True))
    assert not first & second


def test_where_two_rules_part_the_next_noun_stands_before_the_noun_of_the_relation():
    items = sentences.apart()
    assert Counter(kind for kind, _ in items) == {"det": 20, "dobj": 10}
    for kind, item in items:
        (next_noun,) = item.others
        assert item.pronoun < next_noun < item.antecedent
        if kind == "det":
            assert next_noun + 1 == item.antecedent and item.words[item.pronoun].lower() in ("the", "a", "an")


def test_roles_exchange_the_same_words():
    for one, two in sentences.roles():
        assert one != two and sorted(one.lower().strip(".").split()) == sorted(two.lower().strip(".").split())


def test_stereotypes_are_balanced():
    items = sentences.late()
    assert Counter(item.words[item.pronoun] for item in items) == {"she": 8, "he": 8}
    assert sum(item.antecedent < item.others[0] for item in items) == 8


def test_paraphrases_are_sixty_different_triples():
    triples = sentences.paraphrases()
    assert len(triples) == 60 and all(len(triple) == 3 for triple in triples)
    assert len({text for triple in triples for text in triple}) == 180
