"""Random calls from Python, as text, nearly all of which return a result."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.fuzz.arguments import (
    FEATURED,
    FIXED,
    HSIC_KERNELS,
    HSIC_NULLS,
    KERNELS,
    MAKERS,
    NULL_MAKERS,
    NULLS,
    ODD_VALUES,
    STREAMED,
)
from tests.fuzz.samples import GOOD_CONTAINERS, GOOD_KINDS, ODD_CONTAINERS, ODD_KINDS, TABLES, Rows


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function with samples, and options as expressions."""

    function: str
    samples: tuple[Rows, ...]
    options: tuple[tuple[str, str], ...] = ()
    is_pictured: bool = False

    @property
    def source(self) -> str:
        """The call as an expression."""
        words = [*(f"{sample!r}.make()" for sample in self.samples), *(f"{name}={text}" for name, text in self.options)]
        call = f"{self.function}({', '.join(words)})"
        return f"pictured({call})" if self.is_pictured else call


_Options = dict[str, tuple[float, tuple[str, ...]]]
_SEED = (0.9, ("0", "1", "2**32", "2**70", "np.int64(3)"))
_BLOCKS: _Options = {
    "block_size": (0.25, ("4", "5", "8", "'sqrt'", "'auto'", "None")),
    "budget": (0.05, ("0.001", "1.0")),
    "block_exponent": (0.05, ("0.5", "0.7")),
    "n_threads": (0.2, ("1", "2", "None")),
}
_BTEST: _Options = {
    "seed": _SEED,
    "kernel": (0.6, KERNELS),
    "null": (0.4, NULLS),
    **_BLOCKS,
    "scale": (0.15, ("True", "False", "'robust'", "None")),
    "shuffle": (0.1, ("True", "False")),
    "dtype": (0.1, ("'float32'", "'float64'")),
    "paired": (0.05, ("True", "False")),
    "statistic": (0.07, ("MMD", "KernelFisher", "WithReplacement", "None", "'blocks'", "'features'", "FeatureMMD")),
}
_ODD_BTEST: _Options = {
    "checkpoint": (0.03, ("'run.npz'", "'no/run.npz'")),
    "progress": (0.03, ("lambda done, of: None",)),
    "units": (0.05, ("([1] * 5, [2] * 5)", "'c0'", "(range(20), range(20))")),
    "weights_x": (0.05, ("[1.0] * 20", "'c0'", "np.ones(12)", "[0.0] * 20", "[-1.0] * 20")),
    "weights_y": (0.05, ("[1.0] * 20", "'c0'", "np.ones(12)")),
    "workers": (0.01, ("0", "-1", "1.5", "'x'")),
}
_HSIC: _Options = {
    "seed": _SEED,
    "statistic": (0.3, ("'hsic'", "'dcov'")),
    "kernel_x": (0.3, HSIC_KERNELS),
    "kernel_y": (0.3, HSIC_KERNELS),
    "exponent": (0.05, ("0.5", "1.5")),
    "method": (0.15, ("'features'", "'blocks'", "None")),
    "null": (0.3, HSIC_NULLS),
    **_BLOCKS,
    "scale": (0.1, ("True", "False")),
}
_KSAMPLE: _Options = {
    "seed": _SEED,
    "kernel": (0.4, HSIC_KERNELS),
    "null": (0.3, HSIC_NULLS),
    "pairwise": (0.5, ("True", "False")),
    "names": (0.1, ("['a', 'b', 'c']", "None", "['\\x1b', 'a', 'b']")),
    **_BLOCKS,
}
_STREAM: _Options = {
    "seed": _SEED,
    "block_size": (0.9, ("2", "4", "5", "(3, 4)", "np.int64(4)")),
    "kernel": (0.8, STREAMED),
    "null": (0.2, ("None", "'normal'", "'third-cumulant'", "SignFlip(99)", "CrossMMD()")),
    "dtype": (0.1, ("'float32'", "'float64'")),
    "n_threads": (0.1, ("1", "2")),
}
_COMPARE: _Options = {
    "seed": _SEED,
    "alpha": (0.1, ("0.01", "0.5")),
    "tolerance": (0.1, ("0.05", "0.5")),
    "kernel": (0.2, ("'gaussian'", "'energy'", "Gaussian(1.0)", "Aggregate()")),
    "null": (0.2, NULLS[:8]),
    "columns": (0.05, ("['c0']", "'c0'")),
    "exclude": (0.05, ("'c1'", "['c1']")),
    "max_rows": (0.1, ("8", "100")),
    "missing": (0.05, ("'0'", "['-', '-999']")),
    "categories": (0.05, ("'c0'",)),
    "by": (0.05, ("'c0'",)),
    "unit": (0.05, ("'c0'",)),
}
_SEQUENTIAL: _Options = {
    "kernel": (0.6, (*FIXED, "None", "'gaussian'")),
    "window_size": (0.3, ("8", "64")),
    "size": (0.3, ("1", "5", "40")),
    "alpha": (0.2, ("0.01", "0.5")),
}
_FEATURED: _Options = {
    "seed": _SEED,
    "kernel": (0.6, FEATURED),
    "budget": (0.2, ("0.001", "1.0")),
    "scale": (0.15, ("True", "False", "None")),
    "shuffle": (0.1, ("True", "False")),
    "dtype": (0.1, ("'float32'", "'float64'")),
    "n_threads": (0.2, ("1", "2", "None")),
    "null": (0.1, ("SignFlip(99)", "None", "'normal'")),
}
_FEATURE_STREAM: _Options = {
    "statistic": (1.0, ("'features'",)),
    "seed": _SEED,
    "kernel": (0.9, FEATURED[:-4]),
    "null": (0.2, ("None", "SignFlip(99)")),
    "n_threads": (0.1, ("1", "2")),
}
_UNITS: _Options = {
    "size": (0.7, ("1", "2", "4", "100")),
    "shared": (0.3, ("True",)),
    "weighted": (0.3, ("True",)),
    "seed": _SEED,
    "kernel": (0.4, FIXED),
    "block_size": (0.1, ("4", "'sqrt'")),
}
_FUNCTIONS: dict[str, tuple[float, _Options]] = {
    "btest": (40, _BTEST),
    "featured": (7, _FEATURED),
    "paired": (4, {**_BTEST, "paired": (0.0, ())}),
    "in_units": (4, _UNITS),
    "weighted": (2, {**_UNITS, **dict.fromkeys(("size", "shared", "weighted"), (0.0, ())), "power": (0.5, ("0", "9"))}),
    "energy_test": (6, {**_BTEST, "kernel": (0.0, ()), "exponent": (0.5, ("0.5", "1.0", "1.99"))}),
    "independence_test": (13, _HSIC),
    "ksample_test": (6, _KSAMPLE),
    "streamed": (10, _STREAM),
    "merged": (6, {**_STREAM, "kernel": (1.0, FIXED), "n_parts": (0.3, ("1", "3"))}),
    "feature_stream": (4, _FEATURE_STREAM),
    "feature_merge": (4, {**_FEATURE_STREAM, "n_parts": (0.3, ("1", "3"))}),
    "sequential": (6, _SEQUENTIAL),
    "compare": (7, _COMPARE),
    "asserted": (2, {"seed": (1.0, ("0", "1"))}),
    "damaged": (3, {}),
}

