"""Cards: what they carry, what they refuse, and how they are written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from discreet import Bounds, Budget, GaussianSum, LinearClassifier, MemoryLedger, Rows, VectorMean
from discreet.compat.diffprivlib import BudgetAccountant
from discreet.errors import InputError, InputTypeError, RehearsalWarning
from discreet.gate import release
from discreet.geometry import Box
from discreet.ledger import Ledger, NoLedger
from discreet.mechanisms import REGISTRY, PrivateCount
from discreet.noise import RehearsalNoise
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, Gaussian, Guarantee, Pure
from discreet.privacy.guarantee import in_three_digits
from discreet.questions import RowCount
from discreet.record import Fact, Origin, Release
from discreet.report import Card, card, theorem_of
from discreet.report.json_schema import card_schema, validate
from discreet.report.markdown import escape_markdown

ROOT = Path(__file__).parents[2]
BOUNDS = Bounds(Box([0, 0], [120, 250]), n_features=2)
MARKUP = (
    '<script>alert("x")</script> & [a](javascript:b) | `c` **d** \u202e\x00 http://evil.example'
)


def mean(**options):
    rows = Rows(np.full((50, 2), [47.0, 71.0]), bounds=BOUNDS)
    return release(GaussianSum(), VectorMean(BOUNDS), rows, budget=Budget(1.0, 1e-6), **options)


@pytest.fixture(scope="module")
def plain():
    return card(mean())


@pytest.fixture(scope="module")
def hostile():
    """A card in which every text that somebody else chooses is markup."""
    guarantee = Guarantee(Pure(1.0), AddRemoveOne(), (MARKUP,))
    facts = (Fact(MARKUP, MARKUP, Origin.DECLARED),)
    made = Release(
        1, guarantee, "private_count", 3, MARKUP, MARKUP, MARKUP, facts, MARKUP, ledger=MARKUP
    )
    return card(made, about=dict.fromkeys(("title", "description", "protects", "contact"), MARKUP))


class Tags(HTMLParser):
    """The tags of a page, their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.words.append(data)


def test_a_card_survives_its_text(plain):
    assert Card.from_json(plain.to_json()) == plain


def test_a_card_carries_what_the_release_says():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    made = mean(ledger=ledger, purpose="a mean")
    document = card(made, ledger=ledger, about={"protects": "one patient"}).document
    assert document["guarantee"] == json.loads(made.guarantee.to_json())
    assert document["mechanism"]["name"] == "gaussian_sum"
    assert document["mechanism"]["purpose"] == "a mean"
    assert document["mechanism"]["statement"] == theorem_of("gaussian_sum").statement
    assert document["ledger"]["identity"] == ledger.identity == made.ledger
    account = document["ledger"]["account"]
    assert (account["state"], account["budget"]) == ("released", {"epsilon": 2.0, "delta": 1e-5})
    assert account["remaining"] == ledger.remaining()
    assert account["spent"] == pytest.approx(1.0, rel=1e-6)
    assert document["certificate"]["distance"] == made.guarantee.profile.distance > 0
    assert {fact["what"]: fact["source"] for fact in document["facts"]} == {
        "features": "declared by the caller",
        "columns": "declared by the caller",
        "records": "default of the library",
    }
    assert set(document["versions"]) == {"discreet", "python", "numpy", "scipy"}
    assert "AES-256" in document["noise"]["source"]


def test_found_classes_are_marked_as_read_from_the_data():
    generator = np.random.default_rng(0)
    age = generator.uniform(20, 80, size=400)
    X = np.column_stack([age, np.where(age > 50, "a", "b")]).astype(object)
    y = np.where(age > 60, "ill", "well")
    columns = {"columns": [Numeric(18, 100), Category(["a", "b"])], "delta": 0.0}
    found = {
        fact.what: fact
        for fact in LinearClassifier(**columns, data_norm=1.0).fit(X, y).release_.facts
    }
    assert found["labels"].source is Origin.FOUND
    assert "ill" not in found["labels"].words
    assert found["column 1"].words == "numbers from 18 to 100"
    declared = (
        LinearClassifier(**columns, classes=["ill", "well"], data_norm=1.0).fit(X, y).release_
    )
    facts = {fact.what: fact for fact in declared.facts}
    assert (facts["labels"].words, facts["labels"].source) == (
        "one of ill, well",
        Origin.DECLARED,
    )


