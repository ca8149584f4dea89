"""A page as HTML that needs nothing from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable

from discreet._page import bar_html, escape_html, table_html
from discreet.report.card_shapes import draw_shapes
from discreet.report.page import (
    Alarm,
    Block,
    BudgetBar,
    CurveBlock,
    Headline,
    Items,
    Lead,
    Page,
    Paragraph,
    Particulars,
    Quotation,
    Section,
    ShapesBlock,
    Signature,
    TableBlock,
)
from discreet.report.tradeoff import Tradeoff

LONG = 14
"""A table with more rows than this is folded away."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #55606e; --paper: #ffffff;
  --panel: #f3f5f8; --rule: #d5dae1; --accent: #1f5fbf; --shade: #1f5fbf1f; --alarm: #b00020; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a7b0bd; --paper: #14181e;
  --panel: #1e242c; --rule: #39424e; --accent: #86b6ff; --shade: #86b6ff2e; --alarm: #d32f45; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1.1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; padding-top: 0.9rem;
  border-top: 1px solid var(--rule); }
p, li { overflow-wrap: anywhere; }
.alarm { background: var(--alarm); color: #ffffff; font-size: 1.5rem; font-weight: 700;
  line-height: 1.3; padding: 1rem 1.2rem; border-radius: 0.4rem; margin: 1rem 0; }
