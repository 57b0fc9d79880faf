"""What an exception means, in words, and where in the learner's own code it arose."""
import functools
import linecache
import math
import re
import sysconfig
from pathlib import Path

import torch

from mha.exercises.engine.operands import clash, operands, unmatched
from mha.exercises.engine.report import Mistake

FIXED_AXES = Mistake("fixed-number-of-axes",
                     "It counts on a fixed number of axes, and a tensor here has another. Known are the last ones "
                     "only: x.shape[-1] is the last size however many axes stand in front, and @ takes any number of "
                     "them, where mm and bmm take two and three.")
COMPARE = ("Take the shapes below as the line itself changes them (.mT, transpose, indices), and see from which axis "
           "each size was taken.")
TURNED_BATCH = Mistake("T-of-a-batch",
                       "The line uses .T, which reverses all axes: with a batch in front, the batch as well. .mT and "
                       "transpose(-2, -1) exchange the last two only.")
MEANINGS = [  # what the exception says -> what that means
    (r"view size is not compatible", Mistake("view-after-transpose",
                                             "view wants numbers that lie side by side in memory, and after a "
                                             "transpose they do not. reshape copies where it must.")),
    (r"argument 'input' .*must be Tensor, not (int|float)",
     Mistake("torch-function-of-a-number",
             "A function of torch wants a tensor and got a plain number. For a number there is math.sqrt, or ** "
             "0.5.")),
    (r"only one element tensors|elements cannot be converted to Scalar|only length-1|only 0-dimensional",
     Mistake("number-function-of-a-tensor",
             "A function for a single number got a whole tensor. Those of torch, such as torch.exp, work on all "
             "numbers at once.")),
    (r"return_types", Mistake("max-gives-a-pair",
                              "Along an axis, max returns two tensors, the values and their places. Take .values, or "
                              "call amax.")),
    (r"too many indices|Expected 1-D argument|number of subscripts in the equation|expects a tensor with", FIXED_AXES),
    (r"values to unpack", Mistake("unpacked",
                                  "Something is taken apart into more or fewer names than it has parts. How many parts "
                                  "has it here?")),
    (r"must be a matrix|must be a 3D tensor|1D tensors expected|2D tensors expected|permute\(sparse_coo\)|number of "
     r"dimensions in the tensor input", FIXED_AXES),
    (r"index .*out of (bounds|range)", Mistake("index-out-of-range",
                                               "An index points past the last place (of n things, counted from 0, the "
                                               "last has the number n - 1). Which of the two is not what you think: "
                                               "the index, or how many things there are?")),
    (r"Dimension out of range", Mistake("axis-out-of-range",
                                        "An axis is asked for that this input does not have. Counted from the back, "
                                        "-1 is the last axis however many stand in front.")),
    (r"~ \(operator.invert\)|bitwise_not", Mistake("mask-not-boolean",
                                                   "~ turns yes and no over, and this mask is made of floats. Compare "
                                                   "it first (mask == 0), or make it with dtype=torch.bool.")),
    (r"float' object cannot be interpreted|type float at pos|must be tuple of ints",
     Mistake("float-size", "A size must be a whole number, and / gives a float: take //.")),
    (r"math domain error", Mistake("math-domain",
                                   "A function of math got a number for which it is not defined, such as log(0).")),
    (r"shapes cannot be multiplied|contracted dimensions need to match|Expected size for first two "
     r"dimensions|einsum\(\): operands do not broadcast",
     Mistake("shapes-do-not-meet",
             "Two sizes that are multiplied and summed over differ: in A @ B, the last size of A must be the last but "
             f"one of B. {COMPARE}")),
    (r"invalid for input of size", Mistake("sizes-do-not-multiply",
                                           "A reshape keeps every number, so the sizes asked for must multiply to as "
                                           "many as there are. A size that is written as a number, or taken from "
                                           "another tensor, fits some inputs only.")),
    (r"must match the size of tensor", Mistake("sizes-differ",
                                               "Two tensors meet whose sizes differ. Entry by entry (as in +, *, "
                                               "masked_fill or where) sizes must be equal, or 1, axis by axis from the "
                                               "back; in A @ B this holds for the axes in front of the last two. "
                                               f"{COMPARE}")),
    (r"same dtype|same scalar type|expected scalar type|can't be cast|(Double|Float|Half|Long|Int|Bool) did not match",
     Mistake("dtype",
             "Tensors of different dtypes meet. What torch.zeros, torch.ones or torch.eye makes is float32: for an "
             "input x, give it dtype=x.dtype.")),
    (r"not implemented for", Mistake("not-for-this-dtype",
                                     "torch cannot compute this for numbers of that dtype. Whole numbers (Long) and "
                                     "yes and no (Bool) become floats with .double().")),
    (r"int too large to convert", Mistake("integer-past-float",
                                          "A whole number does not fit into a float, which ends near 10^308. Python's "
                                          "whole numbers have no end as long as they meet no float.")),
    (r"int too big to convert|Overflow when unpacking", Mistake("integer-past-tensor",
                                                                "A whole number does not fit into a tensor, whose "
                                                                "whole numbers end at 2^63. Python's have no end as "
                                                                "long as they meet no tensor.")),
    (r"Overflow|math range error", Mistake("past-float",
                                           "A number became too large for a float, which ends near 10^308.")),
    (r"ZeroDivisionError", Mistake("division-by-zero", "Something that is divided by is 0 for this input.")),
    (r"NameError|UnboundLocalError", Mistake("name",
                                             "A name is used that nothing has been given to on this path. Inside the "
                                             "function there are its arguments, and what it makes itself.")),
    (r"RecursionError", Mistake("recursion",
                                "It calls itself without end, directly or through another function. Which call should "
                                "be the last?")),
    (r"\.numel\(\) == 0|non-zero size|empty sequence|iterable argument is empty",
     Mistake("empty",
             "The largest or least of no numbers at all is asked for. A slice is empty where there is nothing before "
             "the first or behind the last, as in x[:0].")),
    (r"AttributeError", Mistake("attribute",
                                "Something is asked for a method or attribute that its kind does not have.")),
    (r"AssertionError", Mistake("assertion", "An assert of your own does not hold for this input.")),
]
NO_DEVICE = Mistake("no-device",
                    "It asks for a device that torch does not have here. For an input x, x.device says where x is, and "
                    "device=x.device makes a new tensor there.")
