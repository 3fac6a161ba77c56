import os
import sys
from pathlib import Path

import hypothesis

sys.path.insert(0, str(Path(__file__).parent))

# Compiling a kernel within an example is no flakiness of the example.
hypothesis.settings.register_profile(
    "default", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True
)
hypothesis.settings.load_profile("default")
