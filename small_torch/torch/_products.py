"""Products of matrices, and einsum."""
import builtins
import math
import re

import numpy as np

from torch._dtypes import B, packed
from torch._base import OPS, OTHERWISE, error, make, need, NotHere, op, Tensor
from torch._arguments import all_tensors, axis_of, broadcast, spoken, summed_to, type_of


def of_one_dtype(one, other, batches):
    if one.dtype is not other.dtype:
        if batches:
            raise error(RuntimeError, f"expected scalar type {one.dtype.short} but found {other.dtype.short}")
        raise error(RuntimeError, f"expected m1 and m2 to have the same dtype, but got: {spoken(one.dtype)} != "
                    f"{spoken(other.dtype)}")


def shown(shape):
    return "x".join(map(str, shape))


def folded(input, other):
    """Whether torch multiplies all rows of a batch by one matrix at once."""
    shape, strides = input.array.shape, input.array.strides
    return other.requires_grad or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def check_sizes(input, other):
    """What torch says where the sizes of a product do not meet, or the dtypes differ."""
    one, two = input.array.shape, other.array.shape
    if not one or not two:
        raise error(RuntimeError, "both arguments to matmul need to be at least 1D, but they are "
                    f"{len(one)}D and {len(two)}D")
    if len(one) == len(two) == 1:
        if input.dtype is not other.dtype:
            raise error(RuntimeError, "dot : expected both vectors to have same dtype, but found "
                        f"{input.dtype.short} and {other.dtype.short}")
        if one != two:
            raise error(RuntimeError, f"inconsistent tensor size, expected tensor [{one[0]}] and src [{two[0]}] to "
                        f"have the same number of elements, but got {one[0]} and {two[0]} elements respectively")
        return
    inner = two[0] if len(two) == 1 else two[-2]
    if one[-1] == inner:
        batch = broadcast(one[:-2], two[:-2]) if len(one) > 2 and len(two) > 2 else ()
        if batch and 0 in (*one, *two):
            return
        if len(two) == 1 and input.dtype is not other.dtype:
            raise error(RuntimeError, f"addmv input tensors must have the same dtype, but got {other.dtype.short}, "
                        f"{input.dtype.short}, and {other.dtype.short}")
        if input.dtype is not other.dtype and len(one) > 2 >= len(two) and 1 in one:
            raise NotHere("a product of two dtypes, with axes of size 1")
        return of_one_dtype(input, other, len(two) > 2 or len(one) > 2 and not folded(input, other))
    rows = math.prod(one[:-1])
    if len(one) <= 2 and len(two) <= 2 or len(two) <= 2 and folded(input, other):
        if len(two) == 1:
            raise error(RuntimeError, f"size mismatch, got input ({rows}), mat ({rows}x{one[-1]}), vec ({inner})")
        raise error(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{one[-1]} and {shown(two)})")
    if len(one) == 1 or len(two) == 1 or len(one) == 2 and folded(other.mT, input):
        raise NotHere("a product of a matrix and a batch whose sizes do not meet")
    count = math.prod(broadcast(one[:-2], two[:-2]))
    raise error(RuntimeError, f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {one[-1]}] "
                f"but got: [{count}, {inner}].")


@op
def matmul(input, other):
    need(other, "matmul")
    check_sizes(input, other)
    if input.dtype is B:
        if input.ndim == 2 and other.ndim == 2:
            raise error(NotImplementedError, "\"addmm_impl_cpu_\" not implemented for 'Bool'")
        raise NotHere("a product of booleans")
    x, y = input.array, other.array
    left, right = x if x.ndim > 1 else x[None], y if y.ndim > 1 else y[:, None]

    def whole(gradient):
        gradient = gradient[..., None] if y.ndim == 1 else gradient
        return np.expand_dims(gradient, -2) if x.ndim == 1 else gradient

    def back_x(gradient):
        return summed_to(whole(gradient) @ np.conj(right.swapaxes(-1, -2)), left.shape).reshape(x.shape)

    def back_y(gradient):
        return summed_to(np.conj(left.swapaxes(-1, -2)) @ whole(gradient), right.shape).reshape(y.shape)

    saves = [*([other] if input.requires_grad else []), *([input] if other.requires_grad else [])]
    with np.errstate(all="ignore"):
        product = x[..., ::-1] @ (y[..., ::-1, :] if y.ndim > 1 else y[::-1]) if OTHERWISE[0] else x @ y
        return make(packed(product), input.dtype,
                    [(input, back_x), (other, back_y)], saves)


@op
def mm(input, mat2):
    if need(input, "mm").ndim != 2:
        raise error(RuntimeError, "self must be a matrix")
    if need(mat2, "mm").ndim != 2:
        raise error(RuntimeError, "mat2 must be a matrix")
    return matmul(input, mat2)


