"""Wrong plans and wrong calls of split layers: each meets a sentence of ours, in every process."""
import traceback
from pathlib import Path

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

import mha
from heads import B, D, H, N, WIDE, latent, layer, tokens
from mha import KVCache, MultiHeadAttention, MultiHeadLoop
from mha.lab import ablation, measure
from mha.parallel import gather, heads_here, split_over_heads
from mha.ring import pairs_of_step, ring_attention, tokens_here


def tied():
    a, b = layer(), layer()
    b.W_Q.weight = a.W_Q.weight
    return nn.Sequential(a, b)


def planned(one, mesh):
    return parallelize_module(one, mesh, {"W_Q": ColwiseParallel()})


class Adapter(nn.Linear):
    def forward(self, x):
        return super().forward(x) + 1


def adapted():
    one = layer()
    one.W_Q = Adapter(D, 48)
    return one


def calls(mesh):
    """name -> (the wrong call, words of its sentence)."""
    P = mesh.size()
    two = init_device_mesh("cpu", (P, 1))
    named = init_device_mesh("cpu", (1, P), mesh_dim_names=("data", "heads"))
    split, causal = split_over_heads(layer(), mesh), split_over_heads(layer(causal=True), mesh)
    shared, few = layer(num_kv_heads=1), MultiHeadAttention(D, P + 1, d_k=3)
    one, part, x = layer(causal=True), H // P, tokens(B, N, D)
    kept = KVCache(B, H, 9, 4, 3, **WIDE)
    replicated = DTensor.from_local(x, mesh, [Replicate()])
    uneven = MultiHeadAttention(D, 3 * (P + 1) * P, num_kv_heads=P + 1, d_k=2)
    return {
        "no model": (lambda: split_over_heads([layer()], mesh), "split_over_heads got a list"),
        "a number of processes": (lambda: split_over_heads(layer(), P), "mesh is a int.*init_device_mesh"),
        "a device": (lambda: split_over_heads(layer(), "cpu"), "mesh is a str"),
        "no mesh": (lambda: split_over_heads(layer()), "got no mesh"),
        "torch's word": (lambda: split_over_heads(layer(), device_mesh=mesh), "has no device_mesh="),
        "two dimensions without names": (lambda: split_over_heads(layer(), two), "2 dimensions.*must be named first"),
        "two dimensions, none said": (lambda: split_over_heads(layer(), named), "say over which one.*dim='heads'"),
        "a dimension that is not there": (lambda: split_over_heads(layer(), named, dim="tp"), "'tp' is no dimension"),
        "a dimension of a mesh without names": (lambda: split_over_heads(layer(), mesh, dim="tp"), "has no names"),
        "heads that do not divide": (lambda: split_over_heads(few, mesh), f"{P + 1} heads do not divide over {P}"),
        "the layer of a model": (lambda: split_over_heads(nn.Sequential(few), mesh), "0: .* heads do not divide"),
        "fewer kv heads": (lambda: split_over_heads(shared, mesh), f"num_kv_heads=1 .* for {P} processes"),
        "kv heads that do not divide": (lambda: split_over_heads(uneven, mesh), "keys and values do not divide"),
        "latent heads": (lambda: split_over_heads(mha.MultiHeadLatentAttention(D, P + 1, d_c=3, d_k=2), mesh),
                         "heads do not divide"),
        "twice": (lambda: split_over_heads(split, mesh), f"split already, over {P} processes"),
        "twice in one model": (lambda: split_over_heads(nn.Sequential(layer(), split), mesh), "1: .*split already"),
        "a plan by hand": (lambda: split_over_heads(planned(layer(), mesh), mesh), "W_Q is a Linear.*split"),
        "an adapter": (lambda: split_over_heads(adapted(), mesh), "W_Q is a Adapter"),
        "another device": (lambda: split_over_heads(layer(device="meta"), mesh), "on meta and the mesh on cpu"),
        "torch's layer": (lambda: split_over_heads(nn.MultiheadAttention(12, 4), mesh), "from_torch"),
        "no layer": (lambda: split_over_heads(nn.Linear(3, 3), mesh), "has no mha.MultiHeadAttention inside"),
        "a loop over heads": (lambda: split_over_heads(MultiHeadLoop([mha.Head(D, 3)]), mesh), "inside to split"),
        "tied matrices": (lambda: split_over_heads(tied(), mesh), "are one parameter"),
        "a part of head_mask": (lambda: split(x, head_mask=torch.ones(part, **WIDE)), f"for {part} heads.*all {H}"),
        "a part of a bias": (lambda: split(x, bias=tokens(1, part, N, N)), f"for {part} heads.*all {H}"),
        "a part of a mask": (lambda: split(x, mask=torch.ones(1, part, N, N).bool()), f"for {part} heads.*all {H}"),
        "a part of a latent mask": (lambda: split_over_heads(latent(), mesh)(x, mask=torch.ones(1, part, N, N).bool()),
                                    f"for {part} heads"),
        "a DTensor": (lambda: split(replicated), r"x is a DTensor.*full_tensor\(\)"),
        "tokens of another width": (lambda: split(x[..., 1:]), f"d_model={D}"),
        "tokens of another dtype": (lambda: split(x.float()), "torch.float32 but the layer is torch.float64"),
        "numbers of tokens": (lambda: split(torch.arange(5)[None]), "floating point"),
        "no tensor": (lambda: split([1.0]), "x is a list"),
        "no tokens": (lambda: split(x[:, :0]), r"shape \(3, 0, 11\).*one token of one sequence at least"),
        "no sequences": (lambda: split(x[:0]), "one token of one sequence at least"),
        "one of its matrices": (lambda: split.W_K(x), "heads of this one alone.*gather"),
        "one of a latent's": (lambda: split_over_heads(latent(), mesh).W_UK(x[..., :7]), "heads of this one alone"),
        "outputs of its heads": (lambda: ablation.head_outputs(split, lambda: split(x)), "split over .*gather"),
        "what its heads carry": (lambda: measure.carried(torch.ones(B, H, N, N, **WIDE), x, split), "this one alone"),
        "split matrices to load": (lambda: layer().load_state_dict(split.state_dict()), "and this layer is whole"),
        "a head": (lambda: split.head(0), "split over .*gather"),
        "pruning": (lambda: split.prune([0]), "split over .*gather"),
        "a circuit": (lambda: split.qk(0), "split over .*gather"),
        "another circuit": (lambda: split.ov(0), "split over .*gather"),
        "torch's own": (lambda: split_over_heads(MultiHeadAttention(12, 12), mesh).to_torch(), "split over .*gather"),
        "fresh parameters": (split.reset_parameters, "split over .*gather"),
        "fresh latent parameters": (split_over_heads(latent(), mesh).reset_parameters, "split over .*gather"),
        "whole matrices to load": (lambda: split.load_state_dict(layer().state_dict()), "load it first, then split"),
        "a cache for all heads": (lambda: causal.eval()(x, cache=kept), "this cache keeps"),
        "a cache that a whole layer fills": (lambda: fill_twice(one, causal, x), "another layer has filled"),
        "gather a model": (lambda: gather(nn.Sequential(split)), "gather got a Sequential.*get_submodule"),
        "the heads of a model": (lambda: heads_here(nn.Sequential(split)), "heads_here got a Sequential"),
    }


