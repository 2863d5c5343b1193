"""The examples of docs/python.md do what the document shows."""

import doctest
import pathlib
import re

import pytest

import hlocb

pytest.importorskip("jax", reason="skip: no JAX")

PATH = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def examples():
    return "\n".join(re.findall(r"^```pycon\n(.*?)^```", PATH.read_text(), re.M | re.S))


def test_every_name_has_an_example():
    """Types are what the functions of the examples return."""
    source = examples()
    for name in hlocb.__all__:
        if not isinstance(getattr(hlocb, name), type):
            assert re.search(rf"\bhlocb\.{name}\b", source), name


def test_examples():
    path, source = PATH, examples()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    lines = []
    runner.run(doctest.DocTestParser().get_doctest(source, {}, "python.md", str(path), 0), out=lines.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(lines)
    assert runner.tries > 20