.headline { display: flex; flex-wrap: wrap; gap: 0.8rem; margin: 1rem 0; }
.headline div { background: var(--panel); border-radius: 0.5rem; padding: 0.7rem 1rem;
  flex: 1 1 8rem; display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.headline dt { color: var(--soft); font-size: 0.9rem; line-height: 1.35; }
.headline dd { margin: 0; font-size: 1.6rem; font-weight: 650; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.95rem; }
caption { text-align: left; color: var(--soft); font-size: 0.9rem; padding-bottom: 0.3rem; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.9rem 0.35rem 0;
  border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; min-width: 4.5rem; }
thead th { color: var(--soft); font-weight: 600; overflow-wrap: break-word; }
tbody th { font-weight: 500; overflow-wrap: break-word; min-width: 6.5rem; }
summary { cursor: pointer; color: var(--accent); }
summary h2 { display: inline; border: 0; padding: 0; margin: 0; }
section > details { margin-top: 1.4rem; padding-top: 0.9rem; border-top: 1px solid var(--rule); }
.lead { font-size: 1.2rem; line-height: 1.4; font-weight: 600; }
.particulars { margin: 0 0 1rem; border-left: 4px solid #0b7a75; padding-left: 0.9rem; }
.particulars div { display: flex; gap: 0.7rem; }
.particulars dt { color: var(--soft); min-width: 6rem; }
.particulars dd { margin: 0; overflow-wrap: anywhere; }
.signature { display: flex; flex-wrap: wrap; gap: 1.6rem; margin: 4.2rem 0 1.5rem; }
.signature div { flex: 1 1 9rem; border-top: 1px solid var(--ink); padding-top: 0.2rem;
  color: var(--soft); font-size: 0.85rem; }
pre { background: var(--panel); padding: 0.9rem 1rem; border-radius: 0.4rem; font-size: 0.85rem;
  line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figcaption { color: var(--soft); font-size: 0.9rem; }
svg { display: block; width: 100%; max-width: 27rem; height: auto; margin: 0 auto 0.5rem; }
svg text { fill: var(--ink); font-size: 14px; }
svg .tick, svg .note { fill: var(--soft); font-size: 12px; }
svg .frame { fill: none; stroke: var(--rule); }
svg .impossible { fill: var(--shade); stroke: none; }
svg .curve { fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linejoin: round; }
svg .blind { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 6 5; }
.shapes { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: 0.9rem; }
.shapes figure { margin: 0; break-inside: avoid; }
.shapes figcaption b { color: var(--ink); }
.shapes svg .tick { font-size: 11px; }
.shapes .empty { fill: var(--rule); opacity: 0.6; }
.shapes .marginal { fill: var(--soft); opacity: 0.45; }
.shapes .level { fill: var(--accent); }
@page { size: A4; margin: 16mm 18mm; }
@media print {
  :root { color-scheme: light; --ink: #000000; --soft: #444444; --paper: #ffffff;
    --panel: #ffffff; --rule: #b5b5b5; --accent: #1f5fbf; }
  html { font-size: 9.5pt; }
  body { line-height: 1.4; }
  main { max-width: none; padding: 0; }
  h2 { margin: 1rem 0 0.3rem; padding-top: 0.5rem; break-after: avoid; }
  section > details { margin-top: 0.5rem; padding-top: 0.4rem; }
  .headline div { border: 1px solid var(--rule); }
  .signature { margin: 24mm 0 6mm; break-inside: avoid; }
  figure, table, li { break-inside: avoid; }
  details:not([open]) summary::after { content: " (folded: see the page itself)";
    color: var(--soft); font-size: 0.85rem; }
}
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(page: Page) -> str:
    """Return one HTML page: no script, and nothing fetched from anywhere."""
    title = escape_html(page.title)
    body = "\n".join([*map(_render_block, page.opening), *map(_render_section, page.sections)])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _render_section(section: Section) -> str:
    blocks = "\n".join(map(_render_block, section.blocks))
    title = f"<h2>{escape_html(section.title)}</h2>"
    if not section.is_detail:
        return f"<section>\n{title}\n{blocks}\n</section>"
    folded = f"<details>\n<summary>{title}</summary>\n{blocks}\n</details>"
    return f"<section>\n{folded}\n</section>"


def _render_block(block: Block) -> str:
    match block:
        case Alarm(text):
            return f'<p class="alarm" role="alert">{escape_html(text)}</p>'
        case Paragraph(text):
            return f"<p>{escape_html(text)}</p>"
        case Lead(text):
            return f'<p class="lead">{escape_html(text)}</p>'
        case Particulars(pairs):
            return _render_pairs("particulars", pairs)
        case BudgetBar(share, words):
            caption = f"<figcaption>{escape_html(words)}</figcaption>"
            return f"<figure>{bar_html(share, words)}{caption}</figure>"
        case Signature(lines):
            boxes = "".join(f"<div>{escape_html(line)}</div>" for line in lines)
            return f'<div class="signature">{boxes}</div>'
        case Headline(numbers):
            return _render_pairs("headline", ((what, number) for number, what in numbers))
        case Items(items):
            listed = (
                f"<li><strong>{escape_html(a)}</strong> {escape_html(b)}</li>" for a, b in items
            )
            return f"<ul>{''.join(listed)}</ul>"
        case TableBlock():
            return _render_table(block)
        case Quotation(text):
            return f"<pre>{escape_html(text)}</pre>"
        case CurveBlock(tradeoff, words):
            shown = draw_tradeoff(tradeoff, words)
            return f"<figure>{shown}<figcaption>{escape_html(words)}</figcaption></figure>"
        case ShapesBlock(shapes, words):
            return f"<p>{escape_html(words)}</p>{draw_shapes(list(shapes))}"


def _render_pairs(kind: str, pairs: Iterable[tuple[str, str]]) -> str:
    listed = (f"<div><dt>{escape_html(a)}</dt><dd>{escape_html(b)}</dd></div>" for a, b in pairs)
    return f'<dl class="{kind}">{"".join(listed)}</dl>'


def _render_table(table: TableBlock) -> str:
    shown = table_html(table.caption, table.header, table.rows)
    whole = f'<div class="wide">{shown}</div>'
    if len(table.rows) <= LONG:
        return whole
    summary = f"{escape_html(table.caption)} ({len(table.rows)})"
    return f"<details><summary>{summary}</summary>{whole}</details>"


LEFT, TOP, SIDE = 62.0, 14.0, 300.0
WIDTH, HEIGHT = 384, 372
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_tradeoff(curve: Tradeoff, words: str) -> str:
    """Return SVG of the curve; its title and description serve readers who cannot see it."""
    corners = list(zip(curve.alarms, curve.least_misses, strict=True))
    line = " ".join(f"{_x(alarms)},{_y(misses)}" for alarms, misses in corners)
    floor = f"{_x(0)},{_y(0)} {line} {_x(1)},{_y(0)}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="curve-title curve-desc">'
        '<title id="curve-title">Trade-off curve: misses against false alarms</title>'
        f'<desc id="curve-desc">{escape_html(words)}</desc>'
        f'<polygon class="impossible" points="{floor}"/>'
        f"{_axes()}"
        f'<line class="blind" x1="{_x(0)}" y1="{_y(1)}" x2="{_x(1)}" y2="{_y(0)}"/>'
        f'<polyline class="curve" points="{line}"/>'
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.93)}" text-anchor="end">'
        "dashed: blind guessing</text>"
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.86)}" text-anchor="end">'
        "line: the best attacker</text>"
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.79)}" text-anchor="end">'
        "shaded: no attack gets here</text>"
        "</svg>"
    )


def _axes() -> str:
    parts = [
        f'<rect class="frame" x="{_x(0)}" y="{_y(1)}" width="{SIDE:g}" height="{SIDE:g}"/>',
        f'<text x="{_x(0.5)}" y="{HEIGHT - 8}" text-anchor="middle">false alarms</text>',
        f'<text transform="translate(16 {_y(0.5)}) rotate(-90)" text-anchor="middle">misses</text>',
    ]
    for tick in TICKS:
        percent = f"{100 * tick:.0f} %"
        parts.append(
            f'<text class="tick" x="{_x(tick)}" y="{TOP + SIDE + 17:g}" text-anchor="middle">'
            f"{percent}</text>"
            f'<text class="tick" x="{LEFT - 7:g}" y="{float(_y(tick)) + 4:g}" text-anchor="end">'
            f"{percent}</text>"
        )
    return "".join(parts)


def _x(share: float) -> str:
    return f"{LEFT + SIDE * share:.3f}"


def _y(share: float) -> str:
    """Return a height, rounded downwards: no drawn bound is above the true one."""
    return f"{math.ceil(1000 * (TOP + SIDE * (1 - share))) / 1000:.3f}"
