// The first page: everything that is shown is set as text, never as markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WORDS = {
  released: "released", open: "open", frozen: "frozen", exhausted: "exhausted", up: "up",
};
const NEIGHBOURS = {
  add_remove: "one record more or fewer", replace: "one record replaced",
  add_remove_person: "all records of one person more or fewer",
  replace_person: "all records of one person replaced",
};
const find = (id) => document.getElementById(id);
let key = "";
let model = { columns: [], classes: [], kind: "model", needs_key: true };
let looking = null;

function make(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== null) element.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  return element;
}

function draw(parent, name, attributes, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

function inDigits(number) {
  return Number(number).toLocaleString("en", { maximumSignificantDigits: 4 });
}

async function call(path, options = {}) {
  const headers = { Accept: "application/json", ...(options.headers ?? {}) };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch {
    throw new Error("The service cannot be reached.");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(body?.error?.message ?? `The service says ${response.status}.`);
  return body;
}

function showState(word, kind) {
  find("state").textContent = word;
  find("state").className = `pill ${kind}`;
}

function showPromise(said) {
  find("promise").textContent = said.sentence;
  const pairs = [
    ["epsilon", said.epsilon === null ? "none" : inDigits(said.epsilon)],
    ["delta", said.delta === 0 ? "0" : Number(said.delta).toExponential()],
    ["neighbours", NEIGHBOURS[said.unit] ?? said.unit],
  ];
  find("numbers").replaceChildren(...pairs.map(([name, value]) => {
    const pair = make("div", null);
    pair.append(make("dt", name), make("dd", value));
    return pair;
  }));
}

function field(column, place) {
  const whole = make("div", null);
  const id = `field-${place}`;
  const label = make("label", `${column.name} `, { for: id });
  let input;
  if (column.type === "category") {
    input = make("select", null, { id, required: "" });
    column.levels.forEach((level, number) => input.append(make("option", String(level), { value: String(number) })));
  } else {
    input = make("input", null, { id, type: "number", step: "any", required: "", inputmode: "decimal" });
    if (column.low !== null) {
      label.append(make("span", `${inDigits(column.low)} to ${inDigits(column.high)}`, { class: "note" }));
      input.value = String(Number(((column.low + column.high) / 2).toPrecision(3)));
    }
  }
  input.dataset.column = String(place);
  whole.append(label, input);
  return whole;
}

function readForm() {
  const row = Object.create(null); // a column may have any name, __proto__ too
  model.columns.forEach((column, place) => {
    const input = find(`field-${place}`);
    row[column.name] = column.type === "category" ? column.levels[Number(input.value)] : Number(input.value);
  });
  return row;
}

// As wide as the page allows, so that letters keep their size on a phone.
function chartWidth() {
  return Math.max(260, Math.min(600, find("answer").clientWidth));
}

function chart(height, words) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", `0 0 ${chartWidth()} ${height}`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", words);
  return picture;
}

function drawNoisy(answer) {
  const { value, scale } = answer;
  const words = `The answer ${inDigits(value)}; the noise has a standard deviation of ${inDigits(scale)}.`;
  const picture = chart(130, words);
  const isClass = model.classes.length === 2;
  const ends = [value - 3 * scale, value + 3 * scale, ...(isClass ? [0] : [])];
  const low = Math.min(...ends), span = Math.max(...ends) - low || 1;
  const right = chartWidth() - 24;
  const x = (number) => 24 + (right - 24) * (number - low) / span;
  for (const [name, many] of [["wide-band", 2], ["near-band", 1]]) {
    draw(picture, "rect", { class: name, x: x(value - many * scale), y: 34, height: 42, width: Math.max(1, x(value + many * scale) - x(value - many * scale)) });
  }
  draw(picture, "line", { class: "axis", x1: 24, x2: right, y1: 76, y2: 76 });
  for (const number of [value - 2 * scale, value + 2 * scale]) {
    draw(picture, "text", { class: "soft", x: x(number), y: 96, "text-anchor": "middle" }, inDigits(number));
  }
  draw(picture, "circle", { class: "point", cx: x(value), cy: 55, r: 7 });
  draw(picture, "text", { x: x(value), y: 24, "text-anchor": "middle" }, inDigits(value));
  if (isClass) {
    draw(picture, "line", { class: "edge", x1: x(0), x2: x(0), y1: 28, y2: 84 });
    draw(picture, "text", { class: "soft", x: 24, y: 118 }, `below zero: ${model.classes[0]}`);
    draw(picture, "text", { class: "soft", x: right, y: 118, "text-anchor": "end" }, `above: ${model.classes[1]}`);
  }
  const isFresh = ["answered", "updated"].includes(answer.status);
  return [picture, isFresh
    ? "The shaded bands hold what the private model says with chances of about 68 and 95 in 100."
    : "The shaded bands are once and twice the error that privacy causes at most."];
}

