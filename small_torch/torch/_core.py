"""A small torch over numpy. It either does what torch does, or raises NotHere; numpy's own errors never get out."""
import builtins, functools, math, operator, re
import numpy as np

not_here = []
class NotHere(BaseException):
    """What this small torch does not know; nothing is said of the answer. What was raised stays in `not_here`."""
    def __init__(self, name):
        super().__init__(name)
        not_here.append(str(name))

def err(kind, text):
    e = kind(text); e._torch = True
    return e

class dtype:
    def __init__(self, name, np_, rank, short): self.name, self.np, self.rank, self.short = name, np.dtype(np_), rank, short
    def __repr__(self): return "torch." + self.name
    @property
    def is_floating_point(self): return self.rank == 2
    @property
    def is_complex(self): return self.rank == 3
    @property
    def itemsize(self): return self.np.itemsize
    def __reduce__(self): return (_dtype_of, (self.name,))
DT = {n: dtype(n, p, r, s) for n, p, r, s in [("bool", "?", 0, "Bool"), ("uint8", "u1", 1, "Byte"), ("int8", "i1", 1, "Char"),
      ("int16", "i2", 1, "Short"), ("int32", "i4", 1, "Int"), ("int64", "i8", 1, "Long"), ("float16", "f2", 2, "Half"),
      ("float32", "f4", 2, "Float"), ("float64", "f8", 2, "Double"), ("complex64", "c8", 3, "ComplexFloat"), ("complex128", "c16", 3, "ComplexDouble")]}
BY = {d.np: d for d in DT.values()}
DT["bfloat16"] = dtype("bfloat16", "f4", 2, "BFloat16"); BF = DT["bfloat16"]
def _dtype_of(n): return DT[n]
B, I8, I64, F32, F64, C64, C128 = DT["bool"], DT["int8"], DT["int64"], DT["float32"], DT["float64"], DT["complex64"], DT["complex128"]

class Size(tuple):
    def numel(self): return math.prod(self)
    def __getitem__(self, i):
        r = tuple.__getitem__(self, i)
        return Size(r) if isinstance(i, slice) else r
    def __add__(self, o): return Size(tuple(self) + tuple(o))
    def __radd__(self, o): return Size(tuple(o) + tuple(self))
    def __repr__(self): return f"torch.Size({list(self)})"

class Node:
    __slots__ = ("parents", "leaf", "shape", "dt")
    def __init__(self, parents, shape, dt, leaf=None): self.parents, self.leaf, self.shape, self.dt = parents, leaf, shape, dt
GRAD = [True]
MODES = []
NAMES = {}

class device:
    def __init__(self, type="cpu", index=None):
        if isinstance(type, device): type = type.type
        if type != "cpu": raise NotHere(f"device {type}")
        self.type, self.index = "cpu", None
    def __eq__(self, o): return isinstance(o, device) or o == "cpu"
    def __hash__(self): return 1
    def __repr__(self): return "device(type='cpu')"
    def __str__(self): return "cpu"

def api(f):
    """Numpy's errors become NotHere; a poisoned tensor may not be read."""
    name = f.__name__
    @functools.wraps(f)
    def g(*a, **k):
        if MODES:
            mode = MODES.pop()
            try: return mode.__torch_function__(g, (), a, k)
            finally: MODES.append(mode)
        try: return f(*a, **k)
        except NotHere: raise
        except Exception as e:
            if hasattr(e, "_torch"): raise
            raise NotHere(f"{name}: {type(e).__name__}: {e}") from e
    g._api = True
    return g

def user(f, *a, **k):
    """Calls what the learner gave; its errors are his."""
    try: return f(*a, **k)
    except Exception as e:
        e._torch = True; raise

def isT(x): return isinstance(x, Tensor)
def scalar_rank(x):
    if isinstance(x, (bool, np.bool_)): return 0
    if isinstance(x, (int, np.integer)): return 1
    if isinstance(x, (float, np.floating)): return 2
    if isinstance(x, complex): return 3
    if hasattr(x, "__index__"): return 1
    return None
DEFAULT = {0: B, 1: I64, 2: F32, 3: C64}
def promote_types(a, b):
    if a is b: return a
    if a.rank != b.rank:
        hi, lo = (a, b) if a.rank > b.rank else (b, a)
        if hi is C64 and lo is F64: return C128
        return hi
    return BY[np.promote_types(a.np, b.np)]
def result(*xs):
    best = [None, None, None]
    for x in xs:
        if isT(x): k, d = (0 if x.d.ndim else 1), x.dt
        else: k, d = 2, DEFAULT[scalar_rank(x)]
        best[k] = d if best[k] is None else promote_types(best[k], d)
    out = best[0]
    for d in best[1:]:
        if d is None: continue
        if out is None: out = d
        elif d.rank > out.rank:
            out = d if not (d.rank == 3 and out is F64) else C128
            if d.rank == 3 and out is F64: out = C128
    # python scalars and 0-dim of a higher kind take the default of it
    if best[0] is None and best[1] is None: return best[2]
    if best[1] is None and best[0] is not None and best[2] is not None and best[2].rank > best[0].rank:
        out = C128 if best[2].rank == 3 and best[0] is F64 else best[2]
    return out

def bshape(*shapes):
    nd = builtins.max(map(len, shapes)); out = [1] * nd
    a = shapes[0]
    acc = tuple(a)
    for b in shapes[1:]:
        n = builtins.max(len(acc), len(b)); pa, pb = (1,) * (n - len(acc)) + tuple(acc), (1,) * (n - len(b)) + tuple(b)
        r = []
        for i in reversed(range(n)):
            if pa[i] != pb[i] and 1 not in (pa[i], pb[i]):
                raise err(RuntimeError, f"The size of tensor a ({pa[i]}) must match the size of tensor b ({pb[i]}) at non-singleton dimension {i}")
            r.append(pb[i] if pa[i] == 1 else pa[i])
        acc = tuple(r[::-1])
    return acc

def unb(g, shape):
    """Sums a gradient over what was broadcast."""
    if g.shape == tuple(shape): return g
    g = g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
    ax = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(ax, keepdims=True) if ax else g

