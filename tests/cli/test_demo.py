"""The demonstration runs anywhere, says what it promises, and ends with a refusal."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys

import pytest

from discreet._progress import Progress
from discreet.cli import demonstration
from discreet.cli.accuracy_curve import AccuracyCurve, Spread, save_plot, spread
from discreet.cli.demonstration import draw_strip, print_title

SMALL = {"patients": 1000, "epsilons": (0.1, 0.3), "repeats": 2}


class Terminal:
    """A tty that keeps what is written to it."""

    def __init__(self, encoding="utf-8"):
        self.encoding = encoding
        self.text = ""

    def write(self, text):
        text.encode(self.encoding)
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.fixture
def no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)


@pytest.fixture
def curve():
    return AccuracyCurve((0.1, 1.0), ((0.6, 0.7, 0.8), (0.74, 0.75, 0.76)), 0.76, 0.6, 1000, 1e-6)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_runs_without_a_terminal(tmp_path, encoding):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            f"from discreet.cli.demonstration import main; main(**{SMALL})",
        ],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        timeout=1800,
        check=True,
    )
    text = done.stdout.decode(encoding)
    words = " ".join(text.split())
    assert "Whatever anyone already knows or will learn, adding or removing one record" in words
    assert "(epsilon = 0.5, delta = 1e-07)" in words
    assert "nobody in the table exists" in words
    assert "you would fit once" in words
    assert "budget left" in text
    assert "where least and where most" in words
    assert "Refused: the budget (epsilon = 1" in words
    assert "\r" not in text.replace(os.linesep, "\n")
    assert max(map(len, text.splitlines())) <= max(78, 4 + len(str(tmp_path / demonstration.COST)))
    assert ("█" in text) == (encoding == "utf-8")


def test_on_a_terminal_a_bar_counts_the_fits_and_goes_away(tmp_path, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    demonstration.main(**SMALL, folder=tmp_path)
    assert "1 of 4 fits  about" in terminal.text
    assert "4 of 4 fits" in terminal.text
    left = [line.rsplit("\r", 1)[-1] for line in terminal.text.split("\n")]
    assert not any("fits  about" in line for line in left)
    assert max(len(line) for line in left if str(tmp_path) not in line) <= 78


PIXELS = {"discreet-demo.png": (957, 1188), "discreet-demo-cost.png": (750, 1200)}


def test_it_saves_pictures_that_can_be_read_of_shapes_and_of_what_privacy_costs(tmp_path, capsys):
    image = pytest.importorskip("matplotlib.image")
    demonstration.main(**SMALL, folder=tmp_path)
    printed = capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == set(PIXELS)
    for path in tmp_path.iterdir():
        assert f"{path}\n" in printed
        pixels = image.imread(path)
        assert pixels.shape[:2] == PIXELS[path.name]
        assert pixels.std() > 0.05


def test_without_matplotlib_it_says_so_kindly_and_goes_on(tmp_path, capsys, no_matplotlib):
    demonstration.main(**SMALL, folder=tmp_path)
    words = " ".join(capsys.readouterr().out.split())
    assert words.count("The plot is skipped, because matplotlib is not installed") == 2
    assert "pip install 'discreet[plot]'" in words
    assert "Refused: the budget" in words
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_only_costs_the_picture(tmp_path, capsys, curve):
    pytest.importorskip("matplotlib")
    demonstration._draw(lambda path: save_plot(curve, path), tmp_path / "missing" / "curve.png")
    words = " ".join(capsys.readouterr().out.split())
    assert "it cannot be written here: No such file or directory." in words


def test_the_command_shows_it(monkeypatch):
    calls = []
    monkeypatch.setattr(demonstration, "main", lambda **options: calls.append(options))
    monkeypatch.setattr(sys, "argv", ["discreet", "demo"])
    with pytest.raises(SystemExit):
        runpy.run_module("discreet", run_name="__main__")
    assert calls == [{"patients": demonstration.PATIENTS}]


def test_four_fits_out_of_five_lie_in_the_band():
    assert spread([i / 100 for i in range(101)]) == Spread(0.1, 0.5, 0.9)


def test_a_strip_shows_band_middle_and_marks_at_their_places(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal("ascii"))
    drawn = draw_strip(Spread(0.1, 0.2, 0.4), start=0.0, stop=2.9, marks=(0.0, 2.9))
    assert drawn == ":=O==" + " " * 24 + ":"


def test_a_strip_stays_within_its_width(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal("ascii"))
    drawn = draw_strip(Spread(-5.0, 0.5, 5.0), start=0.0, stop=1.0, marks=())
    assert len(drawn) == 30
    assert set(drawn) == {"=", "O"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_nothing_is_printed_that_the_terminal_cannot_show(monkeypatch, encoding):
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    print_title("A heading")
    with Progress(1, "fits") as progress:
        progress.step()
        progress.line(draw_strip(Spread(0.1, 0.2, 0.3), start=0.0, stop=1.0, marks=(0.5,)))
    assert "A heading" in terminal.text