DEVICES_MEET = Mistake("other-device",
                       "Tensors on different devices meet. The inputs are on the CPU; for an input x, x.device says "
                       "where it is, and device=x.device makes a new tensor there.")
INSIDE = Mistake("inside-a-library",
                 "It was raised inside a library, which did not accept what it was called with. Its message says why.")
DEVICES = [  # the same, whoever raised it
    (r"not compiled with CUDA|No CUDA GPUs|NVIDIA driver|not linked with support for|MPS backend|Expected one of cpu, ",
     NO_DEVICE),
    (r"same device|on the expected device", DEVICES_MEET),
    (r"meta tensor", Mistake("other-device",
                             "A tensor on the device meta has a shape and no numbers, so none can be read.")),
]
LIBRARIES = [Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "purelib", "platlib")]
LIBRARIES += [Path(__file__).resolve().parents[2], Path(torch.__file__).resolve().parent]


def meaning(failure):
    """What an exception means: its Mistake, or None."""
    if in_what_is_given(failure):
        return Mistake("inside-what-is-given",
                       "It was raised inside the function that you were given: it was called with something that it "
                       "does not take. What does the statement allow?")
    text, line = f"{type(failure).__name__}: {failure}", last_line(failure)
    device = next((mistake for sign, mistake in DEVICES if re.search(sign, text)), None)
    if device or isinstance(failure, AssertionError) and not is_own(every_frame(failure)[-1][0].f_code.co_filename):
        return device or INSIDE
    if turns_a_batch(failure, line) and ("must match" in text or "multiplied" in text or "Expected size" in text):
        return TURNED_BATCH
    if "values to unpack" in text and re.search(r"\.shape|\.size\(\)", line):
        return FIXED_AXES
    lost = lost_axis(failure, line)
    if lost:
        return Mistake("keepdim",
                       f"{lost} An axis of size 1 is stretched along the other. Ask where it is needed: unsqueeze puts "
                       "one at any place, keepdim=True leaves one at the place that was summed over.")
    exact = clash(*frames(failure)[-1]) if line else None
    if exact:
        return Mistake("shapes-do-not-meet" if "In a product" in exact else "sizes-differ", exact)
    if "must match the size of tensor" in text and re.search(r"@|matmul", line):
        if re.search(r"[*+]|masked_fill|where| - | / ", line):           # which one it was, the exception does not say
            return Mistake("sizes-differ",
                           "Two tensors meet and their sizes differ. Entry by entry (as in +, *, / or masked_fill) all "
                           "axes must be equal or 1, counted from the back; in A @ B this holds for the axes in front "
                           f"of the last two. {COMPARE}")
        return Mistake("batch-axes-differ",
                       "In A @ B the last two axes of each are multiplied; the axes in front of them are matched one "
                       f"by one, and must be equal or 1. Here they differ. {COMPARE}")
    sizes = re.search(r"shape '\[([\d, ]+)\]' is invalid for input of size (\d+)", text)
    if sizes:
        asked = math.prod(map(int, sizes[1].split(",")))
        return Mistake("sizes-do-not-multiply",
                       f"The sizes asked for, {sizes[1].replace(', ', ' times ')}, multiply to {asked}, and there are "
                       f"{sizes[2]} numbers. Compare with the shapes below.")
    return next((mistake for sign, mistake in MEANINGS if re.search(sign, text)), None)


def shown_by_operands(exercise, failure, case):
    """The mistake of an exercise that the two operands show which did not fit; None where there is none."""
    frame, where = frames(failure)[-1] if frames(failure) else (None, None)
    _, _, tensors = frame and operands(frame, where) or (None, None, [])
    return exercise.of_operands(*tensors, case) if tensors else None


