"""A layer that is split over its heads computes what it computes whole: outputs, weights, gradients, caches."""
import copy
import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode

import mha
from mha import MultiHeadAttention, MultiHeadLatentAttention
from mha.lab import bench, stories
from mha.lab.decoder import Decoder, GatedLayer, NormedQK
from mha.parallel import gather, heads_here, split_over_heads
from mha.position import Rope, alibi_bias

B, N, M, D, H, H_KV = 3, 7, 5, 11, 12, 4
WIDE = {"dtype": torch.float64}


def tokens(*shape):
    return torch.randn(*shape, **WIDE)


def layer(**options):
    return biased(MultiHeadAttention(D, H, **{"d_k": 4, "d_v": 3, "d_out": 13, **WIDE, **options}))


def latent(**options):
    return MultiHeadLatentAttention(D, H, **{"d_c": 7, "d_k": 5, "d_v": 3, "d_r": 4, "causal": True, **WIDE, **options})


def biased(model):
    """With biases that are not zero: as they are drawn, one that is added twice would not be seen."""
    for W in model.modules():
        if isinstance(W, nn.Linear) and W.bias is not None:
            nn.init.normal_(W.bias)
    return model


def frozen():
    one = layer()
    one.W_K.requires_grad_(False)
    return one


def full(p):
    return p.full_tensor() if isinstance(p, DTensor) else p


def far(a, b):
    """The largest difference; of something that is no ordinary tensor, or of another shape, infinity."""
    return (a - b).abs().max().item() if type(a) is type(b) is torch.Tensor and a.shape == b.shape else torch.inf


def both(one, mesh, *inputs, **options):
    """Call a layer whole and split, forward and backward: name -> how far apart the two are."""
    split, found = split_over_heads(copy.deepcopy(one), mesh), {}
    called = []
    for model in one, split:
        given = [t.clone().requires_grad_() for t in inputs]
        named = {name: t.clone().requires_grad_() if isinstance(t, torch.Tensor) and t.is_floating_point() else t
                 for name, t in options.items()}
        out = [t for t in model(*given, **named) if t is not None]
        torch.manual_seed(3)
        sum((t * tokens(*t.shape)).sum() for t in out).backward()
        grads = [t.grad for t in [*given, *named.values()] if isinstance(t, torch.Tensor) and t.requires_grad]
        called.append((out, grads, [full(p.grad) for p in model.parameters()]))
    for kind, a, b in zip(("outputs", "inputs", "parameters"), *called):
        found[kind] = max((far(s, t) for s, t in zip(a, b)), default=0.0)
    return found


def check_layers(mesh):
    mask, bias = torch.rand(B, H, N, N) > 0.3, tokens(1, H, N, N)
    x, y = tokens(B, N, D), tokens(B, M, 17)
    calls = {
        "alone": (layer(), x, {}),
        "without biases": (layer(bias=False), x, {}),
        "causal, rotated, shared keys": (layer(causal=True, num_kv_heads=H_KV, on_qk=Rope()), x, {}),
        "norms of queries and keys": (layer(on_qk=NormedQK(4, Rope()).double()), x, {}),
        "no batch": (layer(), x[0], {}),
        "weights": (layer(), x, {"need_weights": True}),
        "weights, no batch": (layer(), x[0], {"need_weights": True}),
        "a mask of each head": (layer(), x, {"mask": mask}),
        "a mask for all heads": (layer(), x, {"mask": mask[:, :1]}),
        "a bias of each head": (layer(), x, {"bias": bias}),
        "a bias for all heads": (layer(), x, {"bias": bias[0, 0]}),
        "ALiBi": (layer(causal=True), x, {"bias": alibi_bias(H, N)[None].double()}),
        "head_mask": (layer(), x, {"head_mask": torch.rand(H, **WIDE)}),
        "head_mask of each sequence": (layer(), x, {"head_mask": torch.rand(B, H, **WIDE), "need_weights": True}),
        "a window, a softcap": (layer(causal=True), x, {"window": (2, 0), "softcap": 3.0}),
    }
    found = {name: both(one, mesh, x, **options) for name, (one, x, options) in calls.items()}
    found["a context"] = both(layer(d_context=17), mesh, x, y, need_weights=True)
    return found


def check_latent_layers(mesh):
    found, mask = {}, torch.rand(B, H, N, N) > 0.3
    for absorbed, d_r, weights in itertools.product((False, True), (0, 4), (False, True)):
        options = {"need_weights": weights, "mask": mask if weights else None}
        found[f"{absorbed=} {d_r=} {weights=}"] = both(latent(absorbed=absorbed, d_r=d_r), mesh, tokens(B, N, D),
                                                       **options)
    return found


def steps(model, cache, x):
    with torch.no_grad():
        return torch.cat([model(piece, cache=cache)[0] for piece in x.split([3, 1, 1, 2], 1)], 1)