def test_what_nobody_declared_is_called_a_default():
    generator = np.random.default_rng(0)
    X, y = generator.uniform(size=(50, 1)), generator.integers(0, 2, 50)
    options = {"columns": [Numeric(0, 1)], "classes": [0, 1], "delta": 0.0}
    sources = {}
    for most in ({}, {"max_rows": 1000}):
        facts = LinearClassifier(**options, **most).fit(X, y).release_.facts
        (sources[len(most)],) = [fact for fact in facts if fact.what == "records"]
    assert sources[0].source is Origin.DEFAULT
    assert "8,388,608" in sources[0].words
    assert sources[1].source is Origin.DECLARED


def test_one_patient_is_promised_only_if_somebody_says_how_many_records_that_is():
    made, patients = mean(), {"protects": "one patient"}
    alone = card(made, about=patients)
    assert "no more than one record is promised here" in alone.markdown()
    assert "one record, which the data owner says" not in alone.markdown()
    same = card(made, about=patients | {"rows_per_person": 1})
    assert "one record, which the data owner says is one patient" in same.markdown()
    assert same.document["numbers"] == alone.document["numbers"]


def test_several_records_of_one_patient_are_the_headline():
    made = mean()
    shown = card(made, about={"protects": "one patient", "rows_per_person": 3})
    (group,) = [one for one in shown.document["numbers"]["groups"] if one["size"] == 3]
    mu = made.guarantee.profile.ideal.mu
    assert group["epsilon"] == pytest.approx(Gaussian(3 * mu).epsilon(1e-6), rel=1e-6)
    said = shown.markdown()
    top = said[: said.index("##")]
    assert "3 records together (the data owner says that one patient has at most so many)" in top
    assert "epsilon for 3 records together" in top
    assert in_three_digits(group["epsilon"]) in top
    assert "| 1 | epsilon" not in top
    document = shown.document
    document["numbers"]["groups"] = [
        one for one in document["numbers"]["groups"] if one["size"] != 3
    ]
    with pytest.raises(InputError, match="words of this card do not agree"):
        Card.from_json(json.dumps(document))


def of_unit(unit, **about):
    promise = Guarantee(Gaussian(0.2), unit, quoted_delta=1e-6)
    return card(Release(1.0, promise, "gaussian_sum", 0, "0.1"), about=about)


@pytest.mark.parametrize("unit", ["add_remove_person", "replace_person"])
@pytest.mark.parametrize("named", [{}, {"protects": "one patient"}])
def test_a_headline_speaks_of_a_person_if_the_unit_is_one(unit, named):
    shown = of_unit(unit, **named)
    said = shown.markdown()
    top = said[: said.index("##")]
    assert f"all records of {named.get('protects', 'one person')}" in top
    assert in_three_digits(Gaussian(0.2).epsilon(1e-6)) in top
    assert "People who share an id, and one person under two ids, are not what" in said
    assert Card.from_json(shown.to_json()) == shown
    assert "one record" not in top
    for of_a_record in ("Someone with several", "| records |", "repeated entries"):
        assert of_a_record not in said  # no epsilon of a record beside that of a person
    assert "| persons | epsilon |" in said


@pytest.mark.parametrize("unit", ["add_remove", "replace", "zero_out"])
@pytest.mark.parametrize("rows", [None, 1, 3])
def test_where_the_unit_is_a_record_the_headline_speaks_of_records(unit, rows):
    said = of_unit(unit, protects="one patient", rows_per_person=rows).markdown()
    protected = said.splitlines()[4]
    assert re.match(r"\* \*\*Protected:\*\* (one record|3 records together)", protected)
    table = said[said.index("Someone with several records") :].split("\n\n")[1]
    shown = [line.split(" | ")[0].strip("| ") for line in table.splitlines()[2:]]
    assert shown == ["1", "2", *(["3"] if rows == 3 else []), "5", "10"]
    assert "nothing is promised beyond, to whoever has more" in said
    assert ("with how many records, is not protected" in said) == (unit == "replace")


def test_a_number_of_records_has_no_place_where_the_unit_is_a_person():
    with pytest.raises(InputError, match="protects all records of a person"):
        of_unit("add_remove_person", rows_per_person=3)


@pytest.mark.parametrize("rows", [0, 1.5, "one", 5000])
def test_a_number_of_records_is_one(rows):
    with pytest.raises((InputError, InputTypeError), match="rows_per_person"):
        card(mean(), about={"rows_per_person": rows})


def test_a_replaced_record_makes_the_number_of_records_public():
    rows = Rows(np.full((50, 2), 7.0), bounds=BOUNDS, unit="replace")
    made = release(GaussianSum(), VectorMean(BOUNDS), rows, budget=Budget(1.0, 1e-6))
    (records,) = [fact for fact in made.facts if fact.what == "records"]
    assert records.source is Origin.FOUND


