"use strict";
// Notes are other people's words: they reach the page as text nodes and as text on the canvas, never as markup.
const graph = JSON.parse(document.getElementById("graph").textContent);
const at = (id) => document.getElementById(id);
const KINDS = { reply: "#3b82c4", quote: "#b8741a", mention: "#8a63c9", root: "#5a9e6f", topic: "#a8a29a" };
const notes = graph.notes.map((note, place) => ({ ...note, place, links: [], ...spiral(place) }));
const topics = graph.topics.map((topic, number) => ({
  topic: topic.topic, members: topic.notes, place: notes.length + number, links: [], ...spiral(topic.notes[0], 9),
}));
const points = [...notes, ...topics];
const edges = graph.edges.map(([from, to, kind]) => ({ from: notes[from], to: notes[to], kind }));
for (const topic of topics) for (const member of topic.members) edges.push({ from: notes[member], to: topic, kind: "topic" });
for (const edge of edges) { edge.from.links.push(edge); edge.to.links.push(edge); }
const colourOf = (author) => !author ? "#7d7d7d" : `hsl(${parseInt(author.slice(0, 4), 16) % 360} 45% 55%)`;
for (const point of points) point.colour = point.topic ? KINDS.topic : colourOf(point.author);
for (const point of points) point.size = point.topic ? 3 : 4 + Math.min(9, 1.6 * Math.sqrt(point.links.length));
const hidden = new Set();
const searched = notes.map((note) => [note.text, note.by, note.author, note.id, ...note.topics].join("\n").toLowerCase());
let matching = null, chosen = null, hovered = null, heat = 1;
const view = { x: 0, y: 0, scale: 1 };

function spiral(place, shift = 0) {
  const angle = 2.4 * place, far = 14 * Math.sqrt(place + 1) + shift;
  return { x: far * Math.cos(angle), y: far * Math.sin(angle), vx: 0, vy: 0 };
}

// How the points find their places: neighbours push each other off, edges pull, everything drifts to the middle.

const REACH = 70, COLD = 0.02;

function push() {
  const cells = new Map(), key = (column, row) => column * 65536 + row;
  for (const point of points) {
    const column = Math.floor(point.x / REACH), row = Math.floor(point.y / REACH), name = key(column, row);
    if (!cells.has(name)) cells.set(name, { column, row, points: [] });
    cells.get(name).points.push(point);
  }
  for (const { column, row, points: here } of cells.values()) {
    for (let first = 0; first < here.length; first++) {
      for (let second = first + 1; second < here.length; second++) part(here[first], here[second]);
    }
    // Half of the cells around: the other half looks at this one.
    for (const [right, down] of [[1, 0], [0, 1], [1, 1], [-1, 1]]) {
      const there = cells.get(key(column + right, row + down));
      if (there) for (const one of here) for (const two of there.points) part(one, two);
    }
  }
}

function part(one, two) {
  const x = one.x - two.x || 0.1, y = one.y - two.y || 0.1, square = x * x + y * y;
  if (square > REACH * REACH) return;
  const far = Math.sqrt(square), force = (heat * 1.1 * (REACH - far)) / far / 4;
  one.vx += x * force; one.vy += y * force;
  two.vx -= x * force; two.vy -= y * force;
}

function pull() {
  for (const { from, to, kind } of edges) {
    const x = to.x - from.x, y = to.y - from.y, far = Math.hypot(x, y) || 1;
    const busy = Math.max(1, Math.min(from.links.length, to.links.length));
    const force = (heat * (kind === "topic" ? 0.03 : 0.12) * (far - 45)) / far / Math.sqrt(busy);
    from.vx += x * force; from.vy += y * force;
    to.vx -= x * force; to.vy -= y * force;
  }
  for (const point of points) { point.vx -= point.x * 0.004 * heat; point.vy -= point.y * 0.004 * heat; }
}

function step() {
  push();
  pull();
  for (const point of points) {
    if (point !== held) {
      const fast = Math.hypot(point.vx, point.vy), most = fast > 30 ? 30 / fast : 1;
      point.x += point.vx * most; point.y += point.vy * most;
    }
    point.vx *= 0.55; point.vy *= 0.55;
  }
  heat *= points.length > 500 ? 0.97 : 0.98;
}

// What is drawn.

const canvas = at("canvas"), pen = canvas.getContext("2d");
let waiting = false, drawing = 8;

function redraw() {
  if (!waiting) { waiting = true; requestAnimationFrame(frame); }
}

// Half of the time at most goes into pictures of what is still on its way.
function frame() {
  waiting = false;
  const began = performance.now();
  if (heat > COLD) {
    do step(); while (heat > COLD && performance.now() - began < Math.max(8, drawing));
    if (!moved) fit();
    redraw();
  }
  const settled = performance.now();
  draw();
  drawing = Math.min(200, performance.now() - settled);
}

