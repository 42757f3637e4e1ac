"""The site has every page, every public name and every picture; `make docs` builds it from them.

What needs no Sphinx is checked here; the slow test builds all of it, with warnings as errors, where Sphinx is there.
"""

import ast
import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import reluscope as rs
import reluscope_studies
from public_names import public_names
from reluscope.moved_names import RETURNED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.glob("*.md"))
SCRIPTS = sorted(path for folder in ("gallery", "tutorials") for path in (DOCS / folder).rglob("*.py"))
# Pages of the guide that ask nothing about networks.
NO_ANALYSES = {
    "installation",
    "questions",
    "coming-from",
    "exchange",
    "models",
    "concepts",
    "command-line",
    "report",
    "many-machines",
    "studies",
    "errata",
    "auto/results/index",
}
# Where `make docs` puts the pages of scripts.
GALLERIES = {"auto/examples": ROOT / "examples", "auto/tutorials": DOCS / "tutorials", "auto/gallery": DOCS / "gallery"}


def extension(name):
    """Return a module of docs/_extensions/."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "_extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


elsewhere, first_pictures, reference, results = (
    extension(name) for name in ("elsewhere", "first_pictures", "reference", "results")
)


@cache
def book_and_pages():
    kept = results.book()
    return kept, results.pages(kept)


def entries(page):
    """Return what the tables of contents on a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.*)>", r"\1", line) for line in lines]


ENTRIES = [(page, entry) for page in PAGES for entry in entries(page)]


def test_every_page_is_in_one_table_of_contents():
    named = sorted(entry for _, entry in ENTRIES if "/" not in entry)
    assert named == sorted({page.stem for page in PAGES} - {"index"})


@pytest.mark.parametrize(("page", "entry"), ENTRIES, ids=[entry for _, entry in ENTRIES])
def test_what_tables_of_contents_name_is_made(page, entry):
    folder, _, name = entry.rpartition("/")
    if folder in GALLERIES:
        source = GALLERIES[folder] / ("GALLERY_HEADER.txt" if name == "index" else f"{name}.py")
        assert source.exists(), f"{page.name} names {entry}"
    elif folder == "project":
        assert f"{entry}.md" in elsewhere.COPIED.values()
    elif folder == "reference":
        assert name == "index"
    elif folder == results.FOLDER:
        assert name in book_and_pages()[1]
    else:
        assert (DOCS / f"{entry}.md").exists()


@pytest.mark.slow
def test_pages_of_results_hold_the_book():
    kept, made = book_and_pages()
    assert set(made) == {*kept, "index"}
    for paper, runs in kept.items():
        text = made[paper]
        for run in runs:
            assert run["command"] in text
            assert run["machine"]["processor"] in text
            for study in run["studies"]:
                for verdict in study["verdicts"]:
                    assert verdict["found"].replace("|", "\\|") in text
                    assert verdict["statement"].replace("|", "\\|") in made["index"]
                for table in study["tables"]:
                    assert all(len(row) == len(table["columns"]) for row in table["rows"])
        widths = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]
        assert all(width > 1 for width in widths)
    for picture in re.findall(r"^!\[.*\]\((.*)\)$", "\n".join(made.values()), re.MULTILINE):
        assert picture in {results._file(run, one.stem) for runs in kept.values() for run in runs
                           for one in run["folder"].glob("*.svg")}  # fmt: skip


def test_the_overview_has_every_statement_once_with_its_largest_run():
    kept, made = book_and_pages()
    every = {
        (run["name"], verdict["statement"], verdict["place"])
        for runs in kept.values() for run in runs for study in run["studies"] for verdict in study["verdicts"]
    }  # fmt: skip
    overview = made["index"].partition("## Studies without a run")[0].partition("## Statements")[2]
    lines = [line for line in overview.splitlines() if ".md#" in line]
    assert len(lines) == len(every)
    for paper, anchor in re.findall(r"\]\((\S+)\.md#(\S+)\)", overview):
        assert f"({anchor})=" in made[paper]
    small = {"name": "p/f", "size": "small", "variant": "small", "changes": {}, "studies": [{"verdicts": [
        {"statement": "s", "place": "Figure 2", "printed": "1", "found": "2", "word": "contradicted"},
        {"statement": "t", "place": "Figure 1", "printed": "1", "found": "1", "word": "confirmed"}]}]}  # fmt: skip
    full = {**small, "size": "full", "studies": [{"verdicts": [
        {"statement": "s", "place": "Figure 2", "printed": "1", "found": "1", "word": "confirmed"}]}]}  # fmt: skip
    assert [(run["size"], row[-1]) for run, row in results._once([full, small])] == [
        ("small", "confirmed"), ("full", "confirmed"),
    ]  # fmt: skip