def test_a_ledger_with_the_same_first_charge_is_refused(tmp_path):
    first, second = (
        Ledger.create(tmp_path / name, Budget(epsilon, 1e-5))
        for name, epsilon in (("a.db", 2.0), ("b.db", 50.0))
    )
    releases = [mean(ledger=ledger) for ledger in (first, second)]
    card(releases[0], ledger=first)
    with pytest.raises(InputError, match="show the ledger that paid"):
        card(releases[0], ledger=second)


def test_a_card_speaks_of_the_part_that_was_charged(tmp_path):
    ledger = Ledger.create(tmp_path / "a.db", Budget(2.0, 1e-5), parts=["north", "south"])
    mean(ledger=ledger.for_part("south"))
    made = mean(ledger=ledger.for_part("north"))
    account = json.loads(card(made, ledger=ledger).to_json())["ledger"]["account"]
    assert account["part"] == "north"
    assert account["spent"] == ledger.for_part("north").spent(account["delta"])
    assert account["spent_in_all"] <= account["spent"]


def test_what_cannot_be_bounded_is_not_called_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "a.db", Budget(2.0, 1e-5))
    mean(ledger=ledger)
    rows = Rows(np.ones((9, 2)), bounds=BOUNDS)
    pure = release(PrivateCount(), RowCount(BOUNDS), rows, budget=Budget(0.5), ledger=ledger)
    said = card(pure, ledger=ledger).markdown()
    assert "together come to no bound at delta 0, and to epsilon" in said


def test_another_ledger_is_refused():
    ledger, other = MemoryLedger(Budget(2.0, 1e-5)), MemoryLedger(Budget(2.0, 1e-5))
    made = mean(ledger=ledger)
    with pytest.raises(InputError, match="no charge number 1"):
        card(made, ledger=other)
    with pytest.raises(InputError, match="not paid for"):
        card(mean(), ledger=ledger)
    with pytest.raises(InputError, match="not paid for"):
        card(mean(), ledger=NoLedger())


def test_a_rehearsal_says_in_large_letters_that_nothing_is_private():
    with pytest.warns(RehearsalWarning):
        made = mean(noise=RehearsalNoise(1))
    shown = card(made)
    assert made.is_rehearsal
    assert "NOTHING IS PRIVATE" in shown.markdown().splitlines()[2]
    assert shown.markdown().splitlines()[2].startswith("# ")
    assert 'class="alarm"' in shown.html()
    assert "rehearsal" in shown.html()
    assert "What an attacker could still learn" not in shown.html()
    assert Card.from_json(shown.to_json()) == shown


def test_an_infinite_budget_says_so_too():
    rows = Rows(np.full((50, 2), 7.0), bounds=BOUNDS)
    made = release(GaussianSum(), VectorMean(BOUNDS), rows, budget=Budget(float("inf")))
    assert not made.is_rehearsal
    assert "NOTHING IS PRIVATE" in card(made).markdown()
    assert "No privacy was asked for" in card(made).html()


def test_the_page_names_the_numbers(plain):
    for text in (plain.markdown(), plain.html()):
        assert "epsilon = 1, delta = 1e-06" in text
        assert "What an attacker could still learn" in text
        assert "What is not protected" in text
        assert "no ledger" in text.lower()


@pytest.mark.parametrize(
    ("unit", "says", "not_says"),
    [
        ("add_remove", "whether a certain record is in the data", "says one thing or another"),
        ("replace", "says one thing or another", "is in the data can"),
    ],
)
def test_words_are_those_of_the_unit(unit, says, not_says):
    """Under add/remove an exchanged record is two steps away, and no belief about it is bounded."""
    rows = Rows(np.full((50, 2), 7.0), bounds=BOUNDS, unit=unit)
    text = card(
        release(GaussianSum(), VectorMean(BOUNDS), rows, budget=Budget(1.0, 1e-6))
    ).markdown()
    assert says in text
    assert not_says not in text
    assert ("counts as two" in text) == (unit == "add_remove")


def test_the_page_says_what_one_record_is_and_how_many_are_promised(plain):
    page = plain.markdown().replace("\\", "")
    assert "One record means one row as given to fit." in page
    assert "(more are outside the promise)" in page