def ring_calls(mesh):
    P, rank = mesh.size(), mesh.get_local_rank()
    q, odd = tokens(B, 3, 6, 5), tokens(B, 3, 7, 5)
    return {
        "an order that is none": (lambda: ring_attention(q, q, q, order="striped"), "'striped' is no order"),
        "zigzag of an odd number": (lambda: ring_attention(odd, odd, odd, causal=True, order="zigzag"),
                                    "n=7 tokens.*an even number"),
        "other tokens": (lambda: ring_attention(q, odd, odd), "q has n=6 tokens and k has m=7"),
        "no tokens": (lambda: ring_attention(*[q[:, :, :0]] * 3), "one at least"),
        "a mesh for a group": (lambda: ring_attention(q, q, q, group=mesh), r"mesh.get_group\(\)"),
        "a number for a group": (lambda: ring_attention(q, q, q, group=3), "group is a int"),
        "a mask": (lambda: ring_attention(q, q, q, mask=torch.ones(6, 6).bool()), "has no mask="),
        "no values": (lambda: ring_attention(q, q), "got no v"),
        "sizes that differ": (lambda: ring_attention(q, q[..., 1:], q), "d_k=5 but k has d_k=4"),
        "heads that do not share": (lambda: ring_attention(q, q[:, :2], q[:, :2]), "multiple of the second"),
        "dtypes that differ": (lambda: ring_attention(q, q.float(), q), "they must agree"),
        "numbers": (lambda: ring_attention([1.0], q, q), "q is a list"),
        "a DTensor": (lambda: ring_attention(*[DTensor.from_local(q, mesh, [Replicate()])] * 3), r"q.to_local\(\)"),
        "a text that does not divide": (lambda: tokens_here(6 * P + 1, P, rank), "pad the text on the right to"),
        "a text for zigzag": (lambda: tokens_here(3 * P, P, rank, "zigzag"), f"the {2 * P} chunks"),
        "a process too many": (lambda: tokens_here(P, P, P), f"rank={P} is none"),
        "no whole number": (lambda: tokens_here(6.0 * P, P, 0), "n="),
        "work of no order": (lambda: pairs_of_step(4 * P, P, order=None), "None is no order"),
    }


