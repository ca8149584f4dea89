"""Shapes of additive models on cards: pictures of released numbers, and what is refused."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from discreet import AdditiveClassifier
from discreet.errors import InputError, InputTypeError
from discreet.report import Card, card
from discreet.report.card_shapes import HEIGHT, LETTER, draw_shapes, list_empty

GENERATOR = np.random.default_rng(0)
AGE, WARD = GENERATOR.uniform(20, 80, 4000), GENERATOR.choice(["a", "b & <c>"], 4000)
X = np.column_stack([AGE, WARD]).astype(object)
Y = np.where(abs(AGE - 50) + 10 * (WARD == "a") > 20, "ill", "well")
COLUMNS = [(18, 146), ["a", "b & <c>", "never"]]
MODEL = AdditiveClassifier(columns=COLUMNS, classes=["ill", "well"]).fit(X, Y)
SHOWN = card(MODEL.release_, shapes=MODEL.shapes_)


def test_a_card_draws_a_picture_of_each_column_the_most_important_first():
    shapes = SHOWN.document["shapes"]
    assert [shape["column"] for shape in shapes] == list(MODEL.importance_)
    pictures = re.findall(r"<svg.*?</svg>", SHOWN.html(), re.DOTALL)[:2]
    drawn = [ET.fromstring(picture) for picture in pictures]
    drawn.sort(key=lambda picture: len(picture.findall("circle")))
    assert len(drawn[0].find("polyline[@class='curve']").get("points").split()) == 64
    assert len(drawn[1].findall("circle")) == 3
    assert len(drawn[1].findall("rect[@class='empty']")) <= 1
    assert "| x0 |" in SHOWN.markdown()


def test_a_level_that_nobody_has_moves_no_scale():
    shape = {"column": "ward", "importance": 1.0, "ends": None, "levels": ["a", "b", "never"]}
    shape |= {"values": [-1.0, 1.0, 50.0], "shares": [0.5, 0.5, 0.0], "missing": None}
    ticks = [text.text for text in ET.fromstring(draw_shapes([shape])).iter("text")]
    assert ticks[:3] == ["+1", "-1", "0"]


def draw(levels):
    """Return the picture, and its caption, of a category with these levels."""
    count = len(levels)
    shape = {"column": "ward", "importance": 1.0, "ends": None, "levels": list(levels)}
    shape |= {
        "values": [-1.0, *[0.5] * (count - 1)],
        "shares": [1 / count] * count,
        "missing": None,
    }
    figure = ET.fromstring(draw_shapes([shape]).replace("<br>", "<br/>"))[0]
    return figure.find("svg"), "".join(figure.find("figcaption").itertext())


LEVELS = {
    "short": (["home", "home with care", "nursing home"], True),
    "in two rows": (["surgery", "medicine", "cardiology", "oncology"], True),
    "long": (["cardiology and heart surgery"] * 5, False),
    "many": ([f"ward {number}" for number in range(30)], False),
}


@pytest.mark.parametrize("case", LEVELS)
def test_every_level_is_named_within_the_picture_or_beside_its_name(case):
    levels, is_beneath = LEVELS[case]
    picture, caption = draw(levels)
    words = [text for text in picture.iter("text") if float(text.get("y")) > HEIGHT]
    _, _, width, height = map(float, picture.get("viewBox").split())
    rows = dict[float, list[tuple[float, float]]]()
    for text in words:
        middle, half = float(text.get("x")), len(text.text) * LETTER / 2
        rows.setdefault(float(text.get("y")), []).append((middle - half, middle + half))
    for y, spans in rows.items():
        assert (min(spans)[0] >= 0, max(spans)[1] <= width, y <= height) == (True, True, True)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(sorted(spans)))
    named = " ".join(text.text for text in words) if is_beneath else caption
    assert all(word in named for level in levels for word in level.split())


def test_wide_gaps_without_data_are_shaded_and_a_comb_of_whole_numbers_is_not():
    comb = {"levels": None, "shares": [0.0] * 5 + [0.2, 0.0, 0.0] * 4 + [0.0] * 3 + [0.2]}
    assert list_empty(comb) == [(0, 5), (15, 20)]
    assert list_empty({**comb, "levels": ["a"]})[1] == (6, 8)


def test_what_is_drawn_is_what_was_released():
    found = {shape["column"]: shape for shape in SHOWN.document["shapes"]}
    age, ward = found["x0"], found["x1"]
    values = MODEL.shapes_["x0"].values
    slack = 1e-3 * max(abs(values))  # four digits are kept
    assert min(values) - slack <= min(age["values"]) <= max(age["values"]) <= max(values) + slack
    np.testing.assert_allclose(ward["values"], MODEL.shapes_["x1"].values, rtol=1e-3)
    assert age["ends"] == [18.0, 146.0]
    assert ward["levels"] == ["a", "b & <c>", "never"]
    assert Card.from_json(SHOWN.to_json()) == SHOWN


def test_a_card_without_shapes_says_nothing_of_them():
    plain = card(MODEL.release_)
    assert "shapes" not in plain.document
    assert "looks like" not in plain.markdown()


@pytest.mark.parametrize(
    "change",
    [
        lambda shape: shape["values"].pop(),
        lambda shape: shape.update(ends=[5.0, 1.0]),
        lambda shape: shape.update(levels=["a"]),
    ],
    ids=["a value less", "no range", "both"],
)
def test_a_card_whose_shapes_do_not_agree_is_refused(change):
    document = SHOWN.document
    change(document["shapes"][0])
    with pytest.raises(InputError, match="shape on this card"):
        Card.from_json(json.dumps(document))


def test_what_is_no_shape_is_refused():
    with pytest.raises(InputTypeError, match=r"model\.shapes_"):
        card(MODEL.release_, shapes={"age": 3})


def test_curves_of_three_classes_are_not_drawn():
    many = AdditiveClassifier(columns=COLUMNS).fit(X, np.digitize(AGE, [40, 60]))
    with pytest.raises(InputError, match="one curve for each column"):
        card(many.release_, shapes=many.shapes_)