@op
def bmm(input, mat2):
    one, two = input.array.shape, mat2.array.shape
    if len(one) != 3:
        raise error(RuntimeError, "batch1 must be a 3D tensor")
    if len(two) != 3:
        raise error(RuntimeError, "batch2 must be a 3D tensor")
    if one[0] != two[0] or one[2] != two[1]:
        raise error(RuntimeError, "Expected size for first two dimensions of batch2 tensor to be: "
                    f"[{one[0]}, {one[2]}] but got: [{two[0]}, {two[1]}].")
    if input.dtype is not mat2.dtype:
        raise NotHere("bmm of two dtypes")
    return matmul(input, mat2)


@op
def dot(input, tensor):
    if input.ndim != 1 or tensor.ndim != 1:
        raise error(RuntimeError, f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    return matmul(input, tensor)


@op
def mv(input, vec):
    if input.ndim != 2 or vec.ndim != 1:
        raise error(RuntimeError, f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    return matmul(input, vec)


@op
def outer(input, vec2):
    for value, argument in ((input, "self"), (vec2, "vec2")):
        if value.ndim != 1:
            raise error(RuntimeError, f"outer: Expected 1-D argument {argument}, but got {value.ndim}-D")
    return OPS["mul"](OPS["unsqueeze"](input, 1), vec2)


@op
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    if beta != 1 or alpha != 1 or mat1.ndim != 2 or mat2.ndim != 2 or input.dtype is not mat1.dtype:
        raise NotHere("addmm with these arguments")
    return OPS["contiguous"](OPS["add"](input, matmul(mat1, mat2)))


@op
def trace(input):
    if need(input, "trace").ndim != 2:
        raise error(RuntimeError, f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return OPS["sum"](OPS["diagonal"](input))


@op
def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        of_a, of_b = list(range(-dims, 0)), list(range(dims))
    else:
        of_a, of_b = ([dim] if isinstance(dim, int) else list(dim) for dim in dims)
    given = of_a, of_b
    of_a, of_b = [axis_of(d, a.ndim) for d in of_a], [axis_of(d, b.ndim) for d in of_b]
    kept_a, kept_b = ([i for i in range(t.ndim) if i not in dims] for t, dims in ((a, of_a), (b, of_b)))
    for i, j, of_i, of_j in zip(of_a, of_b, *given):
        if a.shape[i] != b.shape[j] and 1 in (a.shape[i], b.shape[j]):
            raise NotHere("tensordot over an axis of size 1")
        if a.shape[i] != b.shape[j]:
            raise error(RuntimeError, f"contracted dimensions need to match, but first has size {a.shape[i]} in dim "
                        f"{of_i} and second has size {b.shape[j]} in dim {of_j}")
    inner = math.prod(a.shape[i] for i in of_a)
    left = OPS["reshape"](OPS["permute"](a, (*kept_a, *of_a)), (-1, inner))
    right = OPS["reshape"](OPS["permute"](b, (*of_b, *kept_b)), (inner, -1))
    shape = [a.shape[i] for i in kept_a] + [b.shape[i] for i in kept_b]
    return OPS["reshape"](matmul(left, right), shape)


@op
def kron(input, other):
    if not (input.array.flags.c_contiguous and other.array.flags.c_contiguous):
        raise NotHere("kron of what does not lie in one piece")
    ndim = builtins.max(input.ndim, other.ndim)
    one, two = ((1,) * (ndim - t.ndim) + t.shape for t in (input, other))
    left = OPS["reshape"](input, [n for size in one for n in (size, 1)])
    right = OPS["reshape"](other, [n for size in two for n in (1, size)])
    return OPS["reshape"](OPS["mul"](left, right), [a * b for a, b in zip(one, two)])


@op
def einsum(*operands):
    equation, *operands = operands or ("",)
    operands = tuple(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    if not operands:
        raise error(ValueError, "einsum(): must specify the equation string and at least one operand, or at least one "
                    "operand and its subscripts list")
    if isinstance(equation, Tensor):
        raise NotHere("einsum with lists of subscripts")
    if not isinstance(equation, str):
        raise error(TypeError, f"einsum(): argument 'equation' (position 1) must be str, not {type_of(equation)}")
    all_tensors(operands, 1)
    if re.search(r"(?<!\.)\.{1,2}(?!\.)", equation) or not re.fullmatch(r"[a-zA-Z., ]*(->[a-zA-Z. ]*)?", equation):
        raise NotHere("einsum of this equation")
    terms, rest, spare = subscripts(equation.replace(" ", ""), operands)
    sizes = sizes_of_letters(terms, operands, spare)
    for letter in rest:
        if letter not in sizes:
            raise error(RuntimeError, f"einsum(): output subscript {letter} does not appear in the equation for any "
                        "input operand")
        if rest.count(letter) > 1:
            raise error(RuntimeError, f"einsum(): output subscript {letter} appears more than once in the output")
    if operands[0].dtype is B:
        raise NotHere("einsum of booleans")
    letters = rest + "".join(sorted(set("".join(terms)) - set(rest)))
    laid = [laid_out(operand, term, letters) for operand, term in zip(operands, terms)]
    count, result = len(rest), laid[0]
    for i, other in enumerate(laid[1:], 1):
        later = "".join(terms[i + 1:])
        result = contracted(result, other, [k for k in range(count, len(letters)) if letters[k] not in later])
    if len(letters) == count:
        return result
    return OPS["sum"](result, list(range(count, len(letters)))) if len(laid) == 1 else OPS["reshape"](
        result, result.shape[:count]) if not result.array.size else OPS["squeeze"](
        result, tuple(range(count, len(letters))))


def laid_out(operand, term, letters):
    """An operand with an axis for each letter, in their order; of size 1 for those that it has not."""
    for letter in set(term):
        while term.count(letter) > 1:
            i, j = term.index(letter), term.rindex(letter)
            operand = OPS["diagonal"](operand, 0, i, j)             # its axis comes last
            term = term[:i] + term[i + 1:j] + term[j + 1:] + letter
    absent = [letter for letter in letters if letter not in term]
    operand = operand[(..., *[None] * len(absent))]
    term += "".join(absent)
    return OPS["permute"](operand, [term.index(letter) for letter in letters])


def contracted(left, right, summed):
    """The product of two operands, summed over these axes, which stay with size 1: torch's way, for its strides."""
    both = [k for k in summed if left.shape[k] != 1 and right.shape[k] != 1]
    for_left = [k for k in summed if k not in both and left.shape[k] != 1]
    for_right = [k for k in summed if k not in both and right.shape[k] != 1]
    left = OPS["sum"](left, for_left, True) if for_left else left
    right = OPS["sum"](right, for_right, True) if for_right else right
    if not both:
        return OPS["mul"](left, right)
    axes = [k for k in range(left.ndim) if k not in both]
    batch = [k for k in axes if left.shape[k] != 1 and right.shape[k] != 1]
    rows = [k for k in axes if left.shape[k] != 1 and k not in batch]
    columns = [k for k in axes if k not in rows and k not in batch]

    def sizes(tensor, *groups):
        return [math.prod(tensor.shape[k] for k in group) for group in groups]
    one = OPS["reshape"](OPS["permute"](left, batch + rows + both + columns), sizes(left, batch, rows, both))
    two = OPS["reshape"](OPS["permute"](right, batch + both + columns + rows), sizes(right, batch, both, columns))
    shape = [*(left.shape[k] for k in batch + rows), *[1] * len(both), *(right.shape[k] for k in columns)]
    order = batch + rows + both + columns
    return OPS["permute"](OPS["view"](matmul(one, two), shape), [order.index(k) for k in range(len(order))])


def subscripts(equation, operands):
    """(the letters of each operand, those of the result, those that stand for an ellipsis)."""
    before, arrow, rest = equation.partition("->")
    terms = before.split(",")
    if len(terms) != len(operands):
        raise error(RuntimeError, f"einsum(): {'fewer' if len(operands) < len(terms) else 'more'} operands were "
                    "provided than specified in the equation")
    extra = []
    for k, (term, operand) in enumerate(zip(terms, operands)):
        count = len(term.replace("...", ""))
        if "..." not in term and count != operand.ndim or count > operand.ndim:
            if "..." in term:
                raise NotHere("einsum with an ellipsis of less than nothing")
            raise error(RuntimeError, f"einsum(): the number of subscripts in the equation ({count}) does not match "
                        f"the number of dimensions ({operand.ndim}) for operand {k} and no ellipsis was given")
        extra.append(operand.ndim - count)
    spare = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in equation][:builtins.max(extra)]
    terms = [term.replace("...", "".join(spare[len(spare) - more:])) for term, more in zip(terms, extra)]
    if arrow:
        return terms, rest.replace("...", "".join(spare)), spare
    letters = "".join(terms)
    once = sorted(letter for letter in set(letters) if letters.count(letter) == 1 and letter not in spare)
    return terms, "".join(spare) + "".join(once), spare


def sizes_of_letters(terms, operands, spare):
    sizes = {}
    for k, (term, operand) in enumerate(zip(terms, operands)):
        for letter, size in zip(term, operand.shape):
            seen = sizes.get(letter, 1)
            if seen != size and 1 not in (seen, size):
                if letter in spare:
                    raise NotHere("einsum over an ellipsis that does not broadcast")
                raise error(RuntimeError, f"einsum(): subscript {letter} has size {size} for operand {k} which does "
                            f"not broadcast with previously seen size {seen}")
            sizes[letter] = size if seen == 1 else seen
    return sizes
