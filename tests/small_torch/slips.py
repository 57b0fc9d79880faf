"""Everyday slips in a call, an index or an operator: what a learner writes who knows the idea and not yet torch."""
import ast

ARGUMENT = "[{}]", "float({})", "{} / 1", "None", "'x'", "torch.tensor({})", "{}.T", "{}[0]", "{}.long()", "{}.shape"
OPERANDS = ("{r} {s} {l}", "{l}.T {s} {r}", "{l} {s} {r}.T", "{l}[0] {s} {r}", "[{l}] {s} {r}", "{l} {s} None",
            "{l} {s} {r}.sum(-1)", "{l} {s} {r}.max(-1)", "{l} {s} {r}.long()", "{l}.shape {s} {r}", "{l} {s} {r}.exp")
INDEX = "{}", "{}(0)", "{}[9]", "{}['a']", "{}[0.5:]", "{}[None]", "{}[0, 0, 0, 0, 0]"
SHAPE = "{}.shape()", "{}.size", "{}.size[0]", "{}.transpose()", "{}.t()", "{}.T"


def slips(source):
    """Every source that differs from this one by a slip."""
    from test_right_answers import places
    tree = ast.parse(source)
    for node, put in places(tree):
        for written in slips_of(node):
            put(ast.parse(written, mode="eval").body)
            yield ast.unparse(tree)
        put(node)


def slips_of(node):
    """What is written in the place of a part, as text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from calls(node)
    if isinstance(node, ast.BinOp):
        sign = ast.unparse(ast.BinOp(ast.Name("l"), node.op, ast.Name("r")))[2:-2]
        yield from (form.format(l=f"({ast.unparse(node.left)})", r=f"({ast.unparse(node.right)})", s=sign)
                    for form in OPERANDS)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from (form.format(ast.unparse(node.value)) for form in INDEX)
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "mT", "T"):
        yield from (form.format(ast.unparse(node.value)) for form in SHAPE)


def calls(node):
    function, owner = ast.unparse(node.func), ast.unparse(node.func.value)
    args, named = [f"{ast.unparse(arg)}" for arg in node.args], [ast.unparse(word) for word in node.keywords]

    def call(args, named=named, function=function):
        return f"{function}({', '.join([*args, *named])})"
    yield function
    for given in args[:-1], args[1:], args + args[-1:], args[::-1], [f"[{', '.join(args)}]"]:
        yield call(given)
    for i, arg in enumerate(args):
        yield from (call([*args[:i], form.format(f"({arg})"), *args[i + 1:]]) for form in ARGUMENT
                    if not arg.startswith("*"))
    for i, word in enumerate(named):
        name, _, value = word.partition("=")
        for other in [], [f"axis={value}"], [f"{name}s={value}"], [f"{name}='x'"], [f"{name}=2.0"]:
            yield call(args, [*named[:i], *other, *named[i + 1:]])
    if not any(word.startswith("dim=") for word in named):
        yield call(args, [*named, "dim=0"])
    if owner not in ("torch", "math", "F", "torch.linalg"):
        yield call([owner, *args], function=f"torch.{node.func.attr}")
        yield call(args, function=f"torch.{node.func.attr}")
