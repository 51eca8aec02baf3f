"""`python -m irt`: the measurement commands alone."""

import sys

from irt.commands import main

sys.exit(main())
