"""`python -m tests.golden.regenerate`: write `summary/` and `document/` anew. Look at the difference before a commit.

The cases (`<rule or check id>/<case>/`) are written by hand, and nothing writes them.
"""

import shutil
from pathlib import Path
from typing import Final

from tests.builders.documents import make_documents
from tests.builders.pages import make_pages

HERE: Final = Path(__file__).parent


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Replace a folder by one that holds these files and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    write_folder(HERE / "summary", {f"{name}.md": page.encode() for name, page in make_pages().items()})
    write_folder(HERE / "document", {f"{name}.json": document for name, document in make_documents().items()})
