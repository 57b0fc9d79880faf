"""Which two tensors did not fit, told as the learner wrote them and by their shapes in that very place.

Python tells from 3.11 on at which part of a line something was raised. That part is computed again, as far as it only
reads: names, indices, methods that change nothing.
"""
import ast
import linecache

import torch

from mha.exercises.engine.calls import Caught

HARMLESS = (ast.Name, ast.Load, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Call,
            ast.keyword, ast.BinOp, ast.UnaryOp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop)
ENTRYWISE = ast.Add, ast.Sub, ast.Mult, ast.Div
LONG = 60


def operands(frame, where):
    """(the kind of operation, what its two sides are called, the two tensors) of what was raised in; None where it is
    no operation of two tensors.

    Args:
        frame, where: the frame and the entry of the traceback in which it was raised.
    """
    part = operation(frame, where)
    if part is None:
        return None
    kind = ast.Mult() if isinstance(part, ast.Call) else part.op
    sides = ([part.target, part.value] if isinstance(part, ast.AugAssign) else [part.left, part.right]
             if isinstance(part, ast.BinOp) else [part.func.value, part.args[0]])
    names, tensors = [ast.unparse(side) for side in sides], [value(frame, side) for side in sides]
    return (kind, names, tensors) if all(isinstance(tensor, torch.Tensor) for tensor in tensors) else None


def clash(frame, where):
    """A sentence on the two operands of a sum, a product or `@` whose sizes do not fit; else None."""
    op, names, tensors = operands(frame, where) or (None, [], [])
    shapes = [tuple(tensor.shape) for tensor in tensors]
    if any(len(name) > LONG for name in names):
        return None
    if isinstance(op, ast.MatMult):
        return by_matrices(names, shapes)
    return entry_by_entry(names, shapes) if isinstance(op, ENTRYWISE) else None


def entry_by_entry(names, shapes):
    axis, a, b = unmatched(*shapes)
    return axis and (f"{have(names, shapes)} Axes are matched from the back, and at axis {axis} the sizes {a} and {b} "
                     "meet: they must be equal, or one of them 1.")


def by_matrices(names, shapes):
    left, right = shapes
    if min(len(left), len(right)) < 2:
        return None
    if left[-1] != right[-2]:
        return (f"{have(names, shapes)} In a product @ the last size of the first, {left[-1]}, must be the last but "
                f"one of the second, {right[-2]}.")
    axis, a, b = unmatched(left[:-2], right[:-2])
    return axis and (f"{have(names, shapes)} In a product @ the axes in front of the last two are matched from the "
                     f"back, and at axis {axis - 2} the sizes {a} and {b} meet: they must be equal, or one of them 1.")


def have(names, shapes):
    return f"`{names[0]}` has shape {shapes[0]} and `{names[1]}` has shape {shapes[1]}."


def unmatched(one, other):
    """(axis counted from the back, size, size) of the first two sizes that do not fit; None for each where all do."""
    return next(((-i, a, b) for i, (a, b) in enumerate(zip(one[::-1], other[::-1]), 1) if a != b and 1 not in (a, b)),
                (None, None, None))


def operation(frame, where):
    """The syntax of what was raised in, where that is an operation with two sides, or masked_fill; else None."""
    if not hasattr(frame.f_code, "co_positions"):
        return None
    line, last, start, end = list(frame.f_code.co_positions())[where.tb_lasti // 2]
    if None in (line, last, start, end):
        return None
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(line, last + 1)]
    lines[-1] = lines[-1][:end]                                  # the end first: start and end may stand in one line
    lines[0] = lines[0][start:]
    source = b"".join(lines).strip()
    part = parsed(b"(%s)" % source) or parsed(source)            # an expression, over lines or not; or a statement
    part = part.value if isinstance(part, ast.Expr) else part
    fills = isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "masked_fill"
    return part if isinstance(part, (ast.BinOp, ast.AugAssign)) or fills and part.args else None


def parsed(source):
    with Caught():
        return ast.parse(source).body[0]
    return None


def value(frame, side):
    """What one side is; None where computing it again might change something, or cannot be done."""
    if not all(isinstance(node, HARMLESS) and not changes(node) for node in ast.walk(side)):
        return None
    if hasattr(side, "ctx"):
        side = ast.parse(ast.unparse(side), mode="eval").body    # a target is read here, not written
    with Caught():
        return eval(compile(ast.Expression(side), "<a side>", "eval"), frame.f_globals, frame.f_locals)
    return None


def changes(node):
    """Whether a call may change something: any but a method without an underscore at its end."""
    return isinstance(node, ast.Call) and (not isinstance(node.func, ast.Attribute) or node.func.attr.endswith("_"))
