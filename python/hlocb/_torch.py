"""PyTorch/XLA: hlocb's engine as one of its devices, PJRT_DEVICE=HLOCB (entry point torch_xla.plugins).

torch_xla imports this module in every program; the library is loaded only if the program chooses the device.
"""

from torch_xla.experimental import plugins

from hlocb._command import engine_path


class Plugin(plugins.DevicePlugin):
    """The engine as a plugin of torch_xla."""

    def library_path(self) -> str:
        return engine_path()