function drawChances(answer) {
  const wide = chartWidth() - 70;
  const words = model.classes.map((label, place) => `${label}: ${inDigits(answer.probabilities[place])}`).join("; ");
  const picture = chart(20 + 40 * model.classes.length, words);
  model.classes.forEach((label, place) => {
    const y = 10 + 40 * place, chance = answer.probabilities[place];
    draw(picture, "text", { x: 0, y: y + 13 }, String(label));
    draw(picture, "rect", { class: "rest", x: 0, y: y + 18, width: wide, height: 10, rx: 3 });
    draw(picture, "rect", { class: "point", x: 0, y: y + 18, width: wide * chance, height: 10, rx: 3 });
    draw(picture, "text", { x: wide + 10, y: y + 28 }, inDigits(chance));
  });
  return [picture, "Probabilities as the released model gives them."];
}

function showAnswer(answer) {
  const place = find("answer");
  const isMissing = answer.prediction === null;
  const shown = typeof answer.prediction === "number" && !model.classes.length ? inDigits(answer.prediction) : String(answer.prediction);
  place.replaceChildren(make("p", isMissing ? "No answer" : shown, { class: "prediction", id: "prediction" }));
  if (answer.value !== null && answer.scale !== null) {
    place.append(make("p", `${inDigits(answer.value)}, with noise of standard deviation ${inDigits(answer.scale)} (${answer.status}).`));
  }
  const figure = find("picture");
  let drawn = null;
  if (answer.value !== null && answer.scale !== null) drawn = drawNoisy(answer);
  else if (answer.probabilities !== null) drawn = drawChances(answer);
  figure.hidden = drawn === null;
  if (drawn) figure.replaceChildren(drawn[0], make("figcaption", drawn[1], { class: "note" }));
}

function remember(row, answer) {
  const line = make("tr", null);
  for (const column of model.columns) line.append(make("td", String(row[column.name])));
  const shown = typeof answer.prediction === "number" && !model.classes.length ? inDigits(answer.prediction) : answer.prediction ?? "none";
  line.append(make("td", String(shown)));
  find("before-rows").prepend(line);
  while (find("before-rows").children.length > 10) find("before-rows").lastChild.remove();
  find("before").hidden = false;
}

// The service tells what is left as of an earlier public tick: look again after two more.
function showLeftSoon() {
  const look = () => showLeft().catch(() => null);
  clearTimeout(looking);
  look().then((said) => {
    if (said) looking = setTimeout(look, 2000 * Math.max(1, said.limits.pad) + 200);
  });
}

async function showLeft() {
  if (!key && model.needs_key) return null;
  const said = await call("status");
  showState(WORDS[said.status] ?? said.status, said.status === "exhausted" ? "bad" : "good");
  find("left").hidden = false;
  const bar = find("bar");
  if (said.max_answers === null) {
    bar.hidden = true;
    find("left-words").textContent = "The model is public: answers cost nothing, and there is no end to them.";
    return null;
  }
  const left = Math.max(0, said.max_answers - said.answers);
  bar.hidden = false;
  bar.value = said.max_answers ? left / said.max_answers : 0;
  bar.textContent = `${left} of ${said.max_answers}`;
  find("left-words").textContent = `${left.toLocaleString("en")} of ${said.max_answers.toLocaleString("en")} different questions are left. A question that was asked before gets the same answer, and costs nothing.`;
  return said;
}

function showProblem(place, error) {
  place.replaceChildren(make("p", error.message, { class: "problem", role: "alert" }));
}

async function ask(event) {
  event.preventDefault();
  const button = find("send");
  button.disabled = true;
  try {
    const row = readForm();
    const body = JSON.stringify({ rows: [row] });
    const said = await call("predict", { method: "POST", body, headers: { "Content-Type": "application/json" } });
    showAnswer(said.answers[0]);
    remember(row, said.answers[0]);
    showLeftSoon();
  } catch (error) {
    find("picture").hidden = true;
    showProblem(find("answer"), error);
  } finally {
    button.disabled = false;
  }
}

async function useKey(event) {
  event.preventDefault();
  key = find("key").value.trim();
  const note = find("key-note");
  try {
    if (!/^[\x21-\x7e]+$/.test(key)) throw new Error("A key begins with dk_ and has no spaces.");
    await showLeft();
    note.textContent = "The key is accepted.";
    note.className = "note";
  } catch (error) {
    note.textContent = error.message;
    note.className = "problem";
    find("left").hidden = true;
  }
}

async function begin() {
  find("key-form").addEventListener("submit", useKey);
  find("ask-form").addEventListener("submit", ask);
  try {
    const [columns, promise] = await Promise.all([call("columns"), call("guarantee")]);
    model = columns;
    document.title = `${model.title} · Discreet`;
    find("title").textContent = model.title;
    find("fields").replaceChildren(...model.columns.map(field));
    const head = make("tr", null);
    for (const column of model.columns) head.append(make("th", column.name, { scope: "col" }));
    head.append(make("th", "answer", { scope: "col" }));
    find("before-head").replaceChildren(head);
    showPromise(promise);
    await call("health");
    showState("up", "good");
    if (!model.needs_key) {
      find("key-title").textContent = "Everybody may ask";
      find("key-form").hidden = true;
      await showLeft();
    }
  } catch (error) {
    showState("down", "bad");
    showProblem(find("answer"), error);
  }
}

begin();