def check_caches(mesh):
    """Token by token, with a cache that is reordered, and made shorter."""
    found = {}
    for name, one in {"shared keys": layer(causal=True, num_kv_heads=H_KV, on_qk=Rope()), "latent": latent(),
                      "absorbed": latent(absorbed=True)}.items():
        split, outs = split_over_heads(copy.deepcopy(one), mesh), []
        for model in one, split:
            torch.manual_seed(5)
            cache = model.new_cache(B, 2 * N)
            first = steps(model, cache, tokens(B, N, D))
            cache.select([2, 0, 0])
            cache.crop([4, 1, 7])
            outs.append(torch.cat([first, steps(model, cache, tokens(B, N, D))]))
        found[name] = {"outputs": far(*outs)}
    with torch.no_grad():
        one, x, context = layer(num_kv_heads=H_KV, d_context=17), tokens(B, N, D), tokens(B, M, 17)
        split = split_over_heads(copy.deepcopy(one), mesh)
        kept = mha.KVCache.of_context(split, context)
        found["a context"] = {"outputs": far(split(x, kept)[0], one(x, context)[0]),
                              "heads": float(kept.K.shape[1] - H_KV / mesh.size())}
    return found


def check_record_and_gather(mesh):
    model, x = nn.Sequential(nn.Linear(D, D, **WIDE), nn.Identity(), layer(d_out=D)), tokens(B, N, D)
    split = split_over_heads(copy.deepcopy(model), mesh)
    with mha.record(model) as one, mha.record(split) as other, torch.no_grad():
        found = {"model": {"outputs": far(split(x)[0], model(x)[0])}, "record": {"weights": far(one["2"], other["2"])}}
    for name, whole in {"layer": layer(num_kv_heads=H_KV, on_qk=Rope()), "latent": latent(d_r=0)}.items():
        again = gather(split_over_heads(copy.deepcopy(whole), mesh))
        found[f"gathered {name}"] = {key: far(p.detach(), again.state_dict()[key])
                                     for key, p in whole.state_dict().items()}
        found[f"split again, {name}"] = {"outputs": far(split_over_heads(again, mesh)(x)[0], whole(x)[0])}
    whole, again = layer(), gather(split_over_heads(layer(), mesh))
    again.load_state_dict(whole.state_dict())
    found["frozen"] = {"weights": float(gather(split_over_heads(frozen(), mesh)).W_K.weight.requires_grad)}
    found["pruned"] = {"outputs": far(again.prune([0, 2])(x)[0], whole.prune([0, 2])(x)[0])}
    return found


def check_the_heads_stand_in_order(mesh):
    here = [None] * mesh.size()
    dist.all_gather_object(here, heads_here(split_over_heads(layer(), mesh)))
    return {"all": {"heads": float(sum(here, []) != heads_here(layer()))}}


def check_a_step_of_training(mesh):
    """Optimizers and clipping see the gradients of one process."""
    x, found = tokens(B, N, D), {}
    one = nn.Sequential(nn.Linear(D, D, **WIDE), layer(d_out=D, on_qk=NormedQK(4, Rope()).double()))
    for kind in torch.optim.SGD, torch.optim.AdamW:
        models = copy.deepcopy(one), split_over_heads(copy.deepcopy(one), mesh)
        for model in models:
            optimizer = kind(model.parameters(), lr=1e-3, foreach=False)
            for _ in range(2):
                optimizer.zero_grad()
                model(x)[0].square().sum().backward()
                optimizer.step()
        found[kind.__name__] = {"outputs": far(*(model(x)[0].detach() for model in models))}
    return found


def check_other_weights_in_each_process(mesh):
    """The first process's weights count, as in all of DTensor's plans."""
    torch.manual_seed(dist.get_rank())
    found = {}
    for name, one in {"layer": layer(on_qk=NormedQK(4, None).double()), "latent": latent()}.items():
        if name == "layer":
            nn.init.normal_(one.on_qk.norm_q.weight)
        torch.manual_seed(1)
        x, whole = tokens(B, N, D), copy.deepcopy(one)
        first = [whole(x)[0].detach()]
        dist.broadcast(first[0], 0)
        found[name] = {"outputs": far(split_over_heads(one, mesh)(x)[0].detach(), first[0])}
    return found


def check_what_is_not_used(mesh):
    """Hooks of torch, on a layer of whose results one is not used."""
    found = {}
    for used in range(2):
        grads, x = [], tokens(B, N, D).requires_grad_()
        for model in (one := layer()), split_over_heads(copy.deepcopy(one), mesh):
            model.register_full_backward_hook(lambda *_: None)
            grads += torch.autograd.grad(model(x, need_weights=True)[used].square().sum(), x)
        found[("output", "weights")[used]] = {"inputs": far(*grads)}
    return found


