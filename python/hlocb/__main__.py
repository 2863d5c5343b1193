"""python -m hlocb is the command hlocb."""

import os
import sys

from hlocb import Error, find_bin

try:
    command = find_bin()
except Error as e:
    sys.exit(f"error: {e}")
os.execv(command, [command, *sys.argv[1:]])