def mk(d, dt=None, parents=()):
    t = Tensor.__new__(Tensor)
    d = np.asarray(d)
    t.d = d; t.dt = dt or BY[d.dtype]; t.node = None; t._hasview = t._isview = False; t.poison = None; t.grad = None; t._leafrg = False
    if t.dt.np != d.dtype: t.d = d.astype(t.dt.np)
    if t.dt is BF and not (d.dtype == np.float32 and not (d.view(np.uint32) & np.uint32(0xFFFF)).any() if d.ndim and d.flags.c_contiguous else False):
        u = np.ascontiguousarray(t.d).view(np.uint32); r = ((u + np.uint32(0x7FFF) + ((u >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)).view(np.float32)
        t.d = np.where(np.isnan(t.d), t.d, r.reshape(t.d.shape)).astype(np.float32)
    if GRAD[0] and t.dt.rank >= 2:
        ps = [(p.node, v) for p, v in parents if p.node is not None]
        if ps: t.node = Node(ps, t.d.shape, t.dt)
    return t
def view(d, parent, vjp):
    t = mk(d, parent.dt, [(parent, vjp)])
    t._isview = True; parent._hasview = True; t._base = parent if (b_ := getattr(parent, "_base", None)) is None else b_
    return t

def T(x, like=None):
    if isT(x):
        if x.poison: raise NotHere("an in-place step on a part of a tensor that needs gradients")
        return x
    return mk(np.asarray(x, ('?', 'i8', 'f8', 'c16')[scalar_rank(x)]))

def need(x, name, pos="input"):
    if not isT(x):
        raise err(TypeError, f"{name}(): argument '{pos}' (position 1) must be Tensor, not {type(x).__name__}")
    return T(x)
def flt(x):
    """ints and bools become float32, as torch's unary functions of floats do."""
    return x if x.dt.rank >= 2 else mk(x.d.astype(np.float32))
def nobf(x):
    pass
def cint(i):
    if isT(i): return int(i.d)
    return operator.index(i)
def axis(dim, nd, extra=0):
    n = builtins.max(nd + extra, 1)
    dim = cint(dim)
    if not -n <= dim < n:
        raise err(IndexError, f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n
def axes(dim, nd):
    if dim is None or (isinstance(dim, (tuple, list)) and not len(dim)): return tuple(range(nd))
    return tuple(axis(d, nd) for d in dim) if isinstance(dim, (tuple, list)) else ((axis(dim, nd),) if nd else (axis(dim, nd) and ()) or ())
def pos_(s):
    for n in s:
        if n < 0: raise err(RuntimeError, f"Trying to create tensor with negative dimension {n}: {list(s)}")
    return s
def sizes(a, name=None):
    a = a[0] if len(a) == 1 and isinstance(a[0], (tuple, list)) else a
    for i, n in enumerate(a):
        if isinstance(n, float) and name is None: raise NotHere("a size that is a float")
        if isinstance(n, float): raise err(TypeError, f"{name}(): argument '{'shape' if name == 'reshape' else 'size'}' failed to unpack the object at pos {i + 1} with error \"type must be tuple of ints,but got float\"")
    return tuple(cint(n) for n in a)

class Tensor:
    __array_priority__ = 1000
    __hash__ = object.__hash__
    requires_grad = property(lambda s: s.node is not None, lambda s, v: s.requires_grad_(v))
    shape = property(lambda s: Size(s.d.shape)); ndim = property(lambda s: s.d.ndim); dtype = property(lambda s: s.dt)
    is_leaf = property(lambda s: s.node is None or s.node.leaf is not None)
    device = property(lambda s: device()); layout = property(lambda s: "strided"); is_cuda = False; is_cpu = True; is_mps = False; is_sparse = False; is_nested = False; is_quantized=False
    names = None; is_meta = False; itemsize = property(lambda s: s.d.itemsize)
    def __class_getitem__(cls, i): return cls
    def __len__(self):
        if not self.d.ndim: raise err(TypeError, "len() of a 0-d tensor")
        return self.d.shape[0]
    def __getattr__(self, n):
        if n.startswith("__") or n in ("_base", "_mha"): raise AttributeError(n)
        if n in KNOWN_T: raise NotHere(f"Tensor.{n}")
        raise err(AttributeError, f"'Tensor' object has no attribute '{n}'")
    def __bool__(self):
        T(self)
        if self.d.size != 1:
            raise err(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous" if self.d.size else "Boolean value of Tensor with no values is ambiguous")
        return bool(self.d.reshape(())[()])
    def item(self):
        T(self)
        if self.d.size != 1: raise err(RuntimeError, f"a Tensor with {self.d.size} elements cannot be converted to Scalar")
        return self.d.reshape(())[()].item()
    def _num(self, f):
        T(self)
        if self.d.size != 1:
            raise err(RuntimeError, f"a Tensor with {self.d.size} elements cannot be converted to Scalar")
        return f(self.d.reshape(())[()].item())
    def __float__(self):
        return self._num(float)
    def __int__(self): return self._num(int)
    def __complex__(self): return self._num(complex)
    def __index__(self):
        T(self)
        if self.d.size != 1 or self.dt.rank > 1: raise err(TypeError, "only integer tensors of a single element can be converted to an index")
        return int(self.d.reshape(()))
    def __format__(self, spec):
        T(self)
        return format(self.item(), spec) if self.d.ndim == 0 else object.__format__(self, spec)
    def __contains__(self, x): return bool((self == x).any())
    def __iter__(self):
        if not self.d.ndim: raise err(TypeError, "iteration over a 0-d tensor")
        return iter(unbind(self, 0))
    def __repr__(self):
        T(self)
        body = np.array2string(self.d, separator=", ", precision=4, floatmode="maxprec_equal", prefix="tensor(")
        extra = "" if self.dt in (F32, I64, B) else f", dtype={self.dt}"
        return f"tensor({body}{extra}{', grad_fn=<...>' if self.node and not self.node.leaf else ', requires_grad=True' if self.node else ''})"
    def tolist(self): T(self); return self.d.tolist()
    def numpy(self, **k): raise NotHere("numpy")
    def __array__(self, *a, **k): raise NotHere("numpy of a tensor")
    def __deepcopy__(self, memo):
        t = mk(self.d.copy(), self.dt); t.__class__ = self.__class__
        if self.node is not None: t.requires_grad_()
        memo[id(self)] = t; return t
    def requires_grad_(self, v=True):
        if v and self.dt.rank < 2: raise err(RuntimeError, "only Tensors of floating point dtype can require gradients")
        if not v: self.node = None
        elif self.node is None: self.node = Node([], self.d.shape, self.dt, leaf=self)
        return self
    def detach(self):
        T(self); t = mk(self.d, self.dt); t.node = None; t._isview = True; return t
    data = property(lambda s: s.detach())
    def size(self, dim=None): return self.shape if dim is None else self.d.shape[axis(dim, self.d.ndim)]
    def dim(self): return self.d.ndim
    ndimension = dim
    def numel(self): return int(self.d.size)
    nelement = numel
    def element_size(self): return self.d.itemsize
    def stride(self, dim=None):
        s = tuple(n // self.d.itemsize for n in self.d.strides)
        return s if dim is None else s[dim]
    def storage_offset(self): raise NotHere("storage_offset")
    def data_ptr(self): return self.d.__array_interface__["data"][0]
    def untyped_storage(self): raise NotHere("untyped_storage")
    def is_contiguous(self): return bool(self.d.flags.c_contiguous)
    def is_floating_point(self): return self.dt.rank == 2
    def is_complex(self): return self.dt.rank == 3
    def get_device(self): return -1
    def cpu(self): return self
    def cuda(self, *a, **k): raise NotHere("cuda")
    def type(self, *a):
        if a: raise NotHere("type")
        return f"torch.{self.dt.short}Tensor"
    def backward(self, gradient=None, **k):
        if k: raise NotHere("backward options")
        if self.node is None: raise err(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn")
        if gradient is None and self.d.size != 1: raise err(RuntimeError, "grad can be implicitly created only for scalar outputs")
        gs = run_backward([self], [np.ones(self.d.shape, self.d.dtype) if gradient is None else gradient.d])
        for node, g in gs.items():
            if node.leaf is not None:
                g = mk(g, node.dt)
                node.leaf.grad = g if node.leaf.grad is None else node.leaf.grad + g
    def retain_grad(self): raise NotHere("retain_grad")
    def register_hook(self, *a): raise NotHere("register_hook")
    def __setstate__(self, s): raise NotHere("pickle")

def run_backward(outs, gs):
    order, seen = [], set()
    def visit(n):
        stack = [(n, iter(n.parents))]; seen.add(id(n))
        while stack:
            node, it = stack[-1]
            for p, _ in it:
                if id(p) not in seen:
                    seen.add(id(p)); stack.append((p, iter(p.parents))); break
            else:
                order.append(node); stack.pop()
    for o in outs:
        if id(o.node) not in seen: visit(o.node)
    grads = {}
    for o, g in zip(outs, gs): grads[o.node] = grads.get(o.node, 0) + g
    with np.errstate(all="ignore"):
        for node in reversed(order):
            g = grads.get(node)
            if g is None: continue
            for p, vjp in node.parents:
                r = np.asarray(vjp(g))
                if p.dt.rank == 2 and r.dtype.kind == "c": r = r.real
                r = r.astype(p.dt.np, copy=False)
                if r.shape != tuple(p.shape): r = unb(np.broadcast_to(r, np.broadcast_shapes(r.shape, p.shape)), p.shape)
                grads[p] = r if p not in grads else grads[p] + r
    return grads

# --- creation -------------------------------------------------------------------------------------------------------
def _dt(dtype, default):
    if dtype is None: return default
    if dtype in (float, int, bool): return {float: F64, int: I64, bool: B}[dtype]
    return dtype
def _fin(t, requires_grad=False): return t.requires_grad_() if requires_grad else t
def _deep(x):
    if isT(x): return T(x).d.item() if T(x).d.ndim == 0 else [_deep(y) for y in x.d]
    if isinstance(x, np.ndarray): return x.tolist()
    return [_deep(y) for y in x] if isinstance(x, (list, tuple, range)) else x
def tensor(data, dtype=None, device=None, requires_grad=False):
    if isT(data): return _fin(mk(T(data).d.copy(), _dt(dtype, data.dt)), requires_grad)
    if isinstance(data, (list, tuple)) and any_tensor(data):
        if builtins.any(isT(x) and x.d.size != 1 for x in flat(data)):
            raise err(ValueError, "only one element tensors can be converted to Python scalars")
        first = next(x for x in flat(data) if isT(x))
        if dtype is None: dtype = functools.reduce(promote_types, [x.dt if isT(x) else DEFAULT[scalar_rank(x)] for x in flat(data)])
        data = _deep(data)
    try: a = np.array(data)
    except ValueError: raise err(ValueError, "expected sequence of equal length at dim 1")
    if a.dtype.kind in "OUS":
        if isinstance(data, (int,)) or a.dtype.kind == "O": raise err(RuntimeError, "Overflow when unpacking long long")
        raise err(TypeError, f"new(): invalid data type '{type(data).__name__}'")
    if a.dtype.kind == "u": raise err(RuntimeError, "Overflow when unpacking long long")
    d = {"b": B, "i": I64, "f": F32, "c": C64}[a.dtype.kind] if a.size else F32
    with np.errstate(all="ignore"): return _fin(mk(a.astype(_dt(dtype, d).np), _dt(dtype, d)), requires_grad)
def flat(x):
    for y in x:
        if isinstance(y, (list, tuple)): yield from flat(y)
        else: yield y
def any_tensor(x): return builtins.any(isT(y) for y in flat(x))
def as_tensor(data, dtype=None, device=None):
    if isT(data): return data if dtype is None or dtype is data.dt else to(data, dtype)
    return tensor(data, dtype)
def zeros(*s, dtype=None, device=None, requires_grad=False, size=None, layout=None): return _fin(mk(np.zeros(pos_(sizes(s or (size,))), _dt(dtype, F32).np), _dt(dtype, F32)), requires_grad)
def ones(*s, dtype=None, device=None, requires_grad=False, size=None): return _fin(mk(np.ones(pos_(sizes(s or (size,))), _dt(dtype, F32).np), _dt(dtype, F32)), requires_grad)
def empty(*s, dtype=None, device=None, requires_grad=False):
    d = _dt(dtype, F32); a = np.zeros(sizes(s), d.np)
    if d.rank >= 2: a[...] = np.random.randn(*a.shape) * 10.0 ** np.random.randint(-30, 30)
    return _fin(mk(a), requires_grad)
def full(size, fill_value, dtype=None, device=None, requires_grad=False):
    if isT(fill_value): fill_value = fill_value.item()
    return _fin(mk(np.full(sizes((size,)), fill_value, _dt(dtype, DEFAULT[scalar_rank(fill_value)]).np), _dt(dtype, DEFAULT[scalar_rank(fill_value)])), requires_grad)
def zeros_like(x, dtype=None, device=None, **k): return zeros(T(x).shape, dtype=dtype or x.dt, **k)
def ones_like(x, dtype=None, device=None, **k): return ones(T(x).shape, dtype=dtype or x.dt, **k)
def empty_like(x, dtype=None, device=None, **k): return empty(T(x).shape, dtype=dtype or x.dt, **k)
def full_like(x, v, dtype=None, device=None): return full(T(x).shape, v, dtype=dtype or x.dt)
def new_zeros(x, *s, dtype=None, device=None): return zeros(*s, dtype=dtype or x.dt)
def new_ones(x, *s, dtype=None, device=None): return ones(*s, dtype=dtype or x.dt)
def new_empty(x, *s, dtype=None, device=None): return empty(*s, dtype=dtype or x.dt)
def new_full(x, s, v, dtype=None, device=None): return full(s, v, dtype=dtype or x.dt)
def new_tensor(x, v, dtype=None, device=None): return tensor(v, dtype=dtype or x.dt)
def eye(n, m=None, dtype=None, device=None): return mk(np.eye(cint(n), None if m is None else cint(m), dtype=_dt(dtype, F32).np), _dt(dtype, F32))
def arange(*a, dtype=None, device=None, end=None, start=None, step=None):
    a = tuple(x.item() if isT(x) else x for x in a)
    if end is not None: a = (*a, end)
    d = _dt(dtype, I64 if builtins.all(scalar_rank(x) < 2 for x in a) else F32)
    if len(a) > 2 and a[2] == 0: raise err(RuntimeError, "step must be nonzero")
    lo, hi = (0, a[0]) if len(a) == 1 else a[:2]; st = a[2] if len(a) > 2 else 1
    if (hi - lo) / st < 0: raise err(RuntimeError, "upper bound and lower bound inconsistent with step sign")
    n = math.ceil((hi - lo) / st)
    return mk((lo + st * np.arange(n, dtype=np.float64 if d.rank >= 2 else np.int64)).astype(d.np), d)
def linspace(a, b, steps, dtype=None, device=None): return mk(np.linspace(float(a), float(b), cint(steps)).astype(_dt(dtype, F32).np), _dt(dtype, F32))
def logspace(a, b, steps, base=10.0, dtype=None): return mk(np.logspace(float(a), float(b), steps, base=base).astype(_dt(dtype, F32).np))

class Generator:
    def __init__(self, device="cpu"): self.manual_seed(67280421310721)
    def manual_seed(self, s):
        self.r = np.random.RandomState(int(s) & 0xFFFFFFFF); self.next = None; return self
    def initial_seed(self): raise NotHere("initial_seed")
    def get_state(self): raise NotHere("get_state")
    def u32(self, n): return self.r.randint(0, 2 ** 32, n, dtype=np.uint32) if n else np.zeros(0, np.uint32)
    def u64(self, n):
        w = self.u32(2 * n).astype(np.uint64).reshape(n, 2); return (w[:, 0] << np.uint64(32)) | w[:, 1]
    def uniform(self, n, d):
        if d is F64: return (self.u64(n) & np.uint64(2 ** 53 - 1)).astype(np.float64) * 2.0 ** -53
        return ((self.u32(n) & np.uint32(2 ** 24 - 1)).astype(np.float32) * np.float32(2.0 ** -24))
    def normal(self, n, d):
        if n >= 16:
            x = self.uniform(n, d)
            def fill(v):
                u1, u2 = 1 - v[:8], v[8:16].copy(); r, th = np.sqrt(-2 * np.log(u1)), (2 * math.pi * u2).astype(v.dtype)
                v[:8] = r * np.cos(th); v[8:16] = r * np.sin(th)
            for i in range(0, n - 15, 16): fill(x[i:i + 16])
            if n % 16:
                x[n - 16:] = self.uniform(16, d); fill(x[n - 16:])
            return x
        out = []
        for _ in range(n):
            if self.next is not None: out.append(self.next); self.next = None; continue
            u1, u2 = self.uniform(2, F64)
            r, th = math.sqrt(-2 * math.log1p(-u2)), 2 * math.pi * u1
            self.next = r * math.sin(th); out.append(r * math.cos(th))
        return np.array(out, d.np)
GEN = Generator()
def manual_seed(s): return GEN.manual_seed(s)
def seed(): return GEN.manual_seed(np.random.randint(1 << 30))
def randn(*s, generator=None, dtype=None, device=None, requires_grad=False, size=None):
    d = _dt(dtype, F32); s = pos_(sizes(s or (size,))); return _fin(mk((generator or GEN).normal(math.prod(s), d).reshape(s), d), requires_grad)
def rand(*s, generator=None, dtype=None, device=None, requires_grad=False):
    d = _dt(dtype, F32); s = pos_(sizes(s)); return _fin(mk((generator or GEN).uniform(math.prod(s), d).reshape(s), d), requires_grad)
def randn_like(x, **k): return randn(x.shape, dtype=x.dt)
def rand_like(x, **k): return rand(x.shape, dtype=x.dt)
def randint(low, high=None, size=None, generator=None, dtype=None, device=None):
    if size is None: low, high, size = 0, low, high
    n = math.prod(size); return mk(((generator or GEN).u32(n).astype(np.int64) % (high - low) + low).reshape(tuple(size)), _dt(dtype, I64))
def randperm(n, generator=None, dtype=None, device=None):
    g, r = generator or GEN, list(range(n))
    for i in range(n - 1):
        z = int(g.u32(1)[0]) % (n - i); r[i], r[z + i] = r[z + i], r[i]
    return mk(np.array(r, np.int64))
def normal_(x, mean=0.0, std=1.0, generator=None): return inplace(x, mk((generator or GEN).normal(x.d.size, x.dt).reshape(x.d.shape) * std + mean, x.dt))
def uniform_(x, a=0.0, b=1.0, generator=None): return inplace(x, mk((generator or GEN).uniform(x.d.size, x.dt).reshape(x.d.shape) * (b - a) + a, x.dt))

# --- in place -------------------------------------------------------------------------------------------------------
def inplace(t, new):
    """t takes the numbers of new."""
    t = T(t); new = T(new)
    if new.d.shape != t.d.shape:
        if np.broadcast_shapes(new.d.shape, t.d.shape) != t.d.shape:
            raise err(RuntimeError, f"output with shape {list(t.d.shape)} doesn't match the broadcast shape {list(new.d.shape)}")
        new = expand(new, t.d.shape)
    if new.dt.rank > t.dt.rank: raise err(RuntimeError, f"result type {new.dt.short} can't be cast to the desired output type {t.dt.short}")
    if GRAD[0] and t.node is not None and t.node.leaf is not None:
        raise err(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.")
    if GRAD[0] and (t.node is not None or new.node is not None):
        if t._isview: 
            base = t._base if hasattr(t, "_base") else None
            if base is None: raise NotHere("an in-place step on a detached tensor")
            base.poison = True
            r = mk(new.d, t.dt, [(new, lambda g: g)]); r._of = base; return r
        if t._hasview: raise NotHere("an in-place step on a tensor of which there are views, with gradients")
        t.d = new.d.astype(t.d.dtype); t.node = new.node; return t
    t.d[...] = new.d
    return t
def setitem(t, idx, val):
    if getattr(val, "_of", None) is t: t.poison = None
    T(t)
    i = index_of(t, idx)
    v = val if isT(val) else None
    arr = T(val).d if v is not None else np.asarray(val)
    if v is not None and v.dt.rank > t.dt.rank and not (t.dt.rank >= 0 and v.d.ndim == 0): pass
    target = t.d[i]
    if arr.shape != target.shape:
        if arr.ndim > target.ndim and arr.size == target.size and arr.shape[arr.ndim - target.ndim:] == target.shape: arr = arr.reshape(target.shape)
        elif builtins.any(a != b and a != 1 for a, b in zip(arr.shape[::-1], target.shape[::-1])) or arr.ndim > target.ndim:
            raise err(RuntimeError, f"shape mismatch: value tensor of shape {list(arr.shape)} cannot be broadcast to indexing result of shape {list(target.shape)}" if not basic(i) else
                      f"The expanded size of the tensor ({target.shape[-1] if target.ndim else 1}) must match the existing size ({arr.shape[-1] if arr.ndim else 1}) at non-singleton dimension {builtins.max(target.ndim - 1, 0)}.  Target sizes: {list(target.shape)}.  Tensor sizes: {list(arr.shape)}")
    if GRAD[0] and (t.node is not None or v is not None and v.node is not None):
        if t.node is not None and t.node.leaf is not None: raise err(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if t._isview: raise NotHere("an assignment into a view, with gradients")
        shape = T(val).d.shape
        def keep(g): g = g.copy(); g[i] = 0; return g
        new = t.d.copy(); new[i] = arr
        ps = [(t, keep)] + ([(v, lambda g: unb(g[i], shape) if g[i].shape != shape else g[i])] if v is not None else [])
        if t._hasview: raise NotHere("an assignment into a tensor of which there are views, with gradients")
        t.d, t.node = new, mk(new, t.dt, ps).node
        return
    with np.errstate(all="ignore"): t.d[i] = arr

def basic(i):
    return builtins.all(x is None or x is Ellipsis or isinstance(x, (int, slice)) for x in (i if isinstance(i, tuple) else (i,)))
def index_of(t, idx):
    idx = idx if isinstance(idx, tuple) else (idx,)
    out = []; used = 0
    for x in idx:
        if x is None or x is Ellipsis: out.append(x); continue
        if isinstance(x, bool): raise NotHere("index by a bool")
        if isinstance(x, slice):
            if x.step is not None and cint(x.step) <= 0: raise err(ValueError, "step must be greater than zero")
            out.append(slice(*(None if s is None else cint(s) for s in (x.start, x.stop, x.step)))); used += 1; continue
        if isinstance(x, (list, range)): x = tensor(list(x))
        if isT(x):
            T(x)
            if x.dt.rank >= 2: raise err(IndexError, "tensors used as indices must be long, int, byte or bool tensors")
            used += x.d.ndim if x.dt is B else 1
            out.append(x.d if x.d.ndim or x.dt is B else x.d if False else int(x.d)); continue
        if isinstance(x, float): raise err(TypeError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got float)")
        out.append(operator.index(x)); used += 1
    if used > t.d.ndim:
        raise err(IndexError, f"too many indices for tensor of dimension {t.d.ndim}" if t.d.ndim else "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
    # bounds
    dim = 0; arrs = [x for x in out if isinstance(x, np.ndarray)]
    for x in out:
        if x is None: continue
        if x is Ellipsis: dim = t.d.ndim - (used - dim); continue
        if isinstance(x, int):
            n = t.d.shape[dim]
            if not -n <= x < n: raise err(IndexError, f"index {x} is out of bounds for dimension {dim} with size {n}")
        if isinstance(x, np.ndarray) and x.dtype != bool and x.size:
            n = t.d.shape[dim]; bad = x[(x < -n) | (x >= n)]
            if bad.size: raise err(IndexError, f"index {bad.flat[0]} is out of bounds for dimension {dim} with size {n}")
        if isinstance(x, np.ndarray) and x.dtype == bool:
            if x.shape != t.d.shape[dim:dim + x.ndim]:
                k = next((k for k in range(x.ndim) if x.shape[k] != t.d.shape[dim + k]), 0)
                raise err(IndexError, f"The shape of the mask {list(x.shape)} at index {k} does not match the shape of the indexed tensor {list(t.d.shape)} at index {dim + k}")
            dim += x.ndim
        else: dim += 1
    if len([x for x in arrs if x.dtype != bool]) > 1:
        try: np.broadcast_shapes(*[x.shape for x in arrs if x.dtype != bool])
        except ValueError: raise err(IndexError, f"shape mismatch: indexing tensors could not be broadcast together with shapes {', '.join(str(list(x.shape)) for x in arrs)}")
    if arrs and builtins.any(isinstance(x, int) for x in out):
        # numpy counts an integer among the advanced ones, torch takes it first
        def as1(x): return np.asarray(x) if isinstance(x, int) else x
        if builtins.any(x is None or isinstance(x, slice) or x is Ellipsis for x in out): raise NotHere("an index of numbers and tensors mixed")
    return tuple(out)
def getitem(t, idx):
    T(t); i = index_of(t, idx); shape, dt_ = t.d.shape, t.d.dtype
    r = t.d[(*i, Ellipsis)] if basic(i) and Ellipsis not in i else t.d[i]      # a 0-dim view, no copy
    if basic(i):
        def vjp(g): z = np.zeros(shape, g.dtype); z[i] = g; return z
        return view(r, t, vjp)
    def vjp(g): z = np.zeros(shape, g.dtype); np.add.at(z, i, g); return z
    return mk(r, t.dt, [(t, vjp)])

# --- unary ----------------------------------------------------------------------------------------------------------
def unary(name, f, df, ints=False):
    def u(x, out=None):
        x = need(x, name); nobf(x)
        if out is not None: raise NotHere("out=")
        y = x if ints and x.dt is not B else flt(x)
        with np.errstate(all="ignore"): r = f(y.d)
        r = np.asarray(r, y.d.dtype)
        if df is None and x.node is not None: return mk(r, y.dt, [(x, lambda g: _raise(NotHere(f"derivative of {name}")))])
        return mk(r, y.dt, [(x, lambda g: np.conj(df(x.d, r)) * g if r.dtype.kind == "c" else df(xd, r) * g)] if (xd := y.d) is not None else ())
    u.__name__ = name
    return u
def _raise(e): raise e
def _sig(a): return 1 / (1 + np.exp(-a))
_erf = np.vectorize(math.erf, otypes=[float]); 
def _lg(v):
    try: return math.lgamma(v)
    except (ValueError, OverflowError): return math.inf
_lgam = np.vectorize(_lg, otypes=[float])
U = {"exp": (np.exp, lambda x, r: r), "log": (np.log, lambda x, r: 1 / x), "log1p": (np.log1p, lambda x, r: 1 / (1 + x)), "expm1": (np.expm1, lambda x, r: r + 1),
     "sqrt": (np.sqrt, lambda x, r: 0.5 / r), "rsqrt": (lambda a: 1 / np.sqrt(a), lambda x, r: -0.5 * r / x), "sin": (np.sin, lambda x, r: np.cos(x)), "cos": (np.cos, lambda x, r: -np.sin(x)),
     "tan": (np.tan, lambda x, r: 1 + r * r), "tanh": (np.tanh, lambda x, r: 1 - r * r), "sigmoid": (_sig, lambda x, r: r * (1 - r)), "reciprocal": (lambda a: 1 / a, lambda x, r: -r * r),
     "log2": (np.log2, lambda x, r: 1 / (x * math.log(2))), "log10": (np.log10, lambda x, r: 1 / (x * math.log(10))), "exp2": (np.exp2, lambda x, r: r * math.log(2)),
     "erf": (_erf, lambda x, r: 2 / math.sqrt(math.pi) * np.exp(-x * x)), "lgamma": (_lgam, None), "acos": (np.arccos, lambda x, r: -1 / np.sqrt(1 - x * x)), "asin": (np.arcsin, lambda x, r: 1 / np.sqrt(1 - x * x)),
     "atan": (np.arctan, lambda x, r: 1 / (1 + x * x)), "sinh": (np.sinh, lambda x, r: np.cosh(x)), "cosh": (np.cosh, lambda x, r: np.sinh(x))}
UI = {"square": (np.square, lambda x, r: 2 * x), "neg": (np.negative, lambda x, r: -np.ones_like(x)), "sign": (np.sign, lambda x, r: np.zeros_like(x)),
      "floor": (np.floor, lambda x, r: np.zeros_like(x)), "ceil": (np.ceil, lambda x, r: np.zeros_like(x)), "trunc": (np.trunc, lambda x, r: np.zeros_like(x)),
      "relu": (lambda a: np.maximum(a, 0), lambda x, r: (x > 0).astype(x.dtype))}
for n, (f, df) in U.items(): globals()[n] = unary(n, f, df)
for n, (f, df) in UI.items(): globals()[n] = unary(n, f, df, True)
_neg = neg
def neg(x):
    if T(x).dt is B: raise err(RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return _neg(x)
negative = neg
def abs(x):
    x = need(x, "abs"); s = np.sign(x.d) if x.dt.rank != 3 else x.d / np.abs(x.d)
    return mk(np.abs(x.d), parents=[(x, lambda g: g * s)])
absolute = abs
def round(x, decimals=0): return mk(np.round(T(x).d, decimals), x.dt, [(x, lambda g: np.zeros_like(g))])
def clone(x, memory_format=None): x = T(x); return mk(x.d.copy(), x.dt, [(x, lambda g: g)])
def contiguous(x): return x if x.d.flags.c_contiguous else mk(np.ascontiguousarray(T(x).d), x.dt, [(x, lambda g: g)])
def isnan(x): return mk(np.isnan(need(x, "isnan").d))
def isinf(x): return mk(np.isinf(need(x, "isinf").d))
def isfinite(x): return mk(np.isfinite(need(x, "isfinite").d))
def isneginf(x): return mk(np.isneginf(T(x).d))
def isposinf(x): return mk(np.isposinf(T(x).d))
def logical_not(x): return mk(np.logical_not(T(x).d))
def invert(x):
    x = T(x)
    if x.dt.rank >= 2: raise err(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return mk(np.invert(x.d))
bitwise_not = invert
def real(x): return x if T(x).dt.rank < 3 else view(x.d.real, x, lambda g: g.astype(x.d.dtype))
def imag(x): return view(T(x).d.imag, x, lambda g: 1j * g)
def conj(x): return mk(np.conj(T(x).d), x.dt, [(x, np.conj)])
def to(x, *a, dtype=None, device=None, copy=False, **k):
    T(x)
    for v in a:
        if isinstance(v, dtype_): dtype = v
        elif isT(v): dtype = v.dt
    if dtype is None or dtype is x.dt: return clone(x) if copy else x
    kind = x.d.dtype
    with np.errstate(all="ignore"): return mk(x.d.astype(dtype.np), dtype, [(x, lambda g: g.astype(kind))])
dtype_ = dtype
def double(x): return to(x, F64)
def float_(x): return to(x, F32)
def long(x): return to(x, I64)
def int_(x): return to(x, DT["int32"])
def bool_(x): return to(x, B)
def half(x): return to(x, DT["float16"])
def bfloat16(x): return to(x, BF)
def type_as(x, y): return to(x, y.dt)

# --- binary ---------------------------------------------------------------------------------------------------------
def binop(name, f, va, vb, sym=True, floats=False, noBool=None):
    def b(x, y, *, alpha=1, out=None, rounding_mode=None):
        if out is not None: raise NotHere("out=")
        if rounding_mode is not None: raise NotHere("rounding_mode")
        if not isT(x) and scalar_rank(x) is None or not isT(y) and scalar_rank(y) is None:
            bad = x if not isT(x) and scalar_rank(x) is None else y
            raise err(TypeError, f"{name}(): argument 'other' (position 1) must be Tensor, not {type(bad).__name__}")
        if alpha != 1: y = y * alpha
        d = result(x, y); X, Y = T(x), T(y); nobf(X); nobf(Y)
        if noBool and d is B: raise err(RuntimeError, noBool)
        if floats and d.rank < 2: d = F32
        bshape(X.d.shape, Y.d.shape)
        xa, ya = X.d.astype(d.np, copy=False), Y.d.astype(d.np, copy=False)
        with np.errstate(all="ignore"): r = np.asarray(f(xa, ya))
        if r.dtype != d.np: r = r.astype(d.np)
        ps = [(X, lambda g: unb(np.asarray(va(g, xa, ya, r)), X.d.shape)), (Y, lambda g: unb(np.asarray(vb(g, xa, ya, r)), Y.d.shape))]
        return mk(r, d, ps)
    b.__name__ = name
    return b
cj = np.conj
add = binop("add", lambda a, b: a | b if a.dtype == bool else a + b, lambda g, a, b, r: g, lambda g, a, b, r: g)
sub = binop("sub", lambda a, b: a - b, lambda g, a, b, r: g, lambda g, a, b, r: -g, noBool="Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
mul = binop("mul", lambda a, b: a * b, lambda g, a, b, r: g * cj(b), lambda g, a, b, r: g * cj(a))
truediv = binop("div", lambda a, b: a / b, lambda g, a, b, r: g / cj(b), lambda g, a, b, r: -g * cj(r / b), floats=True)
def _pw(a, b):
    if a.dtype.kind == "i" and (b < 0).any(): raise err(RuntimeError, "Integers to negative integer powers are not allowed.")
    return a ** b
def _pa(g, a, b, r): return np.where(b == 0, 0, g * b * np.power(a, b - 1))
def _pb(g, a, b, r): return g * np.where((a == 0) & (b >= 0), 0, r * np.log(a))
pow = binop("pow", _pw, _pa, _pb)
def _int_zero(a, b):
    if a.dtype.kind in "iu" and (b == 0).any(): raise err(RuntimeError, "ZeroDivisionError")
remainder = binop("remainder", lambda a, b: (_int_zero(a, b), np.mod(a, b))[1], lambda g, a, b, r: g, lambda g, a, b, r: -g * np.floor(a / b))
fmod = binop("fmod", lambda a, b: np.fmod(a, b), lambda g, a, b, r: g, lambda g, a, b, r: -g * np.trunc(a / b))
floor_divide = binop("floor_divide", lambda a, b: (_int_zero(a, b), np.floor_divide(a, b))[1], lambda g, a, b, r: _raise(NotHere("derivative of //")), lambda g, a, b, r: _raise(NotHere("derivative of //")))
def _half(a, b, g): return g * np.where(a == b, 0.5, (a > b))
maximum = binop("maximum", np.maximum, lambda g, a, b, r: _half(a, b, g), lambda g, a, b, r: _half(b, a, g))
minimum = binop("minimum", np.minimum, lambda g, a, b, r: _half(b, a, g), lambda g, a, b, r: _half(a, b, g))
logaddexp = binop("logaddexp", np.logaddexp, lambda g, a, b, r: g * np.exp(a - r), lambda g, a, b, r: g * np.exp(b - r))
atan2 = binop("atan2", np.arctan2, lambda g, a, b, r: g * b / (a * a + b * b), lambda g, a, b, r: -g * a / (a * a + b * b), floats=True)
def div(x, y, *, rounding_mode=None, out=None):
    if rounding_mode == "floor": return floor_divide(x, y)
    if rounding_mode == "trunc": q = truediv(x, y); return to(trunc(q), result(x, y))
    return truediv(x, y)
divide, true_divide, multiply, subtract = div, truediv, mul, sub
def cmp(name, f):
    def c(x, y):
        if not isT(y) and scalar_rank(y) is None or not isT(x) and scalar_rank(x) is None:
            if name in ("eq", "ne"): return NotImplemented
            raise err(TypeError, f"{name}(): argument 'other' (position 1) must be Tensor, not {type(y).__name__}")
        d = result(x, y); X, Y = T(x), T(y); bshape(X.d.shape, Y.d.shape)
        return mk(f(X.d.astype(d.np, copy=False), Y.d.astype(d.np, copy=False)))
    c.__name__ = name
    return c
eq, ne, lt, le, gt, ge = (cmp(n, f) for n, f in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)])
greater_equal, less_equal, not_equal, greater, less = ge, le, ne, gt, lt
def logic(name, f, bits):
    def l(x, y):
        X, Y = T(x), T(y); bshape(X.d.shape, Y.d.shape)
        if bits:
            d = result(x, y)
            if d.rank >= 2: raise err(RuntimeError, f'"bitwise_{name}_cpu" not implemented for \'{d.short}\'')
            return mk(f(X.d.astype(d.np), Y.d.astype(d.np)))
        return mk(f(X.d.astype(bool), Y.d.astype(bool)))
    l.__name__ = name
    return l
and_, or_, xor = logic("and", np.bitwise_and, True), logic("or", np.bitwise_or, True), logic("xor", np.bitwise_xor, True)
bitwise_and, bitwise_or, bitwise_xor = and_, or_, xor
logical_and, logical_or, logical_xor = logic("and", np.logical_and, False), logic("or", np.logical_or, False), logic("xor", np.logical_xor, False)
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    if a.dt is not b.dt: raise err(RuntimeError, f"{a.dt.short} did not match {b.dt.short}")
    bshape(a.d.shape, b.d.shape)
    with np.errstate(all="ignore"): return mk(np.isclose(T(a).d, T(b).d, rtol, atol, equal_nan))
def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False): return bool(isclose(a, b, rtol, atol, equal_nan).d.all())
def equal(a, b): return a.d.shape == b.d.shape and bool((T(a).d == T(b).d).all())
def isin(a, b): return mk(np.isin(T(a).d, T(b).d if isT(b) else b))
def where(c, a=None, b=None):
    if a is None: return nonzero(c, as_tuple=True)
    c = need(c, "where", "condition")
    if c.dt is not B: raise err(RuntimeError, f"where expected condition to be a boolean tensor, but got a tensor with dtype {c.dt.short}")
    d = result(a, b); A, Y = T(a), T(b); s = bshape(A.d.shape, Y.d.shape); bshape(c.d.shape, s); m = c.d
    return mk(np.where(m, A.d.astype(d.np), Y.d.astype(d.np)), d, [(A, lambda g: unb(np.where(m, g, 0), A.d.shape)), (Y, lambda g: unb(np.where(m, 0, g), Y.d.shape))])
def masked_fill(x, mask, value):
    x = T(x)
    if not isT(mask): raise err(TypeError, f"masked_fill(): argument 'mask' (position 1) must be Tensor, not {type(mask).__name__}")
    m = T(mask)
    if m.dt is not B: raise err(RuntimeError, f"masked_fill only supports boolean masks, but got mask with dtype {m.dt.name}")
    if isT(value):
        if value.d.ndim: raise err(RuntimeError, f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.d.ndim} dimension(s).")
        value = value.item()
    s = bshape(m.d.shape, x.d.shape)
    if x.dt.rank < 2 and scalar_rank(value) >= 2:
        raise err(RuntimeError, "value cannot be converted to type int64_t without overflow")
    return mk(np.where(m.d, np.asarray(value, x.d.dtype), x.d), x.dt, [(x, lambda g: unb(np.where(m.d, 0, g), x.d.shape))])
def clamp(x, min=None, max=None):
    x = T(x); r = x
    if isT(min) or isT(max):
        if min is not None: r = maximum(r, min)
        return r if max is None else minimum(r, max)
    d = result(*[v for v in (x, min, max) if v is not None]); a = x.d.astype(d.np)
    m = np.ones(a.shape, bool)
    if min is not None: m &= ~(a < min)
    if max is not None: m &= ~(a > max)
    with np.errstate(all="ignore"): 
        y = a if min is None else np.maximum(a, np.asarray(min, d.np)); y = y if max is None else np.minimum(y, np.asarray(max, d.np))
    return mk(y, d, [(x, lambda g: np.where(m, g, 0))])
clip = clamp
def clamp_min(x, m): return clamp(x, min=m)
def clamp_max(x, m): return clamp(x, max=m)
def lerp(a, b, w): return a + w * (b - a)
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    ok = np.isfinite(T(x).d); return mk(np.nan_to_num(x.d, nan=nan, posinf=posinf, neginf=neginf), x.dt, [(x, lambda g: np.where(ok, g, 0))])

# --- products -------------------------------------------------------------------------------------------------------
def _same(a, b, what="m1 and m2"):
    if a.dt is not b.dt:
        n = {"Float": "float", "Double": "double", "Half": "c10::Half", "Long": "long", "Int": "int", "Bool": "bool"}
        raise err(RuntimeError, f"expected {what} to have the same dtype, but got: {n.get(a.dt.short, a.dt.short)} != {n.get(b.dt.short, b.dt.short)}")
def matmul(a, b, out=None):
    if not isT(a) or not isT(b):
        raise err(TypeError, f"matmul(): argument '{'input' if not isT(a) else 'other'}' (position {1 if not isT(a) else 2}) must be Tensor, not {type(b if isT(a) else a).__name__}")
    a, b = T(a), T(b); nobf(a); nobf(b)
    if not a.d.ndim or not b.d.ndim: raise err(RuntimeError, f"both arguments to matmul need to be at least 1D, but they are {a.d.ndim}D and {b.d.ndim}D")
    sa, sb = a.d.shape, b.d.shape
    if len(sa) == len(sb) == 1:
        if a.dt is not b.dt: raise err(RuntimeError, f"dot : expected both vectors to have same dtype, but found {a.dt.short} and {b.dt.short}")
        if sa != sb: raise err(RuntimeError, f"inconsistent tensor size, expected tensor [{sa[0]}] and src [{sb[0]}] to have the same number of elements, but got {sa[0]} and {sb[0]} elements respectively")
    elif len(sa) <= 2 and len(sb) <= 2:
        if len(sb) == 1 or len(sa) == 1:
            if sa[-1] != (sb[0]): 
                if len(sb) == 1: raise err(RuntimeError, f"size mismatch, got input ({sa[0]}), mat ({sa[0]}x{sa[1]}), vec ({sb[0]})")
                raise err(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied (1x{sa[0]} and {sb[0]}x{sb[1]})")
        elif sa[1] != sb[0]: raise err(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({sa[0]}x{sa[1]} and {sb[0]}x{sb[1]})")
        _same(a, b)
    elif len(sa) >= 3 and len(sb) <= 2:
        n = sb[0]
        if sa[-1] != n:
            rows = math.prod(sa[:-1]); st = x_st = a.d.strides
            fold = b.node is not None and GRAD[0] or builtins.all(st[i] == st[i + 1] * sa[i + 1] for i in range(len(sa) - 2))
            if len(sb) == 1 and not fold: raise NotHere("a product of shapes that do not meet")
            if not fold: raise err(RuntimeError, f"Expected size for first two dimensions of batch2 tensor to be: [{math.prod(sa[:-2])}, {sa[-1]}] but got: [{math.prod(sa[:-2])}, {sb[0]}].")
            if len(sb) == 1: raise err(RuntimeError, f"size mismatch, got input ({rows}), mat ({rows}x{sa[-1]}), vec ({n})")
            raise err(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{sa[-1]} and {sb[0]}x{sb[1]})")
        _same(a, b)
    else:
        pa = sa if len(sa) > 1 else (1,) + sa; pb = sb if len(sb) > 1 else sb + (1,)
        batch = bshape(pa[:-2], pb[:-2])
        if pa[-1] != pb[-2]:
            if len(sa) <= 2 and len(sb) >= 3:
                raise NotHere("a product of a matrix and a batch whose shapes do not meet")
                cols = math.prod(sb[:-2]) * sb[-1]
                raise err(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({cols}x{sb[-2]} and {pa[-1]}x{pa[-2]})")
            raise err(RuntimeError, f"Expected size for first two dimensions of batch2 tensor to be: [{math.prod(batch)}, {pa[-1]}] but got: [{math.prod(batch)}, {pb[-2]}].")
        _same(a, b)
    if a.dt is B: raise err(RuntimeError, "\"addmm_impl_cpu_\" not implemented for 'Bool'")
    x, y = a.d, b.d
    with np.errstate(all="ignore"): r = x @ y
    def ga(g):
        X, Y = (x if x.ndim > 1 else x[None]), (y if y.ndim > 1 else y[:, None]); G = g
        if y.ndim == 1: G = G[..., None]
        if x.ndim == 1: G = np.expand_dims(G, -2)
        o = G @ cj(np.swapaxes(Y, -1, -2)); o = unb(o, X.shape); return o.reshape(x.shape)
    def gb(g):
        X, Y = (x if x.ndim > 1 else x[None]), (y if y.ndim > 1 else y[:, None]); G = g
        if y.ndim == 1: G = G[..., None]
        if x.ndim == 1: G = np.expand_dims(G, -2)
        o = cj(np.swapaxes(X, -1, -2)) @ G; o = unb(o, Y.shape); return o.reshape(y.shape)
    return mk(r, a.dt, [(a, ga), (b, gb)])
def mm(a, b):
    if a.d.ndim != 2: raise err(RuntimeError, "self must be a matrix")
    if b.d.ndim != 2: raise err(RuntimeError, "mat2 must be a matrix")
    return matmul(a, b)
def bmm(a, b):
    if a.d.ndim != 3: raise err(RuntimeError, "batch1 must be a 3D tensor")
    if b.d.ndim != 3: raise err(RuntimeError, "batch2 must be a 3D tensor")
    if a.d.shape[0] != b.d.shape[0] or a.d.shape[2] != b.d.shape[1]: raise err(RuntimeError, f"Expected size for first two dimensions of batch2 tensor to be: [{a.d.shape[0]}, {a.d.shape[2]}] but got: [{b.d.shape[0]}, {b.d.shape[1]}].")
    return matmul(a, b)
def dot(a, b):
    if a.d.ndim != 1 or b.d.ndim != 1: raise err(RuntimeError, f"1D tensors expected, but got {a.d.ndim}D and {b.d.ndim}D tensors")
    return matmul(a, b)
inner = None
def mv(a, b): 
    if a.d.ndim != 2 or b.d.ndim != 1: raise err(RuntimeError, f"vector + matrix @ vector expected, got {b.d.ndim}, {a.d.ndim}, {b.d.ndim}")
    return matmul(a, b)
def outer(a, b):
    if a.d.ndim != 1: raise err(RuntimeError, f"outer: Expected 1-D argument self, but got {a.d.ndim}-D")
    if b.d.ndim != 1: raise err(RuntimeError, f"outer: Expected 1-D argument vec2, but got {b.d.ndim}-D")
    return mul(unsqueeze(a, 1), unsqueeze(b, 0))
def einsum(eq, *ops):
    if len(ops) == 1 and isinstance(ops[0], (list, tuple)): ops = tuple(ops[0])
    ops = [need(o, "einsum") for o in ops]
    eq = eq.replace(" ", "")
    if not re.fullmatch(r"[a-zA-Z.,]*(->[a-zA-Z.]*)?", eq): raise NotHere("einsum equation")
    lhs, _, rhs = eq.partition("->")
    terms = lhs.split(",")
    if len(terms) != len(ops): raise err(RuntimeError, "einsum(): fewer operands were provided than specified in the equation" if len(ops) < len(terms) else "einsum(): more operands were provided than specified in the equation")
    sizes_, ell = {}, 0
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in eq]
    full_ = []
    for k, (t, o) in enumerate(zip(terms, ops)):
        n = len(t.replace("...", ""))
        if "..." in t:
            e = o.d.ndim - n
            if e < 0: raise err(RuntimeError, f"einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions ({o.d.ndim}) for operand {k}, even though the equation has an ellipsis" if False else f"einsum(): the number of subscripts in the equation ({n}) is more than the number of dimensions ({o.d.ndim}) for operand {k}")
            ell = builtins.max(ell, e)
        elif n != o.d.ndim:
            raise err(RuntimeError, f"einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions ({o.d.ndim}) for operand {k} and no ellipsis was given" if n < o.d.ndim else f"einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions ({o.d.ndim}) for operand {k} and no ellipsis was given")
    letters = spare[:ell]
    arrs = []
    for k, (t, o) in enumerate(zip(terms, ops)):
        n = len(t.replace("...", "")); e = o.d.ndim - n if "..." in t else 0
        t2 = t.replace("...", "".join(letters[ell - e:]))
        full_.append(t2)
        for c, s in zip(t2, o.d.shape):
            old = sizes_.get(c, 1)
            if s != old and 1 not in (s, old):
                raise err(RuntimeError, f"einsum(): subscript {c} has size {s} for operand {k} which does not broadcast with previously seen size {old}") if c not in letters else NotHere("einsum over an ellipsis that does not broadcast")
            sizes_[c] = builtins.max(s, old) if 0 not in (s, old) else 0
    if "->" not in eq:
        cnt = "".join(full_); rhs2 = "".join(letters) + "".join(sorted(c for c in set(cnt) if cnt.count(c) == 1 and c not in letters))
    else:
        rhs2 = rhs.replace("...", "".join(letters))
        for c in rhs2:
            if c not in sizes_: raise err(RuntimeError, f"einsum(): output subscript {c} does not appear in the equation for any input operand")
            if rhs2.count(c) > 1: raise err(RuntimeError, f"einsum(): output subscript {c} appears more than once in the output")
    for a, b in zip(ops, ops[1:]):
        if a.dt is not b.dt: _same(a, b)
    if builtins.any(len(set(t)) != len(t) for t in full_) and builtins.any(o.node is not None for o in ops): raise NotHere("einsum with a repeated letter, with gradients")
    data = [np.broadcast_to(o.d, tuple(sizes_[c] for c in t)) if len(set(t)) == len(t) else o.d for t, o in zip(full_, ops)]
    with np.errstate(all="ignore"): r = np.einsum(",".join(full_) + "->" + rhs2, *data, optimize=len(ops) > 2) if r_ok(sizes_) else np.zeros(tuple(sizes_[c] for c in rhs2), ops[0].d.dtype)
    def grad_of(k):
        def vjp(g):
            others = [i for i in range(len(ops)) if i != k]
            have = set(rhs2).union(*[full_[i] for i in others]) if others else set(rhs2)
            tgt = "".join(c for c in full_[k] if c in have)
            z = np.einsum(",".join([rhs2] + [full_[i] for i in others]) + "->" + tgt, g, *[cj(data[i]) for i in others])
            shape = tuple(sizes_[c] if c in have else 1 for c in full_[k])
            return unb(np.broadcast_to(z.reshape(shape), tuple(sizes_[c] for c in full_[k])), ops[k].d.shape)
        return vjp
    return mk(np.ascontiguousarray(r) if not r.flags.owndata else r, ops[0].dt, [(o, grad_of(k)) for k, o in enumerate(ops)])
def r_ok(s): return True
def tensordot(a, b, dims=2):
    if isinstance(dims, int): da, db = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else: da, db = ([d] if isinstance(d, int) else list(d) for d in dims)
    da, db = [axis(d, a.ndim) for d in da], [axis(d, b.ndim) for d in db]
    fa, fb = [i for i in range(a.ndim) if i not in da], [i for i in range(b.ndim) if i not in db]
    for i, j in zip(da, db):
        if a.d.shape[i] != b.d.shape[j]: raise err(RuntimeError, f"contracted dimensions need to match, but first has size {a.d.shape[i]} in dim {i} and second has size {b.d.shape[j]} in dim {j}")
    k = math.prod(a.d.shape[i] for i in da)
    A = reshape(permute(a, *fa, *da), math.prod(a.d.shape[i] for i in fa), k); Y = reshape(permute(b, *db, *fb), k, math.prod(b.d.shape[i] for i in fb))
    return reshape(matmul(A, Y), *[a.d.shape[i] for i in fa], *[b.d.shape[i] for i in fb])
def kron(a, b):
    n = builtins.max(a.ndim, b.ndim); a = reshape(a, (1,) * (n - a.ndim) + a.shape); b = reshape(b, (1,) * (n - b.ndim) + b.shape)
    x = reshape(a, sum_tuple([(s, 1) for s in a.shape])); y = reshape(b, sum_tuple([(1, s) for s in b.shape]))
    return reshape(x * y, tuple(p * q for p, q in zip(a.shape, b.shape)))
def sum_tuple(l): return tuple(z for t in l for z in t)
def baddbmm(*a, **k): raise NotHere("baddbmm")
def addmm(c, a, b, beta=1, alpha=1): return add(c if beta == 1 else c * beta, matmul(a, b) if alpha == 1 else matmul(a, b) * alpha)
def trace(x):
    if T(x).d.ndim != 2: raise err(RuntimeError, "trace: expected a matrix")
    return sum(diagonal(x))

# --- reductions -----------------------------------------------------------------------------------------------------
def _ex(g, ax, keep, shape):
    if not keep:
        for a in sorted(ax): g = np.expand_dims(g, a)
    return np.broadcast_to(g, shape)
def _dims(dim, kw, name):
    if "axis" in kw: dim = kw.pop("axis")
    if "keepdims" in kw: kw["keepdim"] = kw.pop("keepdims")
    bad = set(kw) - {"keepdim", "dtype", "correction", "unbiased"}
    if bad: raise NotHere(f"{name}({', '.join(bad)})")
    return dim
def sum(x, dim=None, keepdim=False, *, dtype=None, **kw):
    x = need(x, "sum"); nobf(x); dim = _dims(dim, kw, "sum"); keepdim = kw.get("keepdim", keepdim)
    ax = axes(dim, x.d.ndim); d = _dt(dtype, I64 if x.dt.rank < 2 else x.dt); s = x.d.shape
    with np.errstate(all="ignore"): r = x.d.astype(d.np, copy=False).sum(ax, keepdims=keepdim) if x.d.ndim else x.d.astype(d.np)
    return mk(r, d, [(x, lambda g: _ex(g, ax, keepdim, s))])
def mean(x, dim=None, keepdim=False, *, dtype=None, **kw):
    x = need(x, "mean"); dim = _dims(dim, kw, "mean"); keepdim = kw.get("keepdim", keepdim)
    if dtype is not None: x = to(x, dtype)
    if x.dt.rank < 2: raise err(RuntimeError, f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {x.dt.short}")
    ax = axes(dim, x.d.ndim); n = math.prod(x.d.shape[a] for a in ax); s = sum(x, list(ax), keepdim) if ax else x
    with np.errstate(all="ignore"): return div(s, n) if n else div(s, 0)
def prod(x, dim=None, keepdim=False, *, dtype=None):
    x = T(x); ax = axes(dim, x.d.ndim); d = _dt(dtype, I64 if x.dt.rank < 2 else x.dt); r = x.d.astype(d.np).prod(ax, keepdims=keepdim); a = x.d
    def vjp(g):
        if (a == 0).any(): raise NotHere("derivative of prod at zero")
        return _ex(g * r, ax, keepdim, a.shape) / a
    return mk(r, d, [(x, vjp)])
def _ext(f, name):
    def e(x, dim=None, keepdim=False, **kw):
        x = need(x, name); dim = _dims(dim, kw, name); keepdim = kw.get("keepdim", keepdim); nobf(x)
        ax = axes(dim, x.d.ndim)
        if not x.d.size or builtins.any(x.d.shape[a] == 0 for a in ax): raise err(IndexError, f"{name}(): Expected reduction dim to have non-zero size.")
        r = f(x.d, ax, keepdims=keepdim) if x.d.ndim else x.d; a = x.d
        def vjp(g):
            m = a == _ex(r, ax, keepdim, a.shape)
            return _ex(g, ax, keepdim, a.shape) * m / m.sum(ax, keepdims=True)
        return mk(r, x.dt, [(x, vjp)])
    e.__name__ = name
    return e
amax, amin = _ext(np.max, "amax"), _ext(np.min, "amin")
class Pair(tuple):
    values = property(lambda s: s[0]); indices = property(lambda s: s[1])
    def __repr__(self): return f"torch.return_types.max(\nvalues={self[0]},\nindices={self[1]})"
    def __getattr__(self, n): raise err(AttributeError, f"'torch.return_types.max' object has no attribute '{n}'")
def _pairop(name):
    def raising(self, other): raise err(TypeError, f"unsupported operand type(s) for {name}: 'Tensor' and 'torch.return_types.max'")
    return raising
for n, s in [("add", "+"), ("radd", "+"), ("sub", "-"), ("rsub", "-"), ("mul", "*"), ("rmul", "*"), ("truediv", "/"), ("rtruediv", "/")]: setattr(Pair, f"__{n}__", _pairop(s))
def _mm(name, f, arg, bin_):
    def m(x, dim=None, keepdim=False, **kw):
        x = need(x, name)
        if isT(dim): return bin_(x, dim)
        dim = _dims(dim, kw, name); keepdim = kw.get("keepdim", keepdim)
        if dim is None:
            if not x.d.size: raise err(RuntimeError, f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
            return f(x)
        if not x.d.ndim: return Pair((x, mk(np.int64(0))))
        ax = axis(dim, x.d.ndim)
        if not x.d.shape[ax]: raise err(IndexError, f"{name}(): Expected reduction dim {ax} to have non-zero size.")
        i = arg(x.d, ax)[..., None] if False else np.expand_dims(arg(x.d, ax), ax); v = np.take_along_axis(x.d, i, ax); s = x.d.shape
        def vjp(g):
            z = np.zeros(s, g.dtype); np.put_along_axis(z, i, g if keepdim else np.expand_dims(g, ax), ax); return z
        if not keepdim: v, io = v.squeeze(ax), i.squeeze(ax)
        else: io = i
        return Pair((mk(v, x.dt, [(x, vjp)]), mk(io)))
    m.__name__ = name
    return m
max, min = _mm("max", amax, np.argmax, maximum), _mm("min", amin, np.argmin, minimum)
def argmax(x, dim=None, keepdim=False): x = T(x); return mk(np.argmax(x.d, None if dim is None else axis(dim, x.d.ndim), keepdims=keepdim).astype(np.int64) if x.d.ndim else np.int64(0))
def argmin(x, dim=None, keepdim=False): x = T(x); return mk(np.argmin(x.d, None if dim is None else axis(dim, x.d.ndim), keepdims=keepdim).astype(np.int64) if x.d.ndim else np.int64(0))
def all(x, dim=None, keepdim=False, **kw): x = need(x, "all"); dim = _dims(dim, kw, "all"); return mk(x.d.astype(bool).all(axes(dim, x.d.ndim) if x.d.ndim else None, keepdims=keepdim))
def any(x, dim=None, keepdim=False, **kw): x = need(x, "any"); dim = _dims(dim, kw, "any"); return mk(x.d.astype(bool).any(axes(dim, x.d.ndim) if x.d.ndim else None, keepdims=keepdim))
def count_nonzero(x, dim=None): return mk(np.asarray(np.count_nonzero(T(x).d, None if dim is None else axes(dim, x.d.ndim)), np.int64))
def var(x, dim=None, keepdim=False, *, correction=1, unbiased=None, **kw):
    dim = _dims(dim, kw, "var"); keepdim = kw.get("keepdim", keepdim)
    if unbiased is not None: correction = int(unbiased)
    if isinstance(dim, bool): raise NotHere("var(bool)")
    ax = axes(dim, x.d.ndim); n = math.prod(x.d.shape[a] for a in ax); c = x - mean(x, list(ax), True)
    return sum(square(c), list(ax), keepdim) / builtins.max(n - correction, 0)
def std(x, dim=None, keepdim=False, **k): return sqrt(var(x, dim, keepdim, **k))
def cumsum(x, dim, dtype=None, **kw):
    x = T(x); ax = axis(dim, x.d.ndim); d = _dt(dtype, I64 if x.dt.rank < 2 else x.dt)
    return mk(np.cumsum(x.d.astype(d.np), ax), d, [(x, lambda g: np.flip(np.cumsum(np.flip(g, ax), ax), ax))])
def cumprod(x, dim, dtype=None):
    x = T(x); ax = axis(dim, x.d.ndim); r = np.cumprod(x.d, ax); a = x.d
    def vjp(g):
        if (a == 0).any(): raise NotHere("derivative of cumprod at zero")
        return np.flip(np.cumsum(np.flip(g * r, ax), ax), ax) / a
    return mk(r, I64 if x.dt.rank < 2 else x.dt, [(x, vjp)])
def logsumexp(x, dim, keepdim=False):
    x = flt(T(x)); ax = axes(dim, x.d.ndim); a = x.d
    with np.errstate(all="ignore"):
        m = a.max(ax, keepdims=True); m = np.where(np.isfinite(m), m, 0); r = np.log(np.exp(a - m).sum(ax, keepdims=True)) + m
    p = r
    return mk(r if keepdim else r.squeeze(ax), x.dt, [(x, lambda g: _ex(g, ax, keepdim, a.shape) * np.exp(a - p))])
def softmax(x, dim=None, dtype=None, _stacklevel=3, **kw):
    x = need(x, "softmax"); out = kw.pop("out", None); dim = _dims(dim, kw, "softmax")
    if out is not None:
        if GRAD[0] and (x.node is not None or out.node is not None): raise err(RuntimeError, "softmax(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")
        return inplace(out, softmax(x, dim, dtype))
    if dim is None: raise NotHere("softmax without dim")
    if dtype is not None: x = to(x, dtype)
    if x.dt.rank < 2: raise err(RuntimeError, f"\"softmax_lastdim_kernel_impl\" not implemented for '{x.dt.short}'")
    ax = axis(dim, x.d.ndim); a = x.d
    if not a.size: return mk(a.copy(), x.dt, [(x, lambda g: g)])
    with np.errstate(all="ignore"): e = np.exp(a - (a.max(ax, keepdims=True) if a.ndim else a)); r = e / (e.sum(ax, keepdims=True) if a.ndim else e)
    return mk(r.astype(a.dtype), x.dt, [(x, lambda g: r * (g - (g * r).sum(ax if g.ndim else None, keepdims=True)))])
def log_softmax(x, dim=None, dtype=None, _stacklevel=3):
    x = need(x, "log_softmax"); ax = axis(dim, x.d.ndim); a = x.d
    if x.dt.rank < 2: raise err(RuntimeError, f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{x.dt.short}'")
    with np.errstate(all="ignore"): s = a - a.max(ax, keepdims=True); r = s - np.log(np.exp(s).sum(ax, keepdims=True))
    return mk(r, x.dt, [(x, lambda g: g - np.exp(r) * g.sum(ax, keepdims=True))])
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    x = T(x)
    if x.dt.rank < 2: raise err(RuntimeError, f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dt.short}")
    ax = list(axes(dim, x.d.ndim))
    if ord == 2:
        s = x.d; r = np.sqrt((np.abs(s) ** 2).sum(tuple(ax), keepdims=True))
        return mk(r if keepdim else r.squeeze(tuple(ax)), x.dt, [(x, lambda g: _ex(g, ax, keepdim, s.shape) * np.where(r == 0, 0, s / np.where(r == 0, 1, r)))])
    if ord == math.inf: return amax(abs(x), ax, keepdim)
    if ord == 1: return sum(abs(x), ax, keepdim)
    raise NotHere("norm order")
def norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    if p not in ("fro", 2, 2.0, None, 1, math.inf): raise NotHere("norm p")
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)
def sort(x, dim=-1, descending=False, stable=False):
    ax = axis(dim, T(x).d.ndim); i = np.argsort(-x.d if descending else x.d, ax, kind="stable"); return _gathered(x, i, ax)
def _gathered(x, i, ax):
    s = x.d.shape; v = np.take_along_axis(x.d, i, ax)
    def vjp(g): z = np.zeros(s, g.dtype); np.put_along_axis(z, i, g, ax); return z
    return Pair((mk(v, x.dt, [(x, vjp)]), mk(i.astype(np.int64))))
def median(x, dim=None, keepdim=False):
    x = T(x)
    if x.node is not None and GRAD[0]: raise NotHere("derivative of median")
    if dim is None: f = np.sort(x.d.reshape(-1)); return mk(f[(f.size - 1) // 2], x.dt)
    ax = axis(dim, x.d.ndim); i = np.take(np.argsort(x.d, ax, kind="stable"), [(x.d.shape[ax] - 1) // 2], ax); v = np.take_along_axis(x.d, i, ax)
    return Pair((mk(v if keepdim else v.squeeze(ax), x.dt), mk(i if keepdim else i.squeeze(ax))))
def cdist(a, b, p=2.0):
    if p != 2: raise NotHere("cdist p")
    return vector_norm(unsqueeze(a, -2) - unsqueeze(b, -3), 2, -1)
def diff(x, n=1, dim=-1, prepend=None, append=None):
    if n != 1 or prepend is not None or append is not None: raise NotHere('diff options')
    a = axis(dim, T(x).d.ndim); m = x.d.shape[a]; return narrow(x, a, 1, builtins.max(m - 1, 0)) - narrow(x, a, 0, builtins.max(m - 1, 0))
def argsort(x, dim=-1, descending=False, stable=False): return sort(x, dim, descending)[1]
def topk(x, k, dim=-1, largest=True, sorted=True):
    ax = axis(dim, T(x).d.ndim)
    if k > x.d.shape[ax]: raise err(RuntimeError, "selected index k out of range")
    i = np.argsort(-x.d if largest else x.d, ax, kind="stable"); return _gathered(x, np.take(i, range(k), ax), ax)
def unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None: raise NotHere("unique(dim)")
    r = np.unique(T(x).d, return_inverse=True, return_counts=True)
    out = (mk(r[0]),) + ((mk(r[1].reshape(x.d.shape).astype(np.int64)),) if return_inverse else ()) + ((mk(r[2].astype(np.int64)),) if return_counts else ())
    return out if len(out) > 1 else out[0]
def mode(x, dim=-1, keepdim=False):
    ax = axis(dim, T(x).d.ndim); a = np.moveaxis(x.d, ax, -1) if x.d.ndim else x.d.reshape(1)
    if x.node is not None and GRAD[0]: raise NotHere("derivative of mode")
    v = np.zeros(a.shape[:-1], a.dtype); i = np.zeros(a.shape[:-1], np.int64)
    for k in np.ndindex(*a.shape[:-1]):
        u, c = np.unique(a[k], return_counts=True); v[k] = u[c.argmax()]; i[k] = np.flatnonzero(a[k] == v[k])[-1]
    if keepdim: v, i = np.expand_dims(v, ax), np.expand_dims(i, ax)
    return Pair((mk(v, x.dt), mk(i)))
def nn_(x):
    if x.d.size and x.d.min() < 0: raise NotHere('bincount of negative numbers')
    return x
def bincount(x, weights=None, minlength=0): return mk(np.bincount(T(x).d.astype(np.intp), None if weights is None else weights.d, minlength).astype(np.int64 if weights is None else np.float64))
def searchsorted(a, v, right=False): return mk(np.searchsorted(T(a).d, T(v).d, "right" if right else "left").astype(np.int64))
def nonzero(x, as_tuple=False):
    i = np.nonzero(T(x).d); return tuple(mk(j.astype(np.int64)) for j in i) if as_tuple else mk(np.stack(i, -1).astype(np.int64) if x.d.ndim else np.zeros((int(bool(x.d)), 0), np.int64))
argwhere = nonzero

# --- shapes ---------------------------------------------------------------------------------------------------------
def _resolve(x, s):
    n = x.d.size; k = [i for i, v in enumerate(s) if v == -1]
    if len(k) > 1: raise err(RuntimeError, "only one dimension can be inferred")
    if builtins.any(v < -1 for v in s): raise err(RuntimeError, f"invalid shape dimension {builtins.min(s)} at index {s.index(builtins.min(s))} of shape {list(s)}")
    rest = math.prod(v for v in s if v != -1)
    if k:
        if rest == 0: raise err(RuntimeError, f"cannot reshape tensor of 0 elements into shape {list(s)} because the unspecified dimension size -1 can be any value and is ambiguous")
        if n % rest: raise err(RuntimeError, f"shape '{list(s)}' is invalid for input of size {n}")
        s = s[:k[0]] + (n // rest,) + s[k[0] + 1:]
    elif rest != n: raise err(RuntimeError, f"shape '{list(s)}' is invalid for input of size {n}")
    return s
def _noview(a, s):
    v = a.view()
    try:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore"); v.shape = s
        return v
    except AttributeError: return None
def view_(x, *s):
    T(x)
    if len(s) == 1 and isinstance(s[0], dtype_): raise NotHere("view as another dtype")
    sz = s[0] if len(s) == 1 and isinstance(s[0], (tuple, list)) else s
    if builtins.any(isinstance(n, float) for n in sz):
        if len(s) == 1: raise NotHere("view of a float")
        raise err(TypeError, f"view() received an invalid combination of arguments - got ({', '.join(type(n).__name__ for n in s)}), but expected one of:")
    s = _resolve(x, sizes(s)); o = x.d.shape; v = _noview(x.d, s)
    if v is None: raise err(RuntimeError, "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
    return view(v, x, lambda g: g.reshape(o))
def view_as(x, y): return view_(x, y.shape)
def reshape(x, *s, shape=None):
    x = T(x); s = _resolve(x, sizes(s if shape is None else (shape,), 'reshape')); o = x.d.shape; v = _noview(x.d, s)
    return view(v, x, lambda g: g.reshape(o)) if v is not None else mk(x.d.reshape(s), x.dt, [(x, lambda g: g.reshape(o))])
def reshape_as(x, y): return reshape(x, y.shape)
def flatten(x, start_dim=0, end_dim=-1):
    if not T(x).d.ndim: return reshape(x, 1)
    a, b = axis(start_dim, x.d.ndim), axis(end_dim, x.d.ndim)
    if a > b: raise err(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim")
    return reshape(x, *x.d.shape[:a], math.prod(x.d.shape[a:b + 1]), *x.d.shape[b + 1:])
def ravel(x): return reshape(x, -1)
def unflatten(x, dim, sizes_):
    a = axis(dim, T(x).d.ndim); s = list(cint(v) for v in sizes_); n = x.d.shape[a]
    if -1 in s:
        r = math.prod(v for v in s if v != -1)
        if not r or n % r: raise err(RuntimeError, f"unflatten: Provided sizes {s} don't multiply up to the size of dim {a} ({n}) in the input tensor")
        s[s.index(-1)] = n // r
    if math.prod(s) != n: raise err(RuntimeError, f"unflatten: Provided sizes {s} don't multiply up to the size of dim {a} ({n}) in the input tensor")
    return view_(x, *x.d.shape[:a], *s, *x.d.shape[a + 1:])
def unsqueeze(x, dim): x = T(x); a = axis(dim, x.d.ndim, 1); return view(np.expand_dims(x.d, a), x, lambda g: g.squeeze(a))
def squeeze(x, dim=None):
    x = T(x); ds = range(x.d.ndim) if dim is None else axes(dim, x.d.ndim); a = tuple(i for i in ds if x.d.shape[i] == 1); o = x.d.shape
    return view(x.d.squeeze(a), x, lambda g: g.reshape(o))
def transpose(x, a=None, b=None, dim0=None, dim1=None):
    x = need(x, "transpose"); a = dim0 if a is None else a; b = dim1 if b is None else b
    a, b = axis(a, x.d.ndim), axis(b, x.d.ndim); return view(np.swapaxes(x.d, a, b) if x.d.ndim else x.d, x, lambda g: np.swapaxes(g, a, b) if g.ndim else g)
swapaxes = swapdims = transpose
def t(x):
    if T(x).d.ndim > 2: raise err(RuntimeError, f"t() expects a tensor with <= 2 dimensions, but self is {x.d.ndim}D")
    return transpose(x, 0, 1) if x.d.ndim == 2 else x
def permute(x, *dims, **k):
    x = T(x); ds = sizes(dims or (k["dims"],))
    if len(ds) != x.d.ndim: raise err(RuntimeError, f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {x.d.ndim} is not equal to len(dims) = {len(ds)}")
    ds = tuple(axis(d, x.d.ndim) for d in ds)
    if len(set(ds)) != len(ds): raise err(RuntimeError, "permute(): duplicate dims are not allowed.")
    inv = np.argsort(ds) if ds else (); return view(x.d.transpose(ds), x, lambda g: g.transpose(inv))
def movedim(x, a, b): a_ = [a] if isinstance(a, int) else list(a); b_ = [b] if isinstance(b, int) else list(b); return view(np.moveaxis(T(x).d, a_, b_), x, lambda g: np.moveaxis(g, b_, a_))
moveaxis = movedim
def mT(x):
    if T(x).d.ndim < 2: raise err(RuntimeError, f"tensor.mT is only supported on matrices or batches of matrices. Got {x.d.ndim}-D tensor.")
    return transpose(x, -1, -2)
def TT(x): return permute(x, *range(x.d.ndim)[::-1])
def expand(x, *s):
    x = T(x); s = sizes(s); o = x.d.shape
    if len(s) < len(o): raise err(RuntimeError, f"expand({x.type()}{{{list(o)}}}, size={list(s)}): the number of sizes provided ({len(s)}) must be greater or equal to the number of dimensions in the tensor ({len(o)})")
    tgt = tuple((o[i - len(s) + len(o)] if v == -1 else v) for i, v in enumerate(s))
    for i, v in enumerate(tgt):
        j = i - len(s) + len(o)
        if j >= 0 and o[j] not in (1, v): raise err(RuntimeError, f"The expanded size of the tensor ({v}) must match the existing size ({o[j]}) at non-singleton dimension {i}.  Target sizes: {list(s)}.  Tensor sizes: {list(o)}")
    a = np.lib.stride_tricks.as_strided(x.d, tgt, (0,) * (len(tgt) - len(o)) + tuple(0 if o[j] != tgt[j + len(tgt) - len(o)] else st for j, st in enumerate(x.d.strides)))
    return view(a, x, lambda g: unb(g, o))
def sum_to_size(x, *s): s = sizes(s); o = T(x).d.shape; return mk(unb(x.d, s), x.dt, [(x, lambda g: np.broadcast_to(g, o))])
def expand_as(x, y): return expand(x, y.shape)
broadcast_to = expand
def broadcast_tensors(*ts): s = bshape(*[t.d.shape for t in ts]); return tuple(expand(t, s) for t in ts)
def repeat(x, *s):
    x = T(x); s = sizes(s); o = (1,) * (len(s) - x.d.ndim) + x.d.shape
    if len(s) < x.d.ndim: raise err(RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    y = reshape(x, sum_tuple([(1, n) for n in o])); y = expand(y, sum_tuple([(r, n) for r, n in zip(s, o)])); return reshape(y, tuple(r * n for r, n in zip(s, o)))
def tile(x, *s): s = sizes(s); return repeat(x, (1,) * (T(x).d.ndim - len(s)) + s)
def repeat_interleave(x, n, dim=None, output_size=None):
    x = T(x)
    if dim is None: x, dim = flatten(x), 0
    a = axis(dim, x.d.ndim); m = x.d.shape[a]; reps = T(n).d if isT(n) else np.asarray(n)
    if reps.ndim and reps.size != m and reps.size != 1: raise err(RuntimeError, f"repeats must have the same size as input along dim, but got repeats.size(0) = {reps.size} and input.size({a}) = {m}")
    i = np.repeat(np.arange(m), reps if reps.size > 1 else int(reps.reshape(-1)[0])); return index_select(x, a, mk(i))
def flip(x, *dims, **k): ds = [axis(d, T(x).d.ndim) for d in sizes(dims or (k["dims"],))]; return mk(np.flip(x.d, ds).copy(), x.dt, [(x, lambda g: np.flip(g, ds))])
def roll(x, shifts, dims=None):
    if dims is None: s = x.shape; return reshape(roll(flatten(x), shifts, 0), s)
    return mk(np.roll(T(x).d, shifts, dims), x.dt, [(x, lambda g: np.roll(g, [-s for s in shifts] if isinstance(shifts, (tuple, list)) else -shifts, dims))])
def _list(ts, name):
    if isT(ts):
        if name == "stack" or name == "cat": raise err(TypeError, f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    ts = list(ts)
    for i, t_ in enumerate(ts):
        if not isT(t_): raise err(TypeError, f"expected Tensor as element {i} in argument 0, but got {type(t_).__name__}")
    if not ts: raise err(RuntimeError, f"{name} expects a non-empty TensorList" if name == "stack" else "torch.cat(): expected a non-empty list of Tensors")
    return [T(t_) for t_ in ts]
def stack(ts, dim=0):
    ts = _list(ts, "stack"); s = ts[0].d.shape
    for i, x in enumerate(ts):
        if x.d.shape != s: raise err(RuntimeError, f"stack expects each tensor to be equal size, but got {list(s)} at entry 0 and {list(x.d.shape)} at entry {i}")
    a = axis(dim, len(s), 1); d = functools.reduce(promote_types, [x.dt for x in ts])
    return mk(np.stack([x.d.astype(d.np) for x in ts], a), d, [(x, (lambda i: lambda g: np.take(g, i, a))(i)) for i, x in enumerate(ts)])
def cat(ts, dim=0, **kw):
    dim = _dims(dim, kw, "cat"); ts = [x for x in _list(ts, "cat")]
    if builtins.any(x.d.ndim == 0 for x in ts): raise err(RuntimeError, f"zero-dimensional tensor (at position {[x.d.ndim for x in ts].index(0)}) cannot be concatenated")
    real_ = [x for x in ts if x.d.shape != (0,)] or ts; a = axis(dim, real_[0].d.ndim); s = real_[0].d.shape
    for i, x in enumerate(real_):
        if x.d.ndim != len(s): raise err(RuntimeError, f"Tensors must have same number of dimensions: got {len(s)} and {x.d.ndim}")
        if x.d.shape[:a] + x.d.shape[a + 1:] != s[:a] + s[a + 1:]:
            j = next(j for j in range(len(s)) if j != a and s[j] != x.d.shape[j])
            raise err(RuntimeError, f"Sizes of tensors must match except in dimension {a}. Expected size {s[j]} but got size {x.d.shape[j]} for tensor number {i} in the list.")
    d = functools.reduce(promote_types, [x.dt for x in ts]); pos = np.cumsum([0] + [x.d.shape[a] for x in real_])
    def part(i):
        sl = (slice(None),) * a + (slice(pos[i], pos[i + 1]),); return lambda g: g[sl]
    return mk(np.concatenate([x.d.astype(d.np) for x in real_], a), d, [(x, part(i)) for i, x in enumerate(real_)])
concat = concatenate = cat
def hstack(ts): return cat(ts, 0 if ts[0].ndim == 1 else 1)
def vstack(ts): return cat([x if x.ndim > 1 else x[None] for x in ts], 0)
def narrow(x, dim, start, length): a = axis(dim, T(x).d.ndim); return getitem(x, (slice(None),) * a + (slice(cint(start), cint(start) + cint(length)),))
def select(x, dim, index): a = axis(dim, T(x).d.ndim); return getitem(x, (slice(None),) * a + (index,))
def split(x, n, dim=0):
    a = axis(dim, T(x).d.ndim); m = x.d.shape[a]; n_ = [n] * (m // n) + ([m % n] if m % n else []) if isinstance(n, int) else [cint(v) for v in n]
    if builtins.sum(n_) != m: raise err(RuntimeError, f"split_with_sizes expects split_sizes to sum exactly to {m} (input tensor's size at dimension {a}), but got split_sizes={n_}")
    p = np.cumsum([0] + n_); return tuple(narrow(x, a, int(p[i]), n_[i]) for i in range(len(n_)))
def tensor_split(*a, **k): raise NotHere("tensor_split")
def chunk(x, k, dim=0):
    if not isinstance(k, int): k = cint(k)
    if k <= 0: raise err(RuntimeError, f"chunk expects `chunks` to be greater than 0, got: {k}")
    a = axis(dim, T(x).d.ndim); m = x.d.shape[a]; return split(x, builtins.max(-(-m // k), 1), a)
def unbind(x, dim=0): a = axis(dim, T(x).d.ndim); return tuple(select(x, a, i) for i in range(x.d.shape[a]))
def index_select(x, dim, i):
    a = axis(dim, T(x).d.ndim); j = T(i).d.astype(np.intp); s = x.d.shape; sl = (slice(None),) * a + (j,)
    if j.size and (j.max() >= s[a] or j.min() < 0): raise err(IndexError, "index out of range in self")
    def vjp(g): z = np.zeros(s, g.dtype); np.add.at(z, sl, g); return z
    return mk(np.take(x.d, j, a), x.dt, [(x, vjp)])
def gather(x, dim, i):
    a = axis(dim, T(x).d.ndim); j = T(i).d; s = x.d.shape
    if j.ndim != x.d.ndim: raise err(RuntimeError, "Index tensor must have the same number of dimensions as input tensor")
    if j.size and (j.max() >= s[a] or j.min() < 0): raise err(RuntimeError, f"index {j.max() if j.max() >= s[a] else j.min()} is out of bounds for dimension {a} with size {s[a]}")
    if j.dtype.kind != "i": raise err(RuntimeError, "gather(): Expected dtype int32/int64 for index")
    src = x.d[tuple(slice(0, n) if k != a else slice(None) for k, n in enumerate(j.shape))]
    grid = list(np.indices(j.shape, sparse=True)); grid[a] = j; grid = tuple(grid)
    def vjp(g): z = np.zeros(s, g.dtype); np.add.at(z, grid, g); return z
    return mk(x.d[grid], x.dt, [(x, vjp)])
take_along_dim = gather
def scatter(x, dim, i, src, reduce=None):
    if reduce: raise NotHere("scatter reduce")
    a = axis(dim, T(x).d.ndim); j = T(i).d; grid = list(np.indices(j.shape, sparse=True)); grid[a] = j; grid = tuple(grid); r = x.d.copy()
    r[grid] = src.d[tuple(slice(0, n) for n in j.shape)] if isT(src) else src
    def vx(g): g = g.copy(); g[grid] = 0; return g
    def vs(g):
        z = np.zeros(src.d.shape, g.dtype); z[tuple(slice(0, n) for n in j.shape)] = g[grid]; return z
    return mk(r, x.dt, [(x, vx)] + ([(src, vs)] if isT(src) else []))
def scatter_add(x, dim, i, src):
    a = axis(dim, T(x).d.ndim); j = T(i).d; grid = list(np.indices(j.shape, sparse=True)); grid[a] = j; grid = tuple(grid); r = x.d.copy()
    np.add.at(r, grid, src.d[tuple(slice(0, n) for n in j.shape)])
    def vs(g): z = np.zeros(src.d.shape, g.dtype); z[tuple(slice(0, n) for n in j.shape)] = g[grid]; return z
    return mk(r, x.dt, [(x, lambda g: g), (src, vs)])
def index_fill(x, dim, i, v): r = clone(x); setitem(r, (slice(None),) * axis(dim, x.ndim) + (i,), v); return r
def index_copy(x, dim, i, src): r = clone(x); setitem(r, (slice(None),) * axis(dim, x.ndim) + (i,), src); return r
def index_add(x, dim, i, src, alpha=1):
    a = axis(dim, T(x).d.ndim); sl = (slice(None),) * a + (T(i).d,); r = x.d.copy(); np.add.at(r, sl, src.d * alpha); return mk(r, x.dt, [(x, lambda g: g), (src, lambda g: g[sl] * alpha)])
def masked_select(x, m): return getitem(expand(x, bshape(x.d.shape, m.d.shape)), expand(m, bshape(x.d.shape, m.d.shape)))
def _tri(f, name):
    def tr(x, diagonal=0):
        x = need(x, name)
        if x.d.ndim < 2: raise err(RuntimeError, f"{name}: input tensor must have at least 2 dimensions")
        m = f(np.ones(x.d.shape[-2:], bool), diagonal); return mk(np.where(m, x.d, np.zeros((), x.d.dtype)), x.dt, [(x, lambda g: np.where(m, g, 0))])
    tr.__name__ = name
    return tr
tril, triu = _tri(np.tril, "tril"), _tri(np.triu, "triu")
def tril_indices(r, c, offset=0): return mk(np.stack(np.tril_indices(r, offset, c)).astype(np.int64))
def triu_indices(r, c, offset=0): return mk(np.stack(np.triu_indices(r, offset, c)).astype(np.int64))
def diagonal(x, offset=0, dim1=0, dim2=1):
    a, b = axis(dim1, T(x).d.ndim), axis(dim2, x.d.ndim); s = x.d.shape
    def vjp(g):
        z = np.zeros(s, g.dtype); v = np.moveaxis(z, (a, b), (-2, -1)); n = g.shape[-1]; k = np.arange(n); v[..., k + builtins.max(-offset, 0), k + builtins.max(offset, 0)] = g; return z
    d = np.diagonal(x.d, offset, a, b); d.flags.writeable = x.d.flags.writeable or False if False else d.flags.writeable
    return view(d, x, vjp)
def diag(x, diagonal=0):
    if T(x).d.ndim not in (1, 2): raise err(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {x.d.ndim}D")
    return diag_embed(x, diagonal) if x.d.ndim == 1 else clone(globals()["diagonal"](x, diagonal))
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    if (dim1, dim2) != (-2, -1): raise NotHere("diag_embed dims")
    n = T(x).d.shape[-1]; m = n + builtins.abs(offset); r = np.zeros(x.d.shape[:-1] + (m, m), x.d.dtype); k = np.arange(n); i, j = k + builtins.max(-offset, 0), k + builtins.max(offset, 0)
    r[..., i, j] = x.d; return mk(r, x.dt, [(x, lambda g: g[..., i, j])])
def block_diag(*ts):
    ts = [x if x.ndim == 2 else reshape(x, 1, -1) for x in ts]; n, m = builtins.sum(x.d.shape[0] for x in ts), builtins.sum(x.d.shape[1] for x in ts)
    r = zeros(n, m, dtype=functools.reduce(promote_types, [x.dt for x in ts])); i = j = 0
    for x in ts: setitem(r, (slice(i, i + x.d.shape[0]), slice(j, j + x.d.shape[1])), x); i += x.d.shape[0]; j += x.d.shape[1]
    return r
def meshgrid(*ts, indexing="ij"):
    ts = ts[0] if len(ts) == 1 and isinstance(ts[0], (list, tuple)) else ts; n = len(ts); s = [x.d.shape[0] for x in ts]
    out = tuple(expand(reshape(x, (1,) * i + (s[i],) + (1,) * (n - i - 1)), *s) for i, x in enumerate(ts))
    return tuple(transpose(o, 0, 1) for o in out) if indexing == "xy" else out
def cartesian_prod(*ts): return stack([flatten(x) for x in meshgrid(*ts)], -1)
def polar(r, th):
    c = np.exp(1j * th.d) if True else 0; v = (r.d * c).astype(np.complex64 if r.dt is F32 else np.complex128)
    return mk(v, None, [(r, lambda g: (g * np.conj(c)).real), (th, lambda g: (g * np.conj(1j * v)).real)])
def complex_(a, b): return mk((a.d + 1j * b.d).astype(np.complex64 if a.dt is F32 else np.complex128), None, [(a, lambda g: g.real), (b, lambda g: g.imag)])
def view_as_complex(x):
    if T(x).d.shape[-1] != 2: raise err(RuntimeError, "Tensor must have a last dimension of size 2")
    if x.stride()[-1] != 1: raise err(RuntimeError, "Tensor must have a last dimension with stride 1")
    d = np.ascontiguousarray(x.d); v = d.view(np.complex64 if x.dt is F32 else np.complex128)[..., 0]
    r = mk(v, None, [(x, lambda g: np.stack([g.real, g.imag], -1))]); r._isview = True; return r
def view_as_real(x):
    d = np.ascontiguousarray(T(x).d); v = np.stack([d.real, d.imag], -1); r = mk(v, None, [(x, lambda g: g[..., 0] + 1j * g[..., 1])]); r._isview = True; return r
def one_hot(x, num_classes=-1):
    if T(x).dt is not I64: raise err(RuntimeError, "one_hot is only applicable to index tensor of type LongTensor.")
    n = int(x.d.max()) + 1 if num_classes == -1 else num_classes
    if x.d.size and x.d.max() >= n: raise err(RuntimeError, "Class values must be smaller than num_classes.")
    return mk(np.eye(n, dtype=np.int64)[x.d])
def pad(x, p, mode="constant", value=None):
    if mode != "constant": raise NotHere("pad mode")
    p = [cint(v) for v in p]; k = [(0, 0)] * (T(x).d.ndim - len(p) // 2) + [(p[i], p[i + 1]) for i in range(0, len(p), 2)][::-1]; r = x
    for i, (a, b) in enumerate(k):
        if a < 0 or b < 0: r = narrow(r, i, builtins.max(-a, 0), r.d.shape[i] + builtins.min(a, 0) + builtins.min(b, 0))
    k = [(builtins.max(a, 0), builtins.max(b, 0)) for a, b in k]; sl = tuple(slice(a, a + n) for (a, b), n in zip(k, r.d.shape)); y = r
    return mk(np.pad(y.d, k, constant_values=0 if value is None else value), x.dt, [(y, lambda g: g[sl])])
def unfold(*a): raise NotHere("unfold")
def as_strided(*a, **k): raise NotHere("as_strided")
def numel(x): return x.numel()
def is_tensor(x): return isT(x)
def is_floating_point(x): return x.dt.rank == 2
def is_complex(x): return x.dt.rank == 3
def result_type(a, b): return result(a, b)
def can_cast(a, b): raise NotHere("can_cast")
def zero_(x): return inplace(x, zeros_like(x))
def fill_(x, v): return inplace(x, full_like(x, v) if not isT(v) else expand(v, x.shape))
def copy_(x, v): return inplace(x, to(v, x.dt))
def fill_diagonal_(x, v): k = np.arange(builtins.min(x.d.shape)); setitem(x, (mk(k), mk(k)), v); return x
def softplus(x): return logaddexp(x, zeros_like(x))
def entr(x): raise NotHere("entr")
def multinomial(*a, **k): raise NotHere("multinomial")
def vmap(f, in_dims=0, out_dims=0, **k):
    if k: raise NotHere("vmap options")
    def g(*a):
        ds = [in_dims] * len(a) if not isinstance(in_dims, (tuple, list)) else list(in_dims)
        if builtins.any(d is not None and not isT(x) for x, d in zip(a, ds)): raise NotHere("vmap over what is no tensor")
        n = next(x.d.shape[d] for x, d in zip(a, ds) if d is not None and isT(x))
        outs = [user(f, *[x if d is None else select(x, d, i) for x, d in zip(a, ds)]) for i in range(n)]
        if isinstance(outs[0], tuple): return tuple(stack([o[j] for o in outs], out_dims) for j in range(len(outs[0])))
        return stack(outs, out_dims)
    return g

# --- autograd -------------------------------------------------------------------------------------------------------
class _mode:
    def __init__(self, v): self.v = v
    def __enter__(self): self.old, GRAD[0] = GRAD[0], self.v; return self
    def __exit__(self, *a): GRAD[0] = self.old
    def __call__(self, f):
        @functools.wraps(f)
        def g(*a, **k):
            with _mode(self.v): return f(*a, **k)
        return g
def no_grad(f=None): return _mode(False) if f is None else _mode(False)(f)
def inference_mode(f=None): return _mode(False) if f is None or f is True else _mode(False)(f)
def enable_grad(f=None): return _mode(True) if f is None else _mode(True)(f)
def set_grad_enabled(v): return _mode(v)
def is_grad_enabled(): return GRAD[0]
def grad(outputs, inputs, grad_outputs=None, allow_unused=False, retain_graph=None, create_graph=False, **k):
    if create_graph or k: raise NotHere("autograd.grad with create_graph")
    outs = [outputs] if isT(outputs) else list(outputs); ins = [inputs] if isT(inputs) else list(inputs)
    for o in outs:
        if o.node is None: raise err(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn")
    for o in ins:
        if o.node is None: raise err(RuntimeError, "One of the differentiated Tensors does not require grad")
    gos = [None] * len(outs) if grad_outputs is None else [grad_outputs] if isT(grad_outputs) else list(grad_outputs)
    for o, g in zip(outs, gos):
        if g is None and o.d.size != 1: raise err(RuntimeError, "grad can be implicitly created only for scalar outputs")
    gs = run_backward(outs, [np.ones(o.d.shape, o.d.dtype) if g is None else g.d for o, g in zip(outs, gos)])
    res = []
    for x in ins:
        if x.node not in gs:
            if not allow_unused: raise err(RuntimeError, "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
            res.append(None)
        else: res.append(mk(np.array(gs[x.node]), x.dt))
    return tuple(res)
def jacobian(f, inputs, create_graph=False, **k):
    if create_graph or k: raise NotHere("jacobian options")
    one = isT(inputs); ins = [inputs] if one else list(inputs)
    xs = [mk(x.d.copy(), x.dt).requires_grad_() for x in ins]
    with _mode(True): y = user(f, *xs)
    if not isT(y): raise NotHere("jacobian of several outputs")
    rows = [[] for _ in xs]
    for i in range(y.d.size):
        g = np.zeros(y.d.size, y.d.dtype); g[i] = 1
        gs = run_backward([y], [g.reshape(y.d.shape)]) if y.node is not None else {}
        for r, x in zip(rows, xs): r.append(gs.get(x.node, np.zeros(x.d.shape, x.d.dtype)))
    out = tuple(mk(np.stack(r).reshape(y.d.shape + x.d.shape), x.dt) for r, x in zip(rows, xs))
    return out[0] if one else out

class finfo:
    def __init__(self, d=None):
        i = np.finfo((d or F32).np); self.max, self.min, self.eps, self.tiny, self.smallest_normal, self.bits = float(i.max), float(i.min), float(i.eps), float(i.tiny), float(i.tiny), i.bits
class iinfo:
    def __init__(self, d): i = np.iinfo(d.np); self.max, self.min, self.bits = int(i.max), int(i.min), i.bits
KNOWN_T = set()
