import sys, types, json, os, math as _math, builtins as _b
import torch._core as _core
from torch._core import *
from torch._core import NotHere, api, err, mk, T, isT, _mode
_K = json.load(open(os.path.join(os.path.dirname(__file__), "_names.json")))
_core.KNOWN_T = set(_K["Tensor"]); _core.NAMES.update(_K); not_here = _core.not_here
__version__ = "2.13.0+page"
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided = "strided"; contiguous_format = "contiguous_format"
for _n, _d in _core.DT.items(): globals()[_n] = _d
double, float, half, long, int, short = _core.F64, _core.F32, _core.DT["float16"], _core.I64, _core.DT["int32"], _core.DT["int16"]
cfloat, cdouble = _core.C64, _core.C128
dtype = _core.dtype_
FUNCS = {}
for _n, _f in list(vars(_core).items()):
    if callable(_f) and not isinstance(_f, type) and not _n.startswith("_") and _n in set(_K["torch"]) | set(_K["Tensor"]) | set(_K["F"]) | {"view_", "mT", "TT"}:
        if _n not in ("bfloat16", "vmap", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "grad"): FUNCS[_n] = _core.api(_f) if not hasattr(_f, "_api") else _f
FUNCS.pop("grad", None)
for _n, _f in FUNCS.items():
    if _n in _K["torch"] and _n not in _core.DT and _n not in ("double", "float", "half", "long", "int", "short"): globals()[_n] = _f
eye, arange = FUNCS["eye"], FUNCS["arange"]
complex = _core.api(_core.complex_)
abs, sum, max, min, all, any, pow, round = (FUNCS[n] for n in ("abs", "sum", "max", "min", "all", "any", "pow", "round"))
# inside the core, too, so that errors of numpy never get out of a nested call
t_ = Tensor
_M = {n: f for n, f in FUNCS.items() if n in _core.KNOWN_T}
_M.update(view=_core.api(_core.view_), float=_core.api(_core.float_), int=_core.api(_core.int_), bool=_core.api(_core.bool_), double=_core.api(_core.double), long=_core.api(_core.long), half=_core.api(_core.half), bfloat16=_core.api(_core.bfloat16), type_as=_core.api(_core.type_as))
for _n, _f in _M.items():
    if _n not in vars(Tensor) or _n in (): setattr(Tensor, _n, _f)
for _n in ("item", "tolist", "__float__", "__int__", "__bool__", "__index__", "requires_grad_", "backward", "size", "__repr__", "detach", "stride", "__format__"): setattr(Tensor, _n, _core.api(getattr(Tensor, _n)))
Tensor.__getitem__, Tensor.__setitem__ = _core.api(_core.getitem), _core.api(_core.setitem)
Tensor.mT = property(_core.api(_core.mT)); Tensor.T = property(_core.api(_core.TT)); Tensor.real = property(_core.api(_core.real)); Tensor.imag = property(_core.api(_core.imag)); Tensor.H = property(lambda s: _core.conj(_core.mT(s)))
Tensor.t = _core.api(_core.t)
def _op(name, f, r=False):
    g = _core.api(f)
    def ok(x): return isT(x) or _core.scalar_rank(x) is not None
    def op(self, o):
        if not ok(o): return NotImplemented
        return g(o, self) if r else g(self, o)
    setattr(Tensor, name, op)
for _n, _f in [("add", _core.add), ("sub", _core.sub), ("mul", _core.mul), ("truediv", _core.truediv), ("pow", _core.pow), ("mod", _core.remainder), ("floordiv", _core.floor_divide), ("and", _core.and_), ("or", _core.or_), ("xor", _core.xor)]:
    _op(f"__{_n}__", _f); _op(f"__r{_n}__", _f, True)
    def _iop(self, o, f=_f): return _core.inplace(self, f(self, o))
    setattr(Tensor, f"__i{_n}__", _core.api(_iop))
for _n in ("eq", "ne", "lt", "le", "gt", "ge"):
    def _c(self, o, f=getattr(_core, _n)):
        return f(self, o) if isT(o) or _core.scalar_rank(o) is not None else NotImplemented
    setattr(Tensor, f"__{_n}__", _core.api(_c))
Tensor.__hash__ = object.__hash__
_mmop = _core.api(_core.matmul)
Tensor.__matmul__ = lambda s, o: _mmop(s, o) if isT(o) else NotImplemented
Tensor.__rmatmul__ = lambda s, o: NotImplemented
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__, Tensor.__pos__ = _core.api(_core.neg), _core.api(_core.abs), _core.api(_core.invert), lambda s: s
def _inplace_of(f):
    def g(self, *a, **k): return _core.inplace(self, f(self, *a, **k))
    return _core.api(g)
for _n in ("add", "sub", "mul", "div", "pow", "exp", "log", "sqrt", "neg", "abs", "clamp", "clamp_min", "clamp_max", "masked_fill", "tril", "triu", "sin", "cos", "tanh", "sigmoid", "relu", "square", "reciprocal", "rsqrt", "floor", "round",
           "index_fill", "index_copy", "index_add", "scatter", "scatter_add", "cumsum", "logical_not", "logical_and", "logical_or", "eq", "ne", "lt", "le", "gt", "ge", "lerp", "remainder", "maximum" ):
    if _n + "_" in _core.KNOWN_T: setattr(Tensor, _n + "_", _inplace_of(getattr(_core, _n)))