function draw() {
  const ratio = window.devicePixelRatio || 1, ink = getComputedStyle(document.body).color;
  canvas.width = innerWidth * ratio; canvas.height = innerHeight * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const point of points) { point.spot = toScreen(point); point.lit = lit(point); }
  const focus = chosen || hovered;
  for (const kind of [...Object.keys(KINDS)].reverse()) {
    if (hidden.has(kind)) continue;
    const these = edges.filter((edge) => edge.kind === kind && onScreen(edge));
    const bright = (edge) => (focus ? edge.from === focus || edge.to === focus : edge.from.lit && edge.to.lit);
    drawEdges(kind, these.filter((edge) => !bright(edge)), 0.13);
    drawEdges(kind, these.filter(bright), kind === "topic" ? 0.3 : 0.85);
  }
  for (const point of points) if (!(point.topic && hidden.has("topic"))) drawPoint(point, ink);
  pen.globalAlpha = 1;
}

const lit = (point) => (chosen || hovered
  ? point === (chosen || hovered) || point.links.some((edge) => other(edge, point) === (chosen || hovered))
  : !matching || (point.topic ? point.members.some((member) => matching.has(member)) : matching.has(point.place)));
const other = (edge, point) => (edge.from === point ? edge.to : edge.from);
const toScreen = ({ x, y }) => ({ x: (x - view.x) * view.scale + innerWidth / 2, y: (y - view.y) * view.scale + innerHeight / 2 });
const toGraph = (x, y) => ({ x: (x - innerWidth / 2) / view.scale + view.x, y: (y - innerHeight / 2) / view.scale + view.y });

function onScreen({ from: { spot: a }, to: { spot: b } }) {
  return Math.max(a.x, b.x) > 0 && Math.min(a.x, b.x) < innerWidth && Math.max(a.y, b.y) > 0 && Math.min(a.y, b.y) < innerHeight;
}

function drawEdges(kind, some, alpha) {
  if (!some.length) return;
  pen.globalAlpha = alpha;
  pen.strokeStyle = pen.fillStyle = KINDS[kind];
  pen.lineWidth = kind === "topic" ? 0.6 : 1.3;
  pen.beginPath();
  for (const { from: { spot: a }, to: { spot: b } } of some) { pen.moveTo(a.x, a.y); pen.lineTo(b.x, b.y); }
  pen.stroke();
  if (kind === "topic" || view.scale < 0.6) return;
  pen.beginPath();
  for (const { from: { spot: a }, to } of some) {
    const angle = Math.atan2(to.spot.y - a.y, to.spot.x - a.x), back = to.size * Math.sqrt(view.scale) + 1;
    const x = to.spot.x - back * Math.cos(angle), y = to.spot.y - back * Math.sin(angle);
    pen.moveTo(x, y);
    for (const side of [-0.4, 0.4]) pen.lineTo(x - 6 * Math.cos(angle + side), y - 6 * Math.sin(angle + side));
  }
  pen.fill();
}

function drawPoint(point, ink) {
  const { x, y } = point.spot, size = point.size * Math.sqrt(view.scale);
  if (x < -60 || y < -20 || x > innerWidth + 60 || y > innerHeight + 20) return;
  pen.globalAlpha = point.lit ? 1 : 0.28;
  pen.beginPath();
  if (point.topic) pen.rect(x - size, y - size, 2 * size, 2 * size); else pen.arc(x, y, size, 0, 7);
  pen.fillStyle = point.colour;
  pen.fill();
  if (point === chosen) { pen.lineWidth = 2; pen.strokeStyle = ink; pen.stroke(); }
  const label = point.topic ? "#" + point.topic : firstLine(point.text);
  if (point === chosen || point === hovered || (view.scale > 1.3 && point.lit) || (point.topic && view.scale > 0.7)) {
    pen.font = "11px system-ui, sans-serif"; pen.fillStyle = ink;
    pen.fillText(label, x + size + 3, y + 4);
  }
}

const firstLine = (text) => { const line = text.trim().split("\n")[0]; return line.length > 34 ? line.slice(0, 33) + "…" : line; };

// What people do.

let held = null, from = null, moved = false;