def test_the_html_fetches_nothing(plain, hostile):
    for page in (plain.html(), hostile.html()):
        tags = Tags(page)
        assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(tags.tags)
        loaders = {"src", "href", "srcset", "data", "action", "xlink:href", "background"}
        assert not {name for _, name, _ in tags.attributes} & loaders
        style = page[page.index("<style>") : page.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style
        assert "default-src 'none'" in page
    assert not re.search(r"https?:", plain.html())


def test_the_page_begins_with_what_a_board_signs_and_folds_the_details(tmp_path):
    ledger = Ledger.create(tmp_path / "a.db", Budget(2.0, 1e-5), dataset="patients")
    shown = card(mean(ledger=ledger), ledger=ledger)
    page = shown.html()
    top, below = page[: page.index("<section>")], page[page.index("<section>") :]
    text = " ".join(Tags(top).words)
    for words in (shown.document["written"][:10], "patients", ledger.allowance().sentence()):
        assert words in text
    assert "Signature" in text
    assert f"width:{100 * ledger.allowance().share:.1f}%" in top
    sections = below.split("<section>")[1:]
    folded = ["<details>\n<summary><h2>" in section for section in sections]
    assert folded == [False, False, False, True, True, True, True, True]
    for section, title in zip(sections, ("is protected", "not protected", "left"), strict=False):
        assert title in section[: section.index("</h2>")]


def test_the_html_is_accessible(plain):
    tags = Tags(plain.html())
    assert ("html", "lang", "en") in tags.attributes
    assert tags.tags.count("h1") == 1
    assert {"title", "desc", "caption", "main", "svg"} <= set(tags.tags)
    scopes = [value for tag, name, value in tags.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == tags.tags.count("th")
    assert ("svg", "role", "img") in tags.attributes
    assert any(name == "viewport" for _, _, name in tags.attributes)


def test_markup_of_others_means_nothing_in_html(hostile):
    page = hostile.html()
    tags = Tags(page)
    assert "<script" not in page
    assert '<script>alert("x")</script>' in "".join(tags.words)  # as text
    assert "\u202e" not in page
    assert "\x00" not in page


def test_markup_of_others_means_nothing_in_markdown(hostile):
    text = hostile.markdown()
    outside = re.sub(r"```+text\n.*?\n```+\n", "", text, flags=re.DOTALL)
    assert "<" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert not re.search(r"(?<!\\)`", outside)
    assert not re.search(r"\w://", outside)
    assert "\u202e" not in text
    for line in outside.splitlines():
        if line.startswith("| "):  # as many cells as the header of any table has
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 5)


def test_a_quotation_cannot_close_its_fence():
    document = card(mean()).document
    document["mechanism"]["statement"] = "```\n\n# free\n\n````"
    text = Card.from_json(json.dumps(document)).markdown()
    assert "\n`````text\n```\n\n# free\n\n````\n`````\n" in text


@pytest.mark.parametrize("start", ["# a", "- a", "+ a", "1. a", "=", "---", "> a", "12) b"])
def test_no_line_starts_a_block(start):
    assert re.match(r"\\|\d+\\|&gt;", escape_markdown(start))


def test_the_validator_agrees_with_jsonschema(plain):
    schema = card_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    judge = jsonschema.Draft202012Validator(schema)
    document = plain.document
    for listed in (document["numbers"]["tradeoff"], document["facts"]):
        del listed[2:]
    assert judge.is_valid(document)
    refused = 0
    for change in changes(document):
        try:
            validate(change, schema)
            is_valid = True
        except InputError:
            is_valid = False
        assert is_valid == judge.is_valid(change), change
        refused += not is_valid
    assert refused > 150


def changes(document):
    """Copies of a document with one part missing, added, or of another type."""

    def walk(part, path):
        yield path
        items = part.items() if isinstance(part, dict) else enumerate(part[:1])
        for name, inner in items:
            if isinstance(inner, dict | list):
                yield from walk(inner, [*path, name])
            else:
                yield [*path, name]

    for path in walk(document, []):
        for wrong in (None, "text", -1, 2.5, {}):
            copied = json.loads(json.dumps(document))
            if not path:
                yield copied | {"more": 1}
                continue
            *way, last = path
            inner = copied
            for step in way:
                inner = inner[step]
            inner[last] = wrong
            yield copied
        copied = json.loads(json.dumps(document))
        inner = copied
        for step in path:
            inner = inner[step]
        if isinstance(inner, dict):
            inner["more"] = 1
            yield copied


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(more=1), "unknown field 'more'"),
        (lambda d: d.pop("noise"), "missing field 'noise'"),
        (lambda d: d.update(version=2), "must be 1"),
        (lambda d: d["about"].update(title=3), "/about/title"),
        (lambda d: d["status"].update(is_private=False), "do not agree"),
        (lambda d: d["status"].update(is_rehearsal=True), "do not agree"),
        (lambda d: d["protection"].update(sentence="All is well."), "do not agree"),
        (lambda d: d["protection"].update(unit="replace"), "do not agree"),
        (lambda d: d["guarantee"]["profile"].update(kind="os.system"), "unknown kind"),
        (lambda d: d["guarantee"]["profile"].update(more=1), "fields"),
        (lambda d: d["numbers"]["quoted"].update(epsilon=0.5), "do not follow"),
    ],
)
def test_a_changed_card_is_refused(plain, change, says):
    document = plain.document
    change(document)
    with pytest.raises(InputError, match=says):
        Card.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "no json", '{"a": NaN}', '{"a":1,"a":1}', "[" * 9999]
)
def test_what_is_no_card_is_refused(text):
    with pytest.raises((InputError, InputTypeError)):
        Card.from_json(text)