def calls_of_one(mesh):
    """Wrong in the last process alone, or other than in the first: no process waits for another, each has a sentence.

    name -> (the call, words of its sentence in the last process, and in the first).
    """
    last = mesh.get_local_rank() == mesh.size() - 1
    q, refused = tokens(B, 3, 6, 5), f"process {mesh.size() - 1} was refused"

    def ring(its=q, **options):
        return lambda: ring_attention(*[its if last else q] * 3, **{k: v[last] for k, v in options.items()})

    def split(its, ours=layer):
        return lambda: split_over_heads((its if last else ours)(), mesh)

    alike = "must be equal in each process; process 0 gives"
    return {
        "an order that is none": (ring(order=("zigzag", "striped")), "no order of tokens", refused),
        "an odd number": (ring(q[:, :, :5], causal=(True, True), order=["zigzag"] * 2), "an even number", refused),
        "no tokens": (ring(q[:, :, :0]), "one at least", refused),
        "no tensor": (ring([1.0]), "q is a list", refused),
        "no bound": (ring(softcap=(1.0, -1.0)), "softcap=-1.0 must be above 0", refused),
        "other lengths": (ring(q[:, :, :4]), f"{alike} q of shape", alike),
        "another dtype": (ring(q.float()), f"{alike} q of .*float64, process .*float32", alike),
        "another mask": (ring(causal=(False, True)), f"{alike} causal=False", alike),
        "another scale": (ring(scale=(1.0, 2.0)), f"{alike} scale=1.0, process .* scale=2.0", alike),
        "no heads to split": (split(lambda: nn.Linear(3, 3)), "inside to split", refused),
        "heads that do not divide": (split(lambda: MultiHeadAttention(D, 13, d_k=2)), "do not divide", refused),
        "other heads": (split(lambda: layer(d_k=3)), f"{alike} a layer, num_heads={H}, d_k=4.*d_k=3", alike),
        "other widths": (split(lambda: layer(d_context=D + 2)), f"{alike} a layer.*W_K", alike),
        "one that is causal": (split(lambda: layer(causal=True)), f"{alike} .*causal=False.*causal=True", alike),
        "one layer more": (split(lambda: nn.Sequential(layer(), layer()), lambda: nn.Sequential(layer())),
                           f"{alike} nothing more, process .* 1, num_heads", alike),
    }


@torch.no_grad()
def fill_twice(one, split, x):
    cache = one.new_cache(B, 2 * N)
    one(x, cache=cache)
    split(x, cache=cache)


def check_sentences(mesh):
    """name -> [the sentence, the words that it must have, whether a `raise` of ours said it]."""
    found, last = {}, mesh.get_local_rank() == mesh.size() - 1
    of_one = {f"{name}, in one": (call, words if last else of_others)
              for name, (call, words, of_others) in calls_of_one(mesh).items()}
    for name, (call, words) in (calls(mesh) | ring_calls(mesh) | of_one).items():
        try:
            call()
            said, ours = "nothing", False
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error}"
            ours = Path(last.filename).is_relative_to(Path(mha.__file__).parent)
        found[name] = [said, words, ours]
    return found