function nearest(x, y) {
  let best = null, least = 14;
  for (const point of points) {
    if (point.topic && hidden.has("topic")) continue;
    const there = toScreen(point), far = Math.hypot(there.x - x, there.y - y) - point.size;
    if (far < least) { best = point; least = far; }
  }
  return best;
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  from = { x: event.clientX, y: event.clientY, far: 0 };
  held = nearest(event.clientX, event.clientY);
});
canvas.addEventListener("pointermove", (event) => {
  if (from) {
    const x = event.clientX - from.x, y = event.clientY - from.y;
    from = { x: event.clientX, y: event.clientY, far: from.far + Math.hypot(x, y) };
    moved = true;
    if (held) { held.x += x / view.scale; held.y += y / view.scale; heat = Math.max(heat, 0.15); }
    else { view.x -= x / view.scale; view.y -= y / view.scale; }
  } else {
    hovered = nearest(event.clientX, event.clientY);
    canvas.style.cursor = hovered ? "pointer" : "grab";
  }
  redraw();
});
canvas.addEventListener("pointerup", () => {
  if (from && from.far < 5) {
    if (held && held.topic) search("#" + held.topic); else choose(held);
  }
  held = from = null;
  redraw();
});
canvas.addEventListener("pointercancel", () => { held = from = null; });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
}, { passive: false });

function zoom(times, x = innerWidth / 2, y = innerHeight / 2) {
  const before = toGraph(x, y);
  view.scale = Math.min(8, Math.max(0.05, view.scale * times));
  const after = toGraph(x, y);
  view.x += before.x - after.x; view.y += before.y - after.y;
  moved = true;
  redraw();
}

function fit() {
  if (!points.length) return;
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const { x, y } of points) {
    left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y);
  }
  view.x = (left + right) / 2; view.y = (top + bottom) / 2;
  view.scale = Math.min(2, 0.86 * Math.min(innerWidth / (right - left + 1), innerHeight / (bottom - top + 1)));
}

// A stamp may be any number that its author liked.
function dateOf(seconds) {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `at ${seconds}` : date.toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

function line(text) { return Object.assign(document.createElement("span"), { textContent: text }); }

function button(text, click) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  made.addEventListener("click", click);
  return made;
}

function item(child) { const made = document.createElement("li"); made.append(child); return made; }

function choose(note) {
  chosen = note;
  at("note").hidden = !note;
  if (note) {
    at("head").textContent = `${note.by}, ${dateOf(note.at)}, kind ${note.kind}`;
    at("text").textContent = note.text;
    at("id").textContent = note.id;
    at("topics").replaceChildren(...note.topics.map((topic) => button("#" + topic, () => search("#" + topic))));
    at("links").replaceChildren(...note.links.filter((edge) => edge.kind !== "topic").map((edge) => {
      const there = other(edge, note), arrow = edge.from === note ? "→" : "←";
      return item(button(`${arrow} ${edge.kind}: ${firstLine(there.text) || there.id.slice(0, 12)}`, () => go(there)));
    }));
    at("note").scrollTop = 0;
  }
  redraw();
}

function go(note) { view.x = note.x; view.y = note.y; moved = true; choose(note); }

function search(words) {
  at("words").value = words;
  const wanted = words.trim().toLowerCase();
  const topic = wanted.startsWith("#") ? wanted.slice(1) : null;
  const hits = notes.filter((note) => (topic !== null ? note.topics.includes(topic) : searched[note.place].includes(wanted)));
  matching = wanted ? new Set(hits.map((note) => note.place)) : null;
  at("count").textContent = wanted ? `${hits.length} of ${notes.length} notes` : told;
  at("hits").replaceChildren(...(wanted ? hits.slice(0, 50) : []).map((note) => item(button(firstLine(note.text) || note.id, () => go(note)))));
  if (wanted) choose(null);
  redraw();
}

const told = `${notes.length} notes, ${graph.edges.length} edges, ${topics.length} topics`
  + (graph.left_out ? `; ${graph.left_out} older notes are left out` : "");
for (const kind of Object.keys(KINDS)) {
  const label = document.createElement("label"), box = document.createElement("input"), colour = document.createElement("i");
  Object.assign(box, { type: "checkbox", checked: true, id: "kind-" + kind });
  box.addEventListener("change", () => { if (box.checked) hidden.delete(kind); else hidden.add(kind); redraw(); });
  colour.style.background = KINDS[kind];
  label.append(box, colour, line(`${kind} (${edges.filter((edge) => edge.kind === kind).length})`));
  at("kinds").append(label);
}
at("words").addEventListener("input", () => search(at("words").value));
at("words").addEventListener("keydown", (event) => { if (event.key === "Enter") at("hits").querySelector("button")?.click(); });
at("close").addEventListener("click", () => choose(null));
at("closer").addEventListener("click", () => zoom(1.4));
at("farther").addEventListener("click", () => zoom(1 / 1.4));
at("fit").addEventListener("click", () => { fit(); redraw(); });
addEventListener("keydown", (event) => { if (event.key === "Escape") choose(null); });
addEventListener("resize", redraw);
search("");
if (graph.around) choose(notes.find((note) => note.id === graph.around) || null);
fit();
redraw();
// For whoever wants to look from the console.
window.picture = { notes, topics, edges, view, cold: () => heat <= COLD, screen: (id) => toScreen(notes.find((note) => note.id === id)) };
