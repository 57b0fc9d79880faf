"""The experiments of the book: what is measured, trained, stored and tested with the layers of `mha`.

    is measured with    `measure`, numbers for maps; `findings`, what a chapter's tables say; `surgery`, heads
                        changed by hand; `ablation`, what heads put out, replaced; `bench`, seconds and memory;
                        `fast`, operations and bytes counted; `races`, layers side by side
    what is trained     `data`, small worlds; `train`, a training for each question; `induction`, models that copy;
                        `journeys`, a world for a model of your own, and its board; `own_text`, a model of
                        a text of your own
    is stored or read   `assets`, results of long computations; `sentences`, texts with known answers; `real`,
                        models that others trained, in the layers of `transformer` and `decoder`; `stories`, one
                        that writes
    is looked at        `look`, every head of a model of the reader's own
    is put to the test  `folklore`, claims about attention
"""
