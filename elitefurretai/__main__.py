"""``python -m elitefurretai``: the same command line as the console script."""

import sys

from elitefurretai.cli import main

if __name__ == "__main__":
    sys.exit(main())