def test_every_mechanism_has_a_theorem():
    for mechanism in REGISTRY:
        found = theorem_of(mechanism.name)
        note = (ROOT / "src" / found.note).read_text()
        assert len(found.statement) > 100
        assert found.statement.split("\n\n")[0][:80] in note
        assert "**" not in found.statement
    with pytest.raises(InputError, match="no proof note"):
        theorem_of("../mechanisms/private_count")
    with pytest.raises(InputError, match="no proof note"):
        theorem_of("nothing")


@pytest.mark.parametrize("about", [3, {"titel": "x"}, {"title": 3}])
def test_wrong_words_about_a_release_are_refused(about):
    with pytest.raises((InputError, InputTypeError), match="about"):
        card(mean(), about=about)


def test_a_card_is_written_whole(plain, tmp_path):
    paths = plain.write(tmp_path / "new" / "folder")
    assert sorted(path.name for path in paths) == ["card.html", "card.json", "card.md"]
    assert Card.from_json(paths[0].read_text()) == plain
    plain.write(tmp_path / "new" / "folder")  # again: a card can always be made anew
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(
        path.name for path in paths
    )
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="folder"):
        plain.write(file)


def test_a_failed_write_leaves_nothing(plain, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        plain.write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def described(rule, path=""):
    """Every field of the schema, with its description."""
    for name, inner in rule.get("properties", {}).items():
        yield f"{path}{name}", inner["description"]
        yield from described(inner, f"{path}{name}.")
        items = inner.get("items", {})
        reference = inner.get("$ref", items.get("$ref", "")).rpartition("/")[2]
        if reference:
            items = card_schema()["$defs"][reference]
        yield from described(items, f"{path}{name}[]." if "items" in inner else f"{path}{name}.")


def test_the_page_about_cards_documents_every_field():
    page = (ROOT / "docs" / "card.md").read_text()
    for path, description in described(card_schema()):
        assert f"| `{path}` |" in page, path
        assert description in page, path


def test_a_release_of_the_first_format_has_a_card():
    first = {
        "format": 1,
        "value": 42,
        "value_is_array": False,
        "guarantee": json.loads(Guarantee(Pure(1.0), AddRemoveOne()).to_json()),
        "mechanism": "private_count",
        "receipt_number": 0,
        "version": "0.0.1",
        "reason": "",
    }
    read = Release.from_json(json.dumps(first))
    assert card(read).document["facts"] == []
    assert replace(read, version="").version == ""


def test_a_damaged_card_is_refused_in_words_or_says_no_more_than_its_profile(plain):
    text = plain.to_json()
    start = text.index('"guarantee"')
    generator = np.random.default_rng(2)
    refused = 0
    for place in generator.integers(start, start + 6000, size=60).tolist():
        letter = chr(int(generator.integers(32, 127)))
        damaged = text[:place] + letter + text[place + 1 :]
        try:
            Card.from_json(damaged)
        except (InputError, InputTypeError):
            refused += 1
    for length in generator.integers(0, len(text) - 2, size=20).tolist():
        with pytest.raises((InputError, InputTypeError)):
            Card.from_json(text[:length])
    assert refused > 20


def test_another_accountant_is_refused():
    first, second = (BudgetAccountant(2.0, 1e-5, unit="add_remove") for _ in range(2))
    made = [mean(ledger=accountant.ledger) for accountant in (first, second)]
    card(made[0], ledger=first.ledger)
    with pytest.raises(InputError, match="show the ledger that paid"):
        card(made[0], ledger=second.ledger)
