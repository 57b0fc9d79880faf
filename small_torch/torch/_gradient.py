"""Gradients: the way back through what was recorded, in-place steps, and functions with a gradient of their own."""
import functools

import numpy as np

from torch._dtypes import BF16, F16, FLOAT, rounded
from torch._base import GRAD, OPS, error, make, Node, NotHere, op, Tensor, user
from torch._arguments import broadcast, summed_to


class Mode:
    """Whether what is computed is recorded: for a `with`, or for each call of a function."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.before, GRAD[0] = GRAD[0], self.mode
        return self

    def __exit__(self, *failure):
        GRAD[0] = self.before

    def __call__(self, function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            with Mode(self.mode):
                return function(*args, **kwargs)
        return called


def no_grad(function=None):
    return Mode(False)(function) if callable(function) else Mode(False)


def enable_grad(function=None):
    return Mode(True)(function) if callable(function) else Mode(True)


def inference_mode(mode=True):
    if mode is False:
        raise NotHere("inference_mode(False)")
    return Mode(False)(mode) if callable(mode) else Mode(False)


def is_grad_enabled():
    return GRAD[0]


# --- The way back ----------------------------------------------------------------------------------------------------

def in_order(nodes):
    """Every node below these, each after all that it was computed from."""
    order, seen = [], set()
    for first in nodes:
        stack = [(first, iter(first.parents))] if id(first) not in seen else []
        seen.add(id(first))
        while stack:
            node, parents = stack[-1]
            below = next((parent for parent, _ in parents if id(parent) not in seen), None)
            if below is None:
                order.append(stack.pop()[0])
            else:
                seen.add(id(below))
                stack.append((below, iter(below.parents)))
    return order


def gradients(outputs, given):
    """Node -> gradient, of every node below the outputs."""
    found = {}
    for output, gradient in zip(outputs, given):
        found[output.node] = found.get(output.node, 0) + gradient
    with np.errstate(all="ignore"):
        for node in reversed(in_order([output.node for output in outputs])):
            if node not in found or node.leaf is not None:
                continue
            if any(storage.version != version for storage, version in node.saved):
                raise NotHere("the gradient of what was changed in place")
            for parent, back in node.parents:
                gradient = fitted(np.asarray(back(found[node])), parent)
                found[parent] = found[parent] + gradient if parent in found else gradient
    return found


def fitted(gradient, node):
    """In the shape and the dtype of what it is a gradient of."""
    if node.dtype.rank == FLOAT and gradient.dtype.kind == "c":
        gradient = gradient.real
    gradient = gradient.astype(node.dtype.numpy, copy=False)
    if gradient.shape != node.shape:
        gradient = summed_to(np.broadcast_to(gradient, np.broadcast_shapes(gradient.shape, node.shape)), node.shape)
    return rounded(gradient, node.dtype) if node.dtype in (F16, BF16) else gradient


def ones_for(outputs, given):
    for output, gradient in zip(outputs, given):
        if output.node is None:
            raise error(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn")
        if gradient is None and output.array.size != 1:
            raise error(RuntimeError, "grad can be implicitly created only for scalar outputs")
        if gradient is not None and gradient.shape != output.shape:
            raise NotHere("a gradient of another shape")
    return [np.ones(output.array.shape, output.array.dtype) if gradient is None else gradient.array
            for output, gradient in zip(outputs, given)]


def listed(value):
    return [value] if isinstance(value, Tensor) or value is None else list(value)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None):
    if create_graph:
        raise NotHere("autograd.grad with create_graph")
    outputs, inputs = listed(outputs), listed(inputs)
    given = [None] * len(outputs) if grad_outputs is None else listed(grad_outputs)
    given = ones_for(outputs, given)
    if any(tensor.node is None for tensor in inputs):
        raise error(RuntimeError, "One of the differentiated Tensors does not require grad")
    found = gradients(outputs, given)
    for i, tensor in enumerate(inputs):
        if not allow_unused and tensor.node not in found:
            raise error(RuntimeError, f"The differentiated Tensor at index {i} appears to not have been used in the "
                        "graph. Set allow_unused=True if this is the desired behavior.")
    spent(outputs, retain_graph)
    return tuple(gradient_of(found[tensor.node], tensor) if tensor.node in found else None for tensor in inputs)


def gradient_of(array, tensor):
    gradient = make(np.array(array), tensor.dtype)
    gradient.is_gradient = True
    return gradient


def spent(outputs, retain_graph):
    """Without retain_graph, the numbers that were saved are gone: another way back through them is not known here."""
    if not retain_graph:
        for node in in_order([output.node for output in outputs]):
            if node.leaf is None:
                node.parents = [(parent, gone) for parent, _ in node.parents]


def gone(gradient):
    raise NotHere("a second way back through the same graph")


def backward(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    if create_graph or inputs is not None:
        raise NotHere("backward with these options")
    for node, found in gradients([tensor], ones_for([tensor], [gradient])).items():
        if node.leaf is not None:
            found, before = np.array(found), node.leaf.grad
            node.leaf.grad = gradient_of(found if before is None else before.array + found, node)
    spent([tensor], retain_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    if create_graph or strict or vectorize or strategy != "reverse-mode":
        raise NotHere("jacobian with these options")
    single = isinstance(inputs, Tensor)
    fresh = [tensor.detach().clone().requires_grad_() for tensor in ([inputs] if single else inputs)]
    with Mode(True):
        output = user(func, *fresh)
    if not isinstance(output, Tensor):
        raise NotHere("the jacobian of several outputs")
    rows = [[] for _ in fresh]
    for place in np.ndindex(output.array.shape):
        unit = np.zeros(output.array.shape, output.array.dtype)
        unit[place] = 1
        found = gradients([output], [unit]) if output.node is not None else {}
        for row, tensor in zip(rows, fresh):
            row.append(found.get(tensor.node, np.zeros_like(tensor.array)))
    made = tuple(make(np.reshape(row, output.array.shape + tensor.array.shape), tensor.dtype)
                 for row, tensor in zip(rows, fresh))
    return made[0] if single else made


# --- In place --------------------------------------------------------------------------------------------------------

def write(tensor, new):
    """The numbers of a tensor become those of another, as each in-place step does. Returns the tensor."""
    met = broadcast(new.array.shape, tensor.array.shape)
    if met != tensor.array.shape:
        raise error(RuntimeError, f"output with shape {list(tensor.array.shape)} doesn't match the broadcast shape "
                    f"{list(met)}")
    if new.dtype.rank > tensor.dtype.rank:
        raise error(RuntimeError, f"result type {new.dtype.short} can't be cast to the desired output type "
                    f"{tensor.dtype.short}")
    steps = zip(tensor.array.strides, tensor.array.shape)
    if tensor.array.size and any(step == 0 and size > 1 for step, size in steps):
        raise error(RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a "
                    "single memory location. Please clone() the tensor before performing the operation.")
    refuse_leaf(tensor)
    recorded = GRAD[0] and tensor.dtype.rank >= FLOAT and (tensor.node is not None or new.node is not None)
    if recorded and tensor.of is not None and tensor.of.many:
        raise NotHere("an in-place step on one of several views, with gradients")
    before, after, dtype = tensor.node, new.node, new.array.dtype
    base = tensor.of and tensor.of.base
    below = base.node if base is not None else None
    tensor.array[...] = make(new.array, tensor.dtype).array
    tensor.storage.version += 1
    if not recorded:
        tensor.written = before if base is None else None
        return tensor
    shape = new.array.shape
    if base is None:
        tensor.node = Node([(after, lambda g: summed_to(g.astype(dtype), shape))] if after else [], tensor.array.shape,
                           tensor.dtype) if after else None
        return tensor
    read = tensor.of.read

    def kept(gradient):
        gradient = gradient.copy()
        read(gradient)[...] = 0
        return gradient

    parents = [(below, kept)] if below else []
    if after:
        parents.append((after, lambda g: summed_to(np.array(read(g)), shape)))
    base.node = Node(parents, base.array.shape, base.dtype) if parents else None
    return tensor


def refuse_leaf(tensor):
    if GRAD[0] and tensor.node is not None:
        if tensor.node.leaf is tensor:
            raise error(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.")
        if tensor.of is not None and tensor.of.base.node is not None and tensor.of.base.node.leaf is not None:
            raise error(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place "
                        "operation.")


# --- Functions with a gradient of their own, and over a batch --------------------------------------------------------

class Context:
    saved_tensors = ()

    def set_materialize_grads(self, value):
        """Gradients that nobody needs are zeros here, whatever is asked for."""

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def __getattr__(self, name):
        if name in ("mark_dirty", "mark_non_differentiable"):
            raise NotHere(f"ctx.{name}")
        raise AttributeError(name)


class Function:
    """torch.autograd.Function: static forward(ctx, ...) and backward(ctx, ...)."""

    @classmethod
    def apply(cls, *args):
        context = Context()
        context.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        with Mode(False):
            made = user(cls.forward, context, *args)
        outputs = made if isinstance(made, tuple) else (made,)
        if not all(isinstance(output, Tensor) for output in outputs):
            raise NotHere("a Function that gives more than tensors")
        tensors = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        if any(output.storage is arg.storage for output in outputs for _, arg in tensors):
            raise NotHere("a Function that gives a view of what it got")
        ends = np.cumsum([0] + [output.array.size for output in outputs])
        known = {}

        def backward_of(i):
            def back(gradient):
                if "all" not in known:
                    parts = [make(gradient[start:end].reshape(output.array.shape), output.dtype)
                             for output, start, end in zip(outputs, ends, ends[1:])]
                    with Mode(False):
                        found = user(cls.backward, context, *parts)
                    known["all"] = found if isinstance(found, tuple) else (found,)
                found = known["all"][i]
                return np.zeros_like(args[i].array) if found is None else found.array
            return back

        def place_of(start, end):
            def back(gradient):
                whole = np.zeros(ends[-1], gradient.dtype)
                whole[start:end] = gradient.reshape(-1)
                return whole
            return back

        joint = make(np.zeros(ends[-1], outputs[0].array.dtype), outputs[0].dtype,
                     [(arg, backward_of(i)) for i, arg in tensors])
        results = tuple(make(output.array, output.dtype, [(joint, place_of(start, end))])
                        for output, start, end in zip(outputs, ends, ends[1:]))
        return results if isinstance(made, tuple) else results[0]


def vmap(func, in_dims=0, out_dims=0):
    """One call after the other, stacked."""
    def mapped(*args):
        dims = list(in_dims) if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        if any(dim is not None and not isinstance(arg, Tensor) for arg, dim in zip(args, dims)):
            raise NotHere("vmap over what is no tensor")
        counts = {arg.shape[dim] for arg, dim in zip(args, dims) if dim is not None}
        if len(counts) != 1 or len(dims) != len(args):
            raise NotHere("vmap over these sizes")
        outputs = [user(func, *[arg if dim is None else arg.select(dim, i) for arg, dim in zip(args, dims)])
                   for i in range(counts.pop())]
        if not outputs:
            raise NotHere("vmap over nothing")
        if isinstance(outputs[0], tuple):
            return tuple(OPS["stack"]([output[j] for output in outputs], out_dims) for j in range(len(outputs[0])))
        return OPS["stack"](outputs, out_dims)
    return op(mapped, "vmap of a function")


for name, function in {"backward": backward, "autograd.grad": grad, "autograd.functional.jacobian": jacobian}.items():
    op(function, name)
