"""python -m hlocb is the command hlocb."""

import os
import sys

from hlocb import Error, find_bin

try:
    command = find_bin()
except Error as e:
    sys.exit(f"error: {e}")
try:
    os.execv(command, [command, *sys.argv[1:]])
except OSError as e:
    sys.exit(f"error: {command}: {e.strerror}; it should be the command hlocb")
