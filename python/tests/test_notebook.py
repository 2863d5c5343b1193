"""examples/python/look.ipynb runs, and shows what its text says."""

import pathlib
import time

import pytest

pytest.importorskip("jax", reason="skip: no JAX")
nbclient = pytest.importorskip("nbclient", reason="skip: no nbclient")
nbformat = pytest.importorskip("nbformat", reason="skip: no nbformat")
jupyter_client = pytest.importorskip("jupyter_client", reason="skip: no jupyter_client")
pytest.importorskip("ipykernel", reason="skip: no ipykernel")
pytest.importorskip("matplotlib", reason="skip: no matplotlib")


def test_notebook():
    path = pathlib.Path(__file__).parents[2] / "examples" / "python" / "look.ipynb"
    notebook = nbformat.read(path, 4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    text = "".join(o.get("text", "") for o in outputs)
    assert text.count("reduce at In[1]:10:15 step") == 3 and "log of stablehlo.log at " in text, text
    assert ", 30 events, run 30: reduce: " in text, text
    assert any("image/png" in o.get("data", {}) for o in outputs), "no curve"
    tables = [o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    assert len(tables) == 2 and tables[0].count("<tr>") == 1 + 3, tables
    assert tables[1].startswith("<iframe sandbox=") and "stablehlo.tanh" in tables[1]


TAPPED = """
step = jax.jit(lambda x: jnp.tanh(x) + 1)
with hlocb.tap("tanh", show=True, every=500) as t:
    x = jnp.float32(0)
    while True:
        x = step(x)
"""

RUN = """
print("started", flush=True)
hlocb.run('''module {
  func.func @main() -> tensor<i64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.while(%i = %c) : tensor<i64>
      cond { %true = stablehlo.constant dense<true> : tensor<i1>
             stablehlo.return %true : tensor<i1> }
      do { stablehlo.return %i : tensor<i64> }
    return %0 : tensor<i64>
  }
}''')
"""


def answer(client, request):
    """Returns the kernel's reply to a request."""
    while True:
        reply = client.get_shell_msg(timeout=120)
        if reply["parent_header"].get("msg_id") == request:
            return reply["content"]


@pytest.fixture(scope="module")
def kernel():
    """A running notebook without cells: its manager, and a client that has imported hlocb and JAX in In[1]."""
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    try:
        client.wait_for_ready(timeout=120)
        assert answer(client, client.execute("import hlocb, jax, jax.numpy as jnp"))["status"] == "ok"
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


CELL = """\
logarithm = jnp.log
f = jax.jit(lambda x: logarithm(x))
"""

IN_CELL = """
with hlocb.tap("In[2]:2") as t:
    f(jnp.float32(-1))
assert t.events[0].place.startswith("In[2]:2:"), t.events
assert str(hlocb.bisect_nan(f, jnp.float32(-1))).startswith("log of stablehlo.log at In[2]:2:")
try:
    with hlocb.tap("In[2]:9"):
        f(jnp.float32(-1))
except hlocb.Error as e:
    assert str(e) == "tap In[2]:9 matches no value", e
else:
    raise AssertionError
"""


def test_lines_of_cells(kernel):
    """A tap takes the names of cells, and events show them."""
    _, client = kernel
    for code in (CELL, IN_CELL):
        assert (reply := answer(client, client.execute(code)))["status"] == "ok", reply


def test_interrupt(kernel):
    """The notebook's interrupt ends a tapped loop and an endless run within seconds, and the kernel goes on."""
    manager, client = kernel
    for code in (TAPPED, RUN):
        request = client.execute(code)
        while True:
            message = client.get_iopub_msg(timeout=120)
            if message["header"]["msg_type"] == "stream" and message["parent_header"].get("msg_id") == request:
                break
        time.sleep(0.5)
        start = time.monotonic()
        manager.interrupt_kernel()
        assert (reply := answer(client, request))["ename"] == "KeyboardInterrupt", reply
        assert time.monotonic() - start < 30  # a second on a quiet machine
    assert (reply := answer(client, client.execute("assert len(t.events) > 0")))["status"] == "ok", reply