def test_studies_without_a_run_are_named():
    every = dict(results.studies())
    assert len(every) > 40
    kept, made = book_and_pages()
    index = made["index"]
    ran = {run["name"] for runs in kept.values() for run in runs}
    assert ran <= set(every)
    missing = index.partition("## Studies without a run")[2]
    assert set(re.findall(r"^\| (\S+/\S+) \|", missing, re.MULTILINE)) == set(every) - ran


def test_every_figure_and_table_of_the_papers_is_listed_with_its_runs():
    _, made = book_and_pages()
    section = made["index"].partition("## Figures and tables")[2].partition("## Statements")[0]
    rows = [line for line in section.splitlines() if line.startswith(("| Figure", "| Table", "| plot"))]
    every = json.loads(results.FIGURES.read_text(encoding="utf-8"))
    assert [
        row.split(" | ")[0].removeprefix("| ").partition(", section")[0] for row in rows if "| plot" not in row
    ] == [one["name"] for found in every.values() for one in found if not one["name"].startswith("plot")]
    for paper, anchor in re.findall(r"\]\((\S+)\.md#(\S+)\)", section):
        assert f"({anchor})=" in made[paper]
    assert "**" not in section
    # A run of some parts alone does not stand for the others, nor one without a picture for a figure.
    some = {"name": "p/f", "variant": "full-x", "changes": {"only": ["Wide*"]}, "studies": [{"pictures": []}]}
    whole = {**some, "variant": "small", "changes": {}, "studies": [{"pictures": ["curve"]}]}
    runs = {"p": [some, whole]}

    def telling(study, part, *, drawn=False):
        return results._telling(study, part, runs, drawn=drawn)

    assert telling("p/f", "WideCIFAR") is telling("p/f", "") is some
    assert telling("p/f", "ThinCIFAR") is telling("p/f", "WideCIFAR", drawn=True) is whole
    assert telling("p/g", "") is None


def test_runs_are_put_in_order_by_what_they_declare_and_not_by_name():
    def run(size, accuracy=None, findings=1, **changes):
        found = [{"name": "regions", "value": 3}] * findings
        found += [] if accuracy is None else [{"name": "accuracy of dense", "value": accuracy}]
        variant = "-".join([size, *map(str, changes)])
        return {"size": size, "variant": variant, "changes": changes, "studies": [{"findings": found}]}

    few, many = run("full", findings=8, only=["11+*"]), run("full", findings=62, only=["?+*"])
    assert results.in_order([few, many]) == [many, few]
    short, small, whole = run("full", epochs=1), run("small"), run("full")
    assert results.in_order([short, small, whole]) == [whole, short, small]
    learned, not_learned = run("small", accuracy=0.9), run("medium", accuracy=[0.1, 0.3])
    assert results.in_order([not_learned, learned]) == [learned, not_learned]
    kept = results.book()
    (first,) = [run for run in kept["serra2018"] if run["name"] == "serra2018/splits"][:1]
    assert "70 networks" in json.dumps(first["studies"][0]["verdicts"])


def test_what_words_name():
    assert results.named("Tables 6.1 and 7.1, section 3.2, Figures 2b, 8 to 10 and A.1") == [
        "Table 6.1", "Table 7.1", "Figure 2", "Figure 8", "Figure 9", "Figure 10", "Figure A.1",
    ]  # fmt: skip
    assert results.named("Figures 3.9, 6.14 to 6.16; section 4.2") == [
        f"Figure {one}" for one in ("3.9", "6.14", "6.15", "6.16")
    ]


