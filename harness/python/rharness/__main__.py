"""python -m rharness: becomes the program."""

import os
import sys

from rharness._program import program


def main():
    try:
        path = program()
    except FileNotFoundError as error:
        sys.stderr.write("rharness: %s\n" % error)
        return 4
    os.execv(path, [path] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