# Functions under another name, those of samples of equal lengths, and those of arrays alone.
_ALIASES = {"feature_stream": "streamed", "feature_merge": "merged"}
_EQUAL = ("independence_test", "paired")
_ARRAYS = ("streamed", "merged", "sequential", "damaged", "in_units", "weighted", *_ALIASES)


def random_call(rng: Random) -> Call:
    """Return a call; some of them with something odd about it."""
    odd = rng.random() < 0.35
    function = rng.choices(list(_FUNCTIONS), [share for share, _ in _FUNCTIONS.values()])[0]
    samples = _samples(rng, function, odd)
    if function == "damaged":
        where = ("place", repr(rng.random())), ("byte", str(rng.randrange(256)))
        return Call(function, samples, (*where, ("features", str(rng.random() < 0.5))))
    options = dict(_FUNCTIONS[function][1])
    if odd and function in ("btest", "energy_test", "paired"):
        options |= _ODD_BTEST
    found = [(name, rng.choice(good)) for name, (share, good) in options.items() if rng.random() < share]
    if odd and rng.random() < 0.5:
        name = rng.choice([name for name in options if name != "workers"])  # a number of them would start processes
        found = [(own, text) for own, text in found if own != name] + [(name, _odd_value(rng, name))]
    is_pictured = rng.random() < 0.08
    return Call(_ALIASES.get(function, function), samples, tuple(found), is_pictured)


def _odd_value(rng: Random, name: str) -> str:
    value = rng.choice(ODD_VALUES)
    if name.startswith("kernel") and rng.random() < 0.6:
        more = f", {rng.choice(ODD_VALUES)}" if rng.random() < 0.3 else ""
        return f"{rng.choice(MAKERS)}({value}{more})"
    if name == "null" and rng.random() < 0.6:
        return f"{rng.choice(NULL_MAKERS)}({value})"
    return value


def _samples(rng: Random, function: str, odd: bool) -> tuple[Rows, ...]:
    n_samples = rng.randint(2, 4) if function == "ksample_test" else 2
    least, most = rng.choice([(8, 20), (12, 40), (20, 80)])
    if odd and rng.random() < 0.2:
        least, most = rng.choice([(0, 3), (1, 6), (2, 2), (200, 900)])
    d, kind, container = rng.choice([1, 1, 2, 2, 3, 5]), rng.choice(GOOD_KINDS), rng.choice(GOOD_CONTAINERS)
    n = rng.randint(least, most)
    shift = rng.choice([0.0, 0.0, 0.5, 3.0])
    of_arrays = function in _ARRAYS
    if function in ("compare", "asserted") and rng.random() < 0.4:
        container = rng.choice(TABLES)
    found = []
    for k in range(n_samples):
        own = n if function in _EQUAL or rng.random() < 0.4 else rng.randint(least, most)
        holder = "array" if of_arrays else container
        if odd and rng.random() < 0.3:
            kind = rng.choice(ODD_KINDS)
        if odd and rng.random() < 0.2 and not of_arrays:
            holder = rng.choice(ODD_CONTAINERS)
        if odd and rng.random() < 0.05:
            d = rng.choice([0, 1, 2, 30])
        found.append(Rows(own, d, rng.randrange(10**6), kind, holder, shift * k))
    return tuple(found)