def check_how_often_processes_speak(mesh):
    """One sum over processes forward, and one backward."""
    found = {}
    for name, one in {"layer": layer(causal=True, on_qk=Rope()), "weights": layer()}.items():
        split, x = split_over_heads(one, mesh), tokens(B, N, D).requires_grad_()
        forward, backward = CommDebugMode(), CommDebugMode()
        with forward:
            out = split(x, need_weights=name == "weights")
        with backward:
            sum(t.sum() for t in out if t is not None).backward()
        found[name] = {"forward": forward.get_total_counts() - (1 if name == "layer" else 2) + 0.0,
                       "backward": backward.get_total_counts() - 1.0}
    return found


def check_one_layer_in_two_places(mesh):
    shared, x = layer(d_out=D), tokens(B, N, D)

    class Twice(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x):
            return self.second(self.first(x)[0])

    on_qk = NormedQK(4, Rope()).double()
    return {"shared": both(Twice(shared, shared), mesh, x),
            "norms that two layers share": both(Twice(layer(d_out=D, on_qk=on_qk), layer(on_qk=on_qk)), mesh, x)}


def check_one_dimension_of_a_mesh(mesh):
    two = init_device_mesh("cpu", (mesh.size(), 1), mesh_dim_names=("heads", "data"))
    one, x = layer(), tokens(B, N, D).requires_grad_()
    found = {}
    for dim in ("heads", "data"):  # over all, and over one process
        split = split_over_heads(copy.deepcopy(one), two, dim=dim)
        outs = [model(x)[0] for model in (one, split)]
        found[dim] = {"outputs": far(*outs), "inputs": far(*(torch.autograd.grad(out.sum(), x)[0] for out in outs)),
                      "heads": float(len(heads_here(split)) - H / two[dim].size())}
    return found


def decoder():
    layers = [GatedLayer(MultiHeadAttention(24, H, num_kv_heads=H_KV, d_k=4, bias=False, causal=True, on_qk=Rope()), 31)
              for _ in range(2)]
    return Decoder(37, 29, layers).double()


def check_gradients_of_norms_in_copies(mesh):
    """A norm of queries that all heads use: in a copy of a split layer, in a whole one that shares it, unfrozen."""
    one, x, found = layer(on_qk=NormedQK(4, Rope()).double()), tokens(B, N, D), {}
    still = copy.deepcopy(one)
    still.on_qk.requires_grad_(False)
    split, still = (split_over_heads(model, mesh) for model in (copy.deepcopy(one), still))
    still.on_qk.requires_grad_(True)
    for name, model in {"whole": one, "split": split, "copied": copy.deepcopy(split), "gathered": gather(split),
                        "unfrozen": still}.items():
        weight = model.on_qk.norm_q.weight
        found[name] = torch.autograd.grad(model(x)[0].square().sum(), weight)[0]
    return {name: {"gradient": far(grad, found["whole"])} for name, grad in found.items()}


def check_a_decoder_writes(mesh):
    """A whole language model, token by token, with caches: the same logits, the same tokens."""
    one, ids = decoder(), torch.randint(0, 37, (2, 5))
    split = split_over_heads(copy.deepcopy(one), mesh)
    written = [model.generate(ids, 17) for model in (one, split)]
    drawn = [model.generate(ids, 17, torch.Generator().manual_seed(3)) for model in (one, split)]
    with torch.no_grad():
        found = {"logits": far(split(written[0]), one(written[0]))}
    traces = [model.trace(written[0][:1]).weights for model in (one, split)]
    return {"decoder": {**found, "tokens": float((written[0] != written[1]).sum()), "weights": far(*traces),
                        "drawn tokens": float((drawn[0] != drawn[1]).sum())}}


def check_what_the_benchmark_times(mesh):
    one, x = layer(), tokens(B, N, D)
    ways = bench.split_ways(one, mesh)
    outs = [way(x)[0].detach() for way in ways.values()]
    return {"ways": {"outputs": far(outs[1], one(x)[0].detach()), "of the first": far(outs[0], outs[1]) if
            mesh.get_local_rank() == 0 else far(outs[0], x)}}


def check_stories15m_tells_the_same_story(mesh):
    """A trained model, where its file is on this machine, and its six heads divide."""
    if stories.find(download=False) is None or 6 % mesh.size():
        return {}
    one, tokenizer = stories.load()
    models = one.double(), split_over_heads(copy.deepcopy(one), mesh)
    told = [model.generate(torch.tensor([tokenizer.encode("One day, a little girl")]), 12) for model in models]
    with torch.no_grad():  # the logits are up to 20
        logits = far(*(model(told[0]) for model in models)) / 20
    return {"stories15M": {"tokens": float((told[0] != told[1]).sum()), "logits": logits}}
