"""The complete workflows that the README offers, by the name in the comment above each."""

import re
from pathlib import Path
from typing import Final

README: Final = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
RECIPES: Final = dict(re.findall(r"<!-- recipe: ([a-z-]+) -->\n```yaml\n(.*?)```", README, re.DOTALL))
