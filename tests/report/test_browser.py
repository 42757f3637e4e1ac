"""The page in a real browser: nothing fails to load or run, every picture shows something, dark mode and print work."""

import re
from types import SimpleNamespace

import pytest

from reluscope.report import write_report


@pytest.fixture(scope="module")
def report(demo_report, tmp_path_factory):
    path = write_report(demo_report, tmp_path_factory.mktemp("report"))
    return SimpleNamespace(path=path, sections=demo_report.sections)


@pytest.fixture(scope="module", params=[pytest.param("light", marks=pytest.mark.slow), "dark"])
def opened(request, browser, report):
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1200, "height": 900})
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:")) else complaints.append(request.url),
    )
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(report.path.as_uri())
    folded = page.evaluate("document.querySelectorAll('main details:not([open])').length")
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    yield SimpleNamespace(page=page, complaints=complaints, scheme=request.param, folded=folded)
    context.close()


def test_nothing_fails_and_nothing_comes_from_outside(opened):
    assert opened.complaints == []
    assert opened.page.title() == "demo network on digits (test part): a reluscope report"


def test_sections_are_a_line_or_an_answer_with_its_picture_and_the_rest_is_folded(opened, report):
    assert opened.folded == len(report.sections) + 3  # methods, words, sources
    answers = opened.page.evaluate("() => [...document.querySelectorAll('main .answer')].map(one => one.textContent)")
    assert answers == [section.content.sentences[0].text for section in report.sections]


def test_the_first_screen_has_a_picture_sentences_and_five_numbers(browser, report):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(report.path.as_uri())
    ends = page.evaluate("""() => ['header svg', '.told p:last-of-type', 'dl.glance > div:last-child']
        .map(which => document.querySelector(which).getBoundingClientRect().bottom)""")
    assert max(ends) <= 900
    assert page.evaluate("document.querySelectorAll('dl.glance > div').length") == 5
    assert 4 <= page.evaluate("document.querySelectorAll('.told p').length") <= 6
    page.close()


def test_every_picture_shows_something(opened):
    sizes = opened.page.evaluate("""() => [...document.querySelectorAll('svg')].map(svg => {
        const box = svg.getBoundingClientRect();
        const count = selector => svg.querySelectorAll(selector).length;
        return [box.width, box.height, count('path, image, use'), count('text')];
    })""")
    assert len(sizes) >= 4
    for width, height, marks, texts in sizes:
        assert min(width, height) > 40
        assert marks > 3
        assert texts > 1
    broken = "() => [...document.images].filter(image => !image.complete || !image.naturalWidth).length"
    assert opened.page.evaluate(broken) == 0


def test_links_lead_somewhere_and_sections_are_listed(opened, report):
    dead = opened.page.evaluate("""() => [...document.querySelectorAll('a[href^="#"]')]
        .map(link => link.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))""")
    assert dead == []
    listed = opened.page.evaluate("() => [...document.querySelectorAll('nav a')].map(link => link.textContent)")
    assert listed[: len(report.sections)] == [section.title for section in report.sections]


def test_text_can_be_read_on_its_ground(opened):
    """The contrast of text to the page is at least 4.5 to 1, labels on the ground of pictures included."""
    worst = opened.page.evaluate("""() => {
        const luminance = text => {
            const [r, g, b] = text.match(/[\\d.]+/g).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = luminance(getComputedStyle(document.body).backgroundColor);
        const contrast = color => {
            const l = luminance(color);
            return (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05);
        };
        const found = [];
        const add = (element, color) => found.push([contrast(color), element.textContent.trim().slice(0, 40)]);
        for (const element of document.querySelectorAll('p, td, th, dt, dd, li, figcaption, h1, h2, summary'))
            if (element.textContent.trim()) add(element, getComputedStyle(element).color);
        for (const element of document.querySelectorAll('svg text'))
            if (element.matches('[style*="currentColor"]')) add(element, getComputedStyle(element).fill);
        return found.filter(entry => entry[0] < 4.5).slice(0, 5);
    }""")
    assert worst == []


def test_nothing_is_wider_than_a_telephone(browser, report):
    page = browser.new_context(viewport={"width": 380, "height": 800}).new_page()
    page.goto(report.path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.close()


def test_the_page_prints(browser, report):
    page = browser.new_context().new_page()
    page.goto(report.path.as_uri())
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12, (
        "what is told is printed, and the methods, on 12 pages at most"
    )
    page.close()


def test_the_page_is_small(report):
    assert report.path.stat().st_size < 5 * 2**20