def turns_a_batch(failure, line):
    """Whether a line takes .T of a tensor of more than two axes; or of what has no name, and there is such a tensor."""
    tensors = tensors_of(failure)
    deep = any(value.ndim > 2 for value in tensors.values())
    turned = [tensors.get(name) for name in re.findall(r"(\w*)\.T\b", line)]
    return any(deep if tensor is None else tensor.ndim > 2 for tensor in turned)


def in_what_is_given(failure):
    """Whether it arose inside a function that the exercise hands to the answer."""
    own = frames(failure)[-1:]
    return any(re.search(r"chapter_\d+[/\\]e\d+_\d+_\w+\.py$", frame.f_code.co_filename) for frame, _ in own)


def frames(failure):
    """(frame, its entry of the traceback), the one in which it was raised last; none of torch's own Python."""
    return [(frame, where) for frame, where in every_frame(failure) if not is_of_torch(frame.f_code.co_filename)]


def every_frame(failure):
    found, where = [], failure.__traceback__
    while where:
        found.append((where.tb_frame, where))
        where = where.tb_next
    return found


@functools.lru_cache(maxsize=None)
def is_of_torch(file):
    return Path(torch.__file__).parent in Path(file).parents


@functools.lru_cache(maxsize=None)
def is_own(file):
    """Whether a file of code is the learner's, not a library's: cells and what was typed in are no files of one."""
    if file[:1] == "<":
        return file[:7] != "<frozen"
    return not any(library in Path(file).resolve().parents for library in LIBRARIES)


def last_line(failure):
    """The line of the learner in which it was raised; empty where that is not known, or a library raised it."""
    if not frames(failure):
        return ""
    frame, where = frames(failure)[-1]
    file = frame.f_code.co_filename
    return linecache.getline(file, where.tb_lineno).strip() if is_own(file) else ""


def tensors_of(failure):
    """name -> tensor, of the function in which it was raised."""
    return {name: value for name, value in frames(failure)[-1][0].f_locals.items() if isinstance(value, torch.Tensor)}


def indexed(failure, line):
    """Whether the line takes a part of a tensor, as weights[i] does: it has its axes no more."""
    return any(re.search(rf"\b{name}\[\w+\]", line) for name in tensors_of(failure))


def lost_axis(failure, line):
    """A sentence on a tensor that lacks only the last axis of another: what a forgotten keepdim leaves; else None.

    Only a tensor that stands in the line as it is: where an index or a method follows, its shape there is another.
    """
    if "must match the size of tensor" not in str(failure) or indexed(failure, line):
        return None
    if re.search(r"\b(sum|max|amax|mean|norm|logsumexp)\([^)]", line) and not re.search("keepdim|unsqueeze|None", line):
        return "The line takes a sum, mean, maximum or norm, whose axis is gone afterwards."
    tensors = {name: value.shape for name, value in tensors_of(failure).items()}
    sizes = set(map(int, re.findall(r"\((\d+)\)", str(failure))))      # those that did not fit
    bare = {name: shape for name, shape in tensors.items() if re.search(rf"\b{name}\b(?!\s*\[|\.)", line)}
    for short, shape in bare.items():
        for long, other in tensors.items():
            if len(shape) and shape == other[:-1] and set(unmatched(shape, other)[1:]) == sizes:
                return f"{short} {tuple(shape)} lacks the last axis of {long} {tuple(other)}."
    return None


def shown(value):
    """A float that looks like one."""
    return f"{value:.6g}" + ".0" * (f"{value:.6g}".lstrip("-").isdigit())


def in_words(name, value):
    """A tensor by its shape, a number by its value."""
    if isinstance(value, torch.Tensor):
        return f"{name} {tuple(value.shape)}"
    return f"{name} = {value if isinstance(value, int) else shown(value)}"


def stops_with(exercise, failure, case):
    """The kind and the first line of what was raised, and for which input."""
    said = str(failure).splitlines()[0].removesuffix(", but expected one of:") if str(failure) else "no message"
    return f"For {exercise.describe(case)}: it stops with {type(failure).__name__}: {said}"


def described(exercise, failure, case):
    """What was raised, the learner's own line, and the tensors and numbers in it."""
    own = [(frame, where.tb_lineno) for frame, where in frames(failure) if is_own(frame.f_code.co_filename)]
    lines = [stops_with(exercise, failure, case)]
    if not own:
        return lines
    frame, line = own[-1]
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    lines += [f"Your line: {source}"] if source else [f"In line {line} of your code."]
    in_line = set(re.findall(r"\w+", source))
    near = sorted(frame.f_locals.items(), key=lambda item: item[0] not in in_line)      # those in the line first
    shapes = [in_words(name, value) for name, value in near
              if isinstance(value, (torch.Tensor, int, float)) and not isinstance(value, bool) and name[:1] != "_"]
    return lines + ([f"There: {', '.join(shapes[:8])}."] if shapes else [])
