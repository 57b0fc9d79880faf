"""5.6: what True means."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="5.6", title="True means ...", chapter="05_masks", stars=1, minutes=5, after="section 7", several=True,
    core=True,
    statement="You have a boolean mask in which True says \"may attend\". To which of these can you pass it as it is? "
              "Pick all.",
    options=(
        Option("`F.scaled_dot_product_attention(q, k, v, attn_mask=mask)`", "There True takes part."),
        Option("`nn.MultiheadAttention(...)(q, k, v, attn_mask=mask)`",
               "There True means: not allowed to attend. Pass ~mask.", "mha-attn_mask"),
        Option("`nn.MultiheadAttention(...)(q, k, v, key_padding_mask=mask)`",
               "There True means: ignore this key. Pass ~mask.", "mha-key_padding_mask"),
        Option("`mha.attention(q, k, v, mask=mask)`", "In this book True means may attend, everywhere."),
        Option("`scores.masked_fill(mask, -torch.inf)`",
               "It fills where the mask is True, so it would hide what may be seen. Pass ~mask.", "masked_fill"),
    ),
    hints=("masked_fill fills where True stands.", "torch's two attention interfaces disagree."),
    note="Two interfaces of one library, two meanings. A test that shows the mask once, on three tokens, costs a "
         "minute; chapter 5 has an error that lived for two years.",
)