def test_studies_repeat_what_their_page_and_statements_name():
    every = json.loads(results.FIGURES.read_text(encoding="utf-8"))
    claims = {study: set(names) for study, names in results._written("REPEATS")}
    page = dict(
        re.findall(r"^\| `(\S+/\S+)` \| (.*) \|$", (DOCS / "studies.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(page) == set(dict(results.studies()))
    for study, said in page.items():
        names = claims.get(study, set())
        source = study.partition("/")[0].split("-")[0]
        assert names <= {one["name"] for one in every[source]}, study
        assert set(results.named(said)) == {one for one in names if not one.startswith("plot")}, study
    for paper, runs in book_and_pages()[0].items():
        known = {one["name"] for one in every[paper.split("-")[0]]}
        assert all(known >= set(results.named(row[1])) for run in runs for row in results._statements(run))


def test_every_public_name_has_a_page():
    def nouns(module, path=""):
        for name in public_names(module):
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                # What is a module within a namespace that has no __all__ is where it is written, and not public.
                if module is rs or hasattr(module, "__all__"):
                    yield from nouns(value, f"{path}{name}.")
            elif str(getattr(value, "__module__", "reluscope")) != "typing" or hasattr(module, "__all__"):
                yield f"{path}{name}"

    names = [one.dotted for one in reference.all_public_names()]
    beside = [
        f"reluscope_studies.{home}.{name}"
        for home in reluscope_studies.OBJECTS
        for name in import_module(f"reluscope_studies.{home}").__all__
    ]
    assert sorted(names) == sorted([*nouns(rs), *beside])
    assert len(names) > 400


def test_pages_of_names_are_different_files_everywhere():
    pages = [one.page.lower() for one in reference.all_public_names()]
    assert len(set(pages)) == len(pages)


def test_one_page_for_one_thing():
    names = {one.dotted: one for one in reference.all_public_names()}
    assert "autofunction:: count" in reference.page_of(names["count"])
    things = [id(one.value) for one in names.values() if one.kind != "values"]
    assert len(set(things)) == len(things)


def test_types_that_one_function_returns_are_on_its_page():
    pages = "\n".join(reference.page_of(one) for one in reference.all_public_names())
    shown = re.findall(r"^\.\. autoclass:: (\w+)$", pages, re.MULTILINE)
    assert {shown.count(kind.rpartition(".")[2]) for kind in RETURNED} == {1}


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("x : (s, *input_shape) or (s, n)", r"x : (s, \*input_shape) or (s, n)"),
        ("with |W| |h|", r"with \|W\| \|h\|"),
        ("``(s, *shape)``, and *really*", "``(s, *shape)``, and *really*"),
        ("(s, *input_shape) or (k, *shape)", r"(s, \*input_shape) or (k, \*shape)"),
    ],
)
def test_mathematics_in_docstrings(line, escaped):
    assert reference.escaped(line) == escaped


def test_classes_that_functions_return_show_no_constructor():
    """Of a partition one reads its attributes; a box is made by calling it."""
    assert reference.hide_constructor(None, "class", "reluscope.Partition", rs.Partition) == ("", None)
    for kind in (rs.Box, rs.errors.InputError):
        assert reference.hide_constructor(None, "class", kind.__name__, kind) is None
    lines = inspect.getdoc(rs.Partition).splitlines()
    reference.name_attributes(None, "class", "reluscope.Partition", rs.Partition, None, lines)
    assert "Parameters" not in lines
    assert lines[lines.index("Attributes") + 1] == "----------"
    assert lines[lines.index("Attributes") + 2].startswith("domain : ")


def test_there_are_enough_pictures():
    assert len(list((DOCS / "gallery").rglob("*.py"))) >= 20


def test_each_script_is_in_a_section_of_the_gallery():
    """A section has a heading and its place in `docs/conf.py`."""
    folders = {path.parent for path in (DOCS / "gallery").rglob("*.py")}
    assert all((folder / "GALLERY_HEADER.txt").exists() for folder in folders)
    named = re.search(r"^SECTIONS = (\(.*\))$", (DOCS / "conf.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert named is not None
    assert sorted(ast.literal_eval(named[1])) == sorted(
        folder.relative_to(DOCS / "gallery").as_posix() for folder in folders
    )


def test_each_page_of_the_guide_has_a_card():
    page = (DOCS / "guide.md").read_text(encoding="utf-8")
    assert re.findall(r"^:link: (\S+)$", page, re.MULTILINE) == entries(DOCS / "guide.md")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_have_a_title_and_end_with_their_figure(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert set(line) == {"="}
    assert len(line) >= len(title)
    if "gallery" in script.parts:
        assert ast.unparse(tree.body[-1]) in ("figure", "film")


def test_the_page_of_each_analysis_starts_with_a_picture():
    pages = {entry for entry in entries(DOCS / "guide.md") if "/" not in entry}  # others are made from scripts
    analyses = pages - NO_ANALYSES
    assert analyses == set(first_pictures.FIRST_PICTURES)
    for page, script in first_pictures.FIRST_PICTURES.items():
        assert (DOCS / "gallery" / f"{script}.py").exists()
        assert re.match(r"# .*\n", (DOCS / f"{page}.md").read_text(encoding="utf-8")), (
            "the picture comes below the title"
        )


@pytest.mark.parametrize(
    ("source", "page", "text", "turned"),
    [
        ("docs/a.md", "a.md", "[x](b.md#c)", "[x](b.md#c)"),
        ("docs/a.md", "a.md", "[x](../benchmarks/RESULTS.md)", "[x](project/measurements.md)"),
        ("docs/a.md", "a.md", "[x](../examples/README.md)", "[x](auto/examples/index.rst)"),
        ("docs/a.md", "a.md", "[x](../examples/b.py)", "[x](auto/examples/b.rst)"),
        ("docs/a.md", "a.md", "[x](gallery/b.py)", "[x](auto/gallery/b.rst)"),
        ("CONTRIBUTING.md", "project/contributing.md", "[x](docs/extending.md)", "[x](../extending.md)"),
        (
            "docs/a.md",
            "a.md",
            "[x](https://a.b/c) [y](#z) ![z](images/p.png)",
            "[x](https://a.b/c) [y](#z) ![z](images/p.png)",
        ),
    ],
)
def test_links_are_right_on_the_site(source, page, text, turned):
    assert elsewhere.turned(text, source, page) == turned


def test_a_link_to_what_has_no_page_is_refused():
    with pytest.raises(ValueError, match=r"docs/a\.md links to \.\./Makefile, which has no page"):
        elsewhere.turned("[x](../Makefile)", "docs/a.md", "a.md")


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / name for name in elsewhere.COPIED)], ids=lambda page: page.name)
def test_all_links_have_a_page_or_a_file(page):
    source = str(page.relative_to(ROOT))
    site = elsewhere.COPIED.get(source, source.removeprefix("docs/"))
    for link in re.findall(
        r"\]\((?![a-z]+:|#)([^)#\s]+)", elsewhere.turned(page.read_text(encoding="utf-8"), source, site)
    ):
        path = (DOCS / site).parent / link
        made = path.resolve().relative_to(DOCS).as_posix()
        assert (DOCS / made).exists() or made.startswith("auto/") or made in elsewhere.COPIED.values(), link


def test_make_docs_has_no_warnings():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--fail-on-warning" in makefile.partition("\ndocs:")[2].partition("\n\n")[0]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx_gallery", reason="the site's tools are not installed: make docs")
    for folder in ("docs", "examples", "benchmarks", "studies"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    target = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(tmp_path / "docs"), str(target)]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    for one in reference.all_public_names():
        assert (target / f"{one.page}.html").exists()
    for script in SCRIPTS:
        assert (target / "auto" / script.relative_to(DOCS).with_suffix(".html")).exists()
    assert "first-picture" in (target / "counting.html").read_text(encoding="utf-8")


def test_statements_name_figures_of_their_study():
    """Else the table of figures would not have them: what is said of CIFAR-10 stands in another figure."""
    claims = {study: set(names) for study, names in results._written("REPEATS")}
    for runs in results.book().values():
        for run in runs:
            for statement, place, *_ in results._statements(run):
                named = set(results.named(place))
                assert not named or named & claims[run["name"]], (run["name"], statement, place)
