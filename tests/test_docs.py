"""Every Python example of the documentation runs, and prints what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
WITH_EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
WIDTH = 110

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

# Runs the blocks of one page in one namespace. A comment behind a print, or in the lines that
# follow it, is what it must print.
RUNNER = """
import ast, contextlib, io, re, sys

path = sys.argv[1]
lines = open(path, encoding="utf-8").read().split("\\n")
inside, source = False, []
for line in lines:
    if line.startswith("```"):
        inside = line == "```python"
        line = ""
    source.append(line if inside else "")


def comments(node):
    own = re.search(r"  # (.*)", source[node.end_lineno - 1][node.end_col_offset :])
    if own:
        return [own[1]]
    found = []
    for line in source[node.end_lineno :]:
        if not line.startswith("#"):
            return found
        found.append(line[2:])


scope = {"__name__": "__main__"}
for node in ast.parse("\\n".join(source), path).body:
    code = compile(ast.Module([node], []), path, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, scope)
    said = [line.rstrip() for line in printed.getvalue().rstrip("\\n").split("\\n")]
    if printed.getvalue():
        expected = comments(node)
        if said != expected:
            where = f"{path}:{node.lineno}"
            raise SystemExit("\\n".join([f"{where} prints", *said, "but the page says", *expected]))
"""


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.name)
def test_examples_run_and_print_what_the_page_says(page, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(page)],
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_guide_has_an_example():
    assert {ROOT / "README.md", *(ROOT / "docs").glob("*.md")} <= set(WITH_EXAMPLES)


@each_page
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name) if name else page
        assert other.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [anchor_of(h) for h in headings], f"{page.name} links to {target}"


def anchor_of(heading):
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@each_page
def test_lines_are_short(page):
    lines = page.read_text(encoding="utf-8").split("\n")
    long = [i for i, line in enumerate(lines, 1) if len(line) > WIDTH]
    assert not long, f"{page.name}: lines {long} are longer than {WIDTH} characters"
