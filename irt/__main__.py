"""`python -m irt`: the measurement commands alone."""

import sys

from irt.commands.cli import main

sys.exit(main())
