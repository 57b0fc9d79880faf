"""What the value map claims of its tokens, weights and targets."""
import math

import pytest
import torch

from mha.widgets.value_map import SHARPNESS, TARGETS, TOKENS, ValueMap, attend, value_matrix


def test_no_weights_over_the_tokens_reach_a_target():
    angles = torch.linspace(0, 2 * math.pi, 721, dtype=torch.float64)
    directions = torch.stack([angles.cos(), angles.sin()])                                    # (2, 721)
    beyond = TARGETS @ directions - (TOKENS @ directions).max(0).values  # > 0: further than every token
    assert (beyond.max(1).values > 0.2).all()


def test_one_matrix_and_no_other_puts_every_output_on_its_target():
    mixtures = attend(torch.eye(2, dtype=torch.float64), 1.0)[0]                              # (4, 2)
    solved = torch.linalg.lstsq(mixtures, TARGETS)
    assert torch.linalg.matrix_rank(mixtures) == 2
    torch.testing.assert_close(solved.solution, value_matrix(90, 1.5, 1.75))
    torch.testing.assert_close(mixtures @ solved.solution, TARGETS)


@pytest.mark.parametrize("turn, first, second", [(0, 1, 1), (90, 1.5, 1.75), (-75, 2, -0.5), (45, 0, 1), (180, 0, 0)])
@pytest.mark.parametrize("sharpness", range(len(SHARPNESS)))
def test_mixing_and_mapping_commute(turn, first, second, sharpness):
    shown = ValueMap().numbers(turn=turn, first=first, second=second, asking=3, sharpness=sharpness)
    torch.testing.assert_close(shown["mixture"] @ shown["matrix"].view(2, 2), shown["out"])


def test_a_row_vector_turns_left_before_it_is_stretched():
    x = torch.tensor([1.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(x @ value_matrix(90, 5, 2), torch.tensor([0.0, 2.0], dtype=torch.float64))
