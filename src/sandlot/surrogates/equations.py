"""A NARMAX model as text with a table, and as Python, C and LaTeX that compute the same numbers."""

import keyword
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sandlot.errors import ModelError
from sandlot.surrogates.terms import NONE, Variable
from sandlot.typing import IntArray

C_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""
KEYWORDS = {*keyword.kwlist, *C_KEYWORDS.split()}
"""Keywords of Python and C, which cannot name a variable."""

if TYPE_CHECKING:
    from sandlot.surrogates.narmax import Narmax


def term(factors: IntArray, variables: Sequence[Variable]) -> str:
    """A term as text: ``x^2 y(k-1)``, or ``1`` for the constant."""
    powers = _powers(factors)
    return " ".join(_plain(variables[v]) + (f"^{power}" if power > 1 else "") for v, power in powers.items()) or "1"


def text(model: "Narmax", output: str = "y") -> str:
    """The equation, and below it a table of terms with coefficient, standard error and ERR."""
    table = model.table()
    columns = (table[name].values for name in ("term", "coefficient", "error", "err"))
    rows = list(zip(*columns, strict=True))
    width = max([len(name) for name, *_ in rows] + [len("term")])
    sum_ = " ".join(f"{'-' if value < 0 else '+'} {abs(value):.4g}{_times(name)}" for name, value, _, _ in rows)
    left = _minus(f"{output}(k)" if model.lag_ else output, model.output_centre_)
    lines = [f"{left} = {sum_.removeprefix('+ ')}", ""]
    lines.append(f"{'term':<{width}}  {'coefficient':>12}  {'std error':>10}  {'ERR [%]':>8}")
    lines += [f"{name:<{width}}  {value:>12.5g}  {error:>10.2g}  {100 * err:>8.3f}" for name, value, error, err in rows]
    return "\n".join([*lines, f"{'':<{width}}  {'':>12}  {'together':>10}  {100 * table['err'].values.sum():>8.3f}"])


def python(model: "Narmax", name: str = "predict") -> str:
    """A Python function that computes one sample."""
    arguments = ", ".join(_arguments(model))
    body = _sum(model, repr, " * ")
    return f'def {_word(name)}({arguments}):\n    """A NARMAX model."""\n    return (\n        {body}\n    )\n'


def c(model: "Narmax", name: str = "predict") -> str:
    """A C99 function that computes one sample; bit for bit the same if compiled with ``-ffp-contract=off``."""
    arguments = ", ".join(f"double {each}" for each in _arguments(model)) or "void"
    return f"double {_word(name)}({arguments})\n{{\n    return {_sum(model, repr, ' * ')};\n}}\n"


def latex(model: "Narmax", output: str = "y") -> str:
    """The equation with all digits, one term per line."""
    _check(model)
    parts = []
    for factors, value in zip(model.factors_, model.coefficients_.tolist(), strict=True):
        powers = _powers(factors).items()
        product = " ".join(_latex(model.variables_[v]) + (f"^{{{power}}}" if power > 1 else "") for v, power in powers)
        parts.append(f"{'-' if value < 0 else '+'} {_latex_number(abs(value))}{' ' + product if product else ''}")
    left = _minus(f"{output}_{{k}}" if model.lag_ else output, model.output_centre_, _latex_number)
    first, *others = parts
    lines = [f"{left} &= {first.removeprefix('+ ')}", *(f"&\\quad {part}" for part in others)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


FORMATS: dict[str, Callable[["Narmax"], str]] = {"text": text, "python": python, "c": c, "latex": latex}
"""Name of a format to the function that writes it."""


def _check(model: "Narmax") -> None:
    model.table()  # raises if the model is not fitted


def _powers(factors: IntArray) -> dict[int, int]:
    """Index to power of each variable of a term."""
    used = [int(f) for f in factors if f != NONE]
    return {v: used.count(v) for v in dict.fromkeys(used)}


def _times(name: str) -> str:
    return "" if name == "1" else f" {name}"


def _plain(variable: Variable) -> str:
    return _centred(f"{variable.name}(k-{variable.lag})" if variable.lag else variable.name, variable)


def _short(value: float) -> str:
    return f"{value:.15g}"


def _minus(name: str, centre: float, number: Callable[[float], str] = _short) -> str:
    """A quantity minus its centre, if it has one."""
    return f"{name} {'-' if centre > 0 else '+'} {number(abs(centre))}" if centre else name


def _centred(name: str, variable: Variable, number: Callable[[float], str] = _short) -> str:
    return f"({_minus(name, variable.centre, number)})" if variable.centre else name


def _word(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in KEYWORDS:
        raise ModelError(f"{name!r} cannot be a name in Python and C; use letters, digits and _, but no keyword")
    return name


def _code(variable: Variable) -> str:
    return _word(f"{variable.name}_{variable.lag}" if variable.lag else variable.name)


def _factor(variable: Variable) -> str:
    return _centred(_code(variable), variable, repr)


def _arguments(model: "Narmax") -> list[str]:
    """The variables that occur, as names of arguments: ``y_1`` is y one step back."""
    _check(model)
    used = sorted({int(f) for factors in model.factors_ for f in factors if f != NONE})
    names = [_code(model.variables_[v]) for v in used]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"{name} would name two variables; rename the inputs")
    return names


def _sum(model: "Narmax", number: Callable[[float], str], times: str) -> str:
    """The sum of all terms, in the order of `terms.evaluate`."""
    products = [
        times.join([number(value), *(_factor(model.variables_[f]) for f in factors if f != NONE)])
        for factors, value in zip(model.factors_, model.coefficients_.tolist(), strict=True)
    ]
    total = "\n        + ".join(products) or "0.0"
    return f"{number(model.output_centre_)} + ({total})" if model.output_centre_ else total


def _latex(variable: Variable) -> str:
    name = re.sub(r"([&%$#_{}])", r"\\\1", variable.name)
    name = name if len(name) == 1 else rf"\mathrm{{{name}}}"
    return _centred(f"{name}_{{k-{variable.lag}}}" if variable.lag else name, variable, _latex_number)


def _latex_number(value: float) -> str:
    mantissa, _, exponent = repr(value).partition("e")
    return mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")