for _n in ("zero_", "fill_", "copy_", "fill_diagonal_", "normal_", "uniform_"): setattr(Tensor, _n, _core.api(getattr(_core, _n)))
def _shape_(self, new): raise NotHere("in-place change of shape")
for _n in ("unsqueeze_", "squeeze_", "transpose_", "t_", "resize_"): setattr(Tensor, _n, _shape_)
def is_autocast_enabled(*a): return False
def is_inference_mode_enabled(): return False
def get_default_device(): return device()
def get_default_dtype(): return _core.F32
def set_default_dtype(*a): raise NotHere("set_default_dtype")
def typename(x): return "torch.Tensor"
class SymInt: pass
class SymFloat: pass
class autocast:
    def __init__(self, *a, **k): raise NotHere("autocast")
class Generator(_core.Generator): pass
vmap = _core.vmap
def _mod(name, **d):
    m = types.ModuleType(name); m.__dict__.update(d); sys.modules[name] = m
    key = name.split(".")[-1]
    def ga(n, known=set(_K.get(key, ()))):
        if n.startswith("__"): raise AttributeError(n)
        if n in known or not known: raise NotHere(f"{name}.{n}")
        raise err(AttributeError, f"module '{name}' has no attribute '{n}'")
    m.__getattr__ = ga
    return m
def __getattr__(n):
    if n.startswith("__"): raise AttributeError(n)
    if n in _K["torch"]: raise NotHere(f"torch.{n}")
    raise err(AttributeError, f"module 'torch' has no attribute '{n}'")
import torch._linalg as _linalg
linalg = _mod("torch.linalg", **{n: _core.api(f) if callable(f) and not isinstance(f, type) else f for n, f in vars(_linalg).items() if not n.startswith("_")})
cholesky_solve = _core.api(_linalg.cholesky_solve); det = _core.api(_linalg.det); inverse = linalg.inv; pinverse = linalg.pinv
special = _mod("torch.special")
class _Ctx:
    saved_tensors = (); needs_input_grad = ()
    def save_for_backward(self, *t): self.saved_tensors = t
    def mark_dirty(self, *t): raise NotHere("mark_dirty")
    def mark_non_differentiable(self, *t): raise NotHere("mark_non_differentiable")
    def set_materialize_grads(self, v): pass
class _Function:
    @classmethod
    def apply(cls, *a):
        ctx = _Ctx(); ctx.needs_input_grad = tuple(isT(x) and x.node is not None for x in a)
        with _mode(False): out = _core.user(cls.forward, ctx, *a)
        outs = out if isinstance(out, tuple) else (out,); import numpy as np
        ends = np.cumsum([0] + [o.d.size for o in outs]); ins = [(i, x) for i, x in enumerate(a) if isT(x)]
        kept = {}
        def vjp(i):
            def v(g):
                if id(g) not in kept:
                    parts = [mk(g[ends[k]:ends[k + 1]].reshape(o.d.shape), o.dt) for k, o in enumerate(outs)]
                    with _mode(False): r = _core.user(cls.backward, ctx, *parts)
                    kept.clear(); kept[id(g)] = r if isinstance(r, tuple) else (r,)
                r = kept[id(g)][i]
                return np.zeros(a[i].d.shape, a[i].d.dtype) if r is None else r.d
            return v
        joint = mk(np.zeros(ends[-1], outs[0].d.dtype), outs[0].dt, [(x, vjp(i)) for i, x in ins])
        def place(k):
            def v(g):
                z = np.zeros(ends[-1], g.dtype); z[ends[k]:ends[k + 1]] = g.reshape(-1); return z
            return v
        res = tuple(mk(o.d, o.dt, [(joint, place(k))]) for k, o in enumerate(outs))
        return res if isinstance(out, tuple) else res[0]
functional_ = _mod("torch.autograd.functional", jacobian=_core.api(_core.jacobian))
autograd = _mod("torch.autograd", grad=_core.api(_core.grad), functional=functional_, no_grad=_core.no_grad, enable_grad=_core.enable_grad, Function=_Function)
def _fn_get(n): raise NotHere(f"torch.autograd.{n}")
cuda = _mod("torch.cuda", is_available=lambda: False, device_count=lambda: 0)
backends = _mod("torch.backends", mps=types.SimpleNamespace(is_available=lambda: False), cpu=types.SimpleNamespace(get_cpu_capability=lambda: "wasm"))
compiler = _mod("torch.compiler", is_exporting=lambda: False, is_compiling=lambda: False)
_C = types.SimpleNamespace(_are_functorch_transforms_active=lambda: False, _functorch=None,
    _is_any_autocast_enabled=lambda: False, _len_torch_dispatch_stack=lambda: 0, _get_tracing_state=lambda: None)
forward_ad = _mod("torch.autograd.forward_ad", _current_level=-1); autograd.forward_ad = forward_ad
import contextlib as _cl
@_cl.contextmanager
def _fork_rng(devices=None):
    kept = _core.GEN.r.get_state(), _core.GEN.next
    try: yield
    finally: _core.GEN.r.set_state(kept[0]); _core.GEN.next = kept[1]
random = _mod("torch.random", fork_rng=_fork_rng)
distributions = _mod("torch.distributions")
def _dga(n):
    if n.startswith("__"): raise AttributeError(n)
    def no(*a, **k): raise NotHere(f"torch.distributions.{n}")
    return no
distributions.__getattr__ = _dga
class _Categorical:
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is None: self.logits = logits - _core.logsumexp(logits, -1, True)
        else: self.logits = _core.log(_core.clamp(probs / _core.sum(probs, -1, True), _core.finfo(probs.dt).eps, 1 - _core.finfo(probs.dt).eps))
        self.probs = _core.softmax(self.logits, -1)
    def entropy(self): return -_core.sum(self.probs * _core.clamp_min(self.logits, _core.finfo(self.probs.dt).min), -1)
    def __getattr__(self, n): raise NotHere(f"Categorical.{n}")
distributions.Categorical = _Categorical
import torch.nn as nn
import torch.overrides as overrides
