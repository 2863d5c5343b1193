"""The examples of docs/python.md do what the document shows."""

import doctest
import pathlib
import re

import pytest

pytest.importorskip("jax", reason="skip: no JAX")


def test_examples():
    path = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    source = "\n".join(re.findall(r"^```pycon\n(.*?)^```", path.read_text(), re.M | re.S))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    lines = []
    runner.run(doctest.DocTestParser().get_doctest(source, {}, "python.md", str(path), 0), out=lines.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(lines)
    assert runner.tries > 20
