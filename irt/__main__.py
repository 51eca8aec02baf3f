"""`python -m irt`: the measurement commands alone."""

import sys

from irt.cli import main

sys.exit(main())
