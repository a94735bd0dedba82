"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /* --- light and dark --------------------------------------------------------------------- */

  const theme = byId("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null, other = "dark";
  try { chosen = localStorage.getItem("privatree-theme"); } catch (error) { /* no storage here */ }

  function showTheme() {
    const root = document.documentElement;
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
    const dark = chosen ? chosen === "dark" : system.matches;
    other = dark ? "light" : "dark";
    theme.querySelector("span").textContent = "Switch to " + other;
    theme.title = "Switch to " + other;
  }
  theme.hidden = false;
  theme.addEventListener("click", () => {
    chosen = other;
    try { localStorage.setItem("privatree-theme", chosen); } catch (error) { /* not kept */ }
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  /* --- folded parts are printed unfolded -------------------------------------------------- */

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));

  /* --- a faded edge where there is more to scroll to ---------------------------------------- */

  [document.querySelector(".bar nav"), byId("drawing")].forEach((part) => {
    const fade = () => {
      part.classList.toggle("more-left", part.scrollLeft > 2);
      part.classList.toggle("more-right", part.scrollLeft + part.clientWidth < part.scrollWidth - 2);
    };
    part.addEventListener("scroll", fade, { passive: true });
    new ResizeObserver(fade).observe(part);
  });

  /* --- the path of a record, as in predict  ----------------------------------------------- */

  const parent = new Int32Array(data.feature.length).fill(-1);
  data.feature.forEach((feature, node) => {
    if (feature >= 0) { parent[data.left[node]] = node; parent[data.right[node]] = node; }
  });
  const leftCodes = new Map();

  function goesLeft(node, record) {
    const place = data.feature[node], feature = data.features[place];
    let value = record[place];
    if (value === null || value === undefined || Number.isNaN(value)) value = feature.missing;
    if (!feature.names) {
      return Math.min(feature.high, Math.max(feature.low, value)) <= data.threshold[node];
    }
    if (!leftCodes.has(node)) leftCodes.set(node, new Set(data.codes[node]));
    return leftCodes.get(node).has(value);
  }

  function follow(record) {
    const path = [0];
    for (let node = 0; data.feature[node] >= 0;) {
      node = goesLeft(node, record) ? data.left[node] : data.right[node];
      path.push(node);
    }
    return path;
  }

  function pathTo(node) {
    const path = [];
    for (; node >= 0; node = parent[node]) path.unshift(node);
    return path;
  }

  /* --- words ------------------------------------------------------------------------------- */

  const MOST_NAMES = 12;

  function listed(names) {
    const shown = names.slice(0, MOST_NAMES).join(", ");
    return names.length > MOST_NAMES ? shown + ", … " + (names.length - MOST_NAMES) + " more" : shown;
  }

  function isBroken(feature, value) {
    return feature.integer && typeof value === "number" && !Number.isInteger(value);
  }

  /* A threshold between whole numbers is shown as the lower whole number, which gives the same
     answer for whole values. For other values the exact threshold is shown. */
  function question(node, value) {
    const feature = data.features[data.feature[node]];
    if (!feature.names) {
      return " ≤ " + (isBroken(feature, value) ? String(data.threshold[node]) : data.shown[node]);
    }
    const yes = new Set(data.codes[node]);
    const no = feature.names.length - yes.size;
    const negated = yes.size > Math.max(3, no);
    const names = feature.names.filter((name, code) => yes.has(code) !== negated);
    return (negated ? " not in {" : " in {") + listed(names) + "}";
  }

  function element(tag, content, className) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    [].concat(content).forEach((part) => made.append(part));
    return made;
  }

  function percent(share) { return (100 * share).toFixed(1) + "%"; }

  /* --- the drawing ------------------------------------------------------------------------- */

  const drawing = byId("drawing"), boxes = new Map(), lines = new Map();
  drawing.querySelectorAll(".box").forEach((box) => boxes.set(Number(box.dataset.node), box));
  drawing.querySelectorAll(".line").forEach((line) => lines.set(Number(line.dataset.child), line));

  function highlight(path) {
    const on = new Set(path);
    drawing.classList.toggle("followed", path.length > 0);
    boxes.forEach((box, node) => {
      box.classList.toggle("on", on.has(node));
      box.setAttribute("aria-pressed", "false");
    });
    lines.forEach((line, child) => {
      line.classList.toggle("on", on.has(child));
      if (on.has(child)) line.parentNode.append(line); /* so that it is drawn above lines with the same start */
    });
    const drawn = path.filter((node) => boxes.has(node));
    if (drawn.length) {
      const last = boxes.get(drawn[drawn.length - 1]);
      last.setAttribute("aria-pressed", "true");
      reveal(last);
    }
  }

  /* Scroll inside the drawing, and never scroll the page. */
  function reveal(box) {
    const left = box.offsetLeft, right = left + box.offsetWidth;
    if (left < drawing.scrollLeft || right > drawing.scrollLeft + drawing.clientWidth) {
      drawing.scrollLeft = Math.max(0, right - drawing.clientWidth + 24);
    }
    const top = box.offsetTop, bottom = top + box.offsetHeight;
    if (top < drawing.scrollTop || bottom > drawing.scrollTop + drawing.clientHeight) {
      drawing.scrollTop = Math.max(0, (top + bottom - drawing.clientHeight) / 2);
    }
  }

  if (drawing.scrollHeight > drawing.clientHeight) reveal(boxes.get(0));

  function valueText(place, record) {
    const feature = data.features[place], value = record[place];
    if (value === null || value === undefined) {
      const counts = feature.names ? feature.names[feature.missing] : String(feature.missing);
      return "missing, counts as " + counts;
    }
    return feature.names ? feature.names[value] : String(value);
  }

  function showPath(path, record) {
    const end = path[path.length - 1], isLeaf = data.feature[end] < 0;
    byId("path").hidden = false;
    byId("path-title").textContent = record ? "The path of this record"
      : isLeaf ? "The path to this leaf" : "The path to this question";
    const rule = isLeaf ? byId("rule-" + end) : null;
    byId("sentence").textContent = rule ? rule.textContent : "";
    byId("sentence").hidden = !rule;
    byId("steps").replaceChildren(...path.slice(1).map((node, i) => {
      const from = path[i], place = data.feature[from];
      const answer = data.left[from] === node ? "yes" : "no";
      const parts = [element("bdi", data.features[place].name, "name"), element("bdi", question(from, record ? record[place] : null))];
      if (record) parts.push(element("span", valueText(place, record), "value"));
      parts.push(element("strong", answer, "answer"));
      return element("li", parts);
    }));
    document.querySelectorAll(".rules li.on").forEach((item) => item.classList.remove("on"));
    if (rule) rule.classList.add("on");
    highlight(path);
  }

  function outcome(leaf, words) {
    const label = data.label[leaf];
    const name = element("bdi", data.classes[label]);
    const parts = [element("span", words, "word"), element("span", name, "label c" + (label % 8))];
    if (data.probability) {
      const shares = data.probability[leaf];
      const order = shares.map((share, code) => code).sort((a, b) => shares[b] - shares[a]);
      const bars = order.slice(0, 6).map((code) => {
        const fill = element("span", "", "fill c" + (code % 8));
        fill.style.width = 100 * shares[code] + "%";
        return element("span", [element("bdi", data.classes[code]), element("span", fill, "share-track"),
          element("span", percent(shares[code]))], "share");
      });
      parts.push(element("span", bars, "shares"));
    }
    return parts;
  }

  /* --- the form ---------------------------------------------------------------------------- */

  const form = byId("record"), prediction = byId("prediction");

  function readField(input) {
    const place = Number(input.dataset.place), feature = data.features[place];
    const said = byId("h" + place).querySelector(".said");
    let value = null, note = "";
    if (!feature.names) {
      if (input.value !== "") value = Number(input.value);
      if (input.validity.badInput) note = "not a number: counts as missing";
      else if (value !== null && value < feature.low) note = "counts as " + feature.low;
      else if (value !== null && value > feature.high) note = "counts as " + feature.high;
      else if (isBroken(feature, value)) note = "not a whole number: compared without rounding. The rules are worded for whole numbers.";
    } else if (input.tagName === "SELECT") {
      if (input.value === "other") note = "counts as " + feature.names[feature.missing];
      else if (input.value !== "") value = Number(input.value);
    } else if (input.value !== "") {
      const code = feature.names.indexOf(input.value);
      if (code >= 0) value = code;
      else note = "not a category: counts as " + feature.names[feature.missing];
    }
    said.textContent = note;
    return value;
  }

  function readForm() {
    const record = new Array(data.features.length).fill(null);
    form.querySelectorAll("[data-place]").forEach((input) => {
      record[Number(input.dataset.place)] = readField(input);
    });
    return record;
  }

  function followForm() {
    const record = readForm(), path = follow(record), leaf = path[path.length - 1];
    prediction.dataset.leaf = String(leaf);
    prediction.classList.remove("of-leaf");
    prediction.replaceChildren(...outcome(leaf, "Prediction for this record:"));
    showPath(path, record);
  }

  function clear() {
    form.querySelectorAll(".said").forEach((said) => { said.textContent = ""; });
    delete prediction.dataset.leaf;
    prediction.classList.remove("of-leaf");
    prediction.replaceChildren(element("span", "No record yet. The whole tree is shown.", "result-empty"));
    byId("path").hidden = true;
    document.querySelectorAll(".rules li.on").forEach((item) => item.classList.remove("on"));
    highlight([]);
  }

  /* Fill in random values from the public schema. The page knows nothing of the records. */
  function makeUp() {
    form.querySelectorAll("[data-place]").forEach((input) => {
      const feature = data.features[Number(input.dataset.place)];
      if (feature.names) {
        const code = Math.floor(Math.random() * feature.names.length);
        input.value = input.tagName === "SELECT" ? String(code) : feature.names[code];
      } else {
        const any = feature.low + Math.random() * (feature.high - feature.low);
        input.value = String(feature.integer ? Math.round(any) : Number(any.toPrecision(4)));
      }
    });
    followForm();
  }

  if (form) {
    form.addEventListener("input", followForm);
    form.addEventListener("submit", (event) => { event.preventDefault(); followForm(); });
    form.addEventListener("reset", () => setTimeout(clear, 0));
    byId("made-up").addEventListener("click", makeUp);
  }

  boxes.forEach((box, node) => box.addEventListener("click", () => {
    const again = form && box.getAttribute("aria-pressed") === "true" && !prediction.dataset.leaf;
    if (form) {
      delete prediction.dataset.leaf;
      const isLeaf = data.feature[node] < 0;
      prediction.classList.toggle("of-leaf", isLeaf);
      prediction.replaceChildren(...(isLeaf
        ? [...outcome(node, "This leaf predicts"), element("span", "You chose a leaf. No record is followed, and the fields above have no effect.", "result-empty")]
        : [element("span", "You chose a question. The path to it is listed below. No record is followed.", "result-empty")]));
    }
    if (again) clear(); else showPath(pathTo(node), null);
  }));

  /* The Tab key stops once at the tree. From there the arrow keys move along the tree. */
  boxes.forEach((box, node) => { box.tabIndex = node === 0 ? 0 : -1; });
  drawing.addEventListener("focusin", (event) => {
    if (!event.target.dataset.node) return;
    boxes.forEach((box) => { box.tabIndex = box === event.target ? 0 : -1; });
  });
  drawing.addEventListener("keydown", (event) => {
    const node = Number(event.target.dataset.node);
    if (Number.isNaN(node)) return;
    const up = parent[node];
    const order = [...boxes.keys()];
    const next = {
      ArrowLeft: up,
      ArrowRight: data.left[node],
      ArrowUp: order[order.indexOf(node) - 1],
      ArrowDown: order[order.indexOf(node) + 1],
    }[event.key];
    if (next === undefined || !boxes.has(next)) return;
    event.preventDefault();
    boxes.get(next).focus();
  });

  /* --- poison ------------------------------------------------------------------------------ */

  const table = data.certificate;
  if (!table) return;
  byId("poison-box").hidden = false;
  const start = byId("start"), slider = byId("edits"), figure = byId("figure"), curve = byId("curve");
  const sources = [...document.querySelectorAll("input[name=source]")];
  const whole = new Intl.NumberFormat("en");

  /* Figures are rounded down. */
  function score(units) { return (units / table.units * 100).toFixed(units % 100 ? 2 : 0) + "%"; }

  function fromFile() { return sources.some((source) => source.checked && source.value === "file"); }

  function typedAccuracy() {
    const text = start.value.trim().replace(",", ".");
    if (!/^[0-9.]+%?$/.test(text)) return NaN;
    return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  }

  /* Until an accuracy is typed in, the page shows an example and labels it as an example. */
  function isExample() { return !fromFile() && start.value.trim() === ""; }

  /* The row of the next smaller accuracy in the table, or -1 for an invalid accuracy. */
  function chosenRow() {
    if (fromFile()) return table.starts.indexOf(table.measured);
    if (isExample()) return table.starts.indexOf(table.example);
    const typed = typedAccuracy();
    if (!(typed >= 0 && typed <= 1)) return -1;
    let row = 0;
    while (row + 1 < table.starts.length && table.starts[row + 1] <= typed * table.units + 1e-9) row += 1;
    return row;
  }

  function guaranteed(row, column) { return table.rows[row][column] || 0; }
  function paper(row, column) { return Math.floor(table.starts[row] * table.paper[column]); }

  function svg(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const PLOT = { left: 64, right: 622, top: 14, bottom: 292 };

  /* Between two numbers of records the worse figure holds, so the curve has steps. */
  function steps(values, x, y, columns) {
    let path = "M" + x(0) + " " + y(values[0]);
    for (let i = 1; i < columns; i += 1) path += "V" + y(values[i]) + "H" + x(table.edits[i]);
    return path;
  }

  function drawCurve(row, column) {
    let columns = Math.max(table.edits.findIndex((number, i) => guaranteed(row, i) < table.units / 100), 3, column + 1);
    if (columns < 3 || columns > table.edits.length) columns = table.edits.length;
    const last = table.edits[columns - 1];
    const x = (edits) => PLOT.left + (PLOT.right - PLOT.left) * edits / last;
    const y = (units) => PLOT.bottom - (PLOT.bottom - PLOT.top) * units / table.units;
    const parts = [];
    for (let quarter = 0; quarter <= 4; quarter += 1) {
      const at = y(quarter * table.units / 4);
      parts.push(svg("line", { class: "grid", x1: PLOT.left, x2: PLOT.right, y1: at, y2: at }));
      parts.push(svg("text", { x: PLOT.left - 8, y: at + 4, "text-anchor": "end" }, quarter * 25 + "%"));
    }
    const size = Math.pow(10, Math.floor(Math.log10(last))), spacing = [0.2, 0.5, 1].map((f) => f * size)
      .find((s) => last / s <= 6 && s >= 1) || Math.max(1, size);
    for (let tick = 0; tick <= last; tick += spacing) {
      parts.push(svg("text", { x: x(tick), y: PLOT.bottom + 18, "text-anchor": "middle" }, whole.format(tick)));
    }
    parts.push(svg("text", { class: "axis", x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 40, "text-anchor": "middle" },
      "records added or removed"));
    const ours = table.edits.map((number, i) => guaranteed(row, i));
    const line = steps(ours, x, y, columns);
    parts.push(svg("path", { class: "area", d: line + "V" + y(0) + "H" + x(0) + "Z" }));
    parts.push(svg("path", { class: "paper", d: steps(table.edits.map((number, i) => paper(row, i)), x, y, columns) }));
    parts.push(svg("path", { class: "ours", d: line }));
    const at = x(table.edits[column]), height = y(ours[column]);
    parts.push(svg("line", { class: "marker", x1: at, x2: at, y1: PLOT.top, y2: PLOT.bottom }));
    parts.push(svg("circle", { class: "dot", cx: at, cy: height, r: 6 }));
    const whose = whoseAccuracy(row);
    if (whose) parts.push(svg("text", { class: "whose", x: PLOT.right, y: PLOT.top + 24, "text-anchor": "end" }, whose));
    curve.setAttribute("aria-label", (whose ? whose + ": g" : "G")
      + "uaranteed expected accuracy against the number of poisoned records");
    curve.replaceChildren(...parts);
  }

  /* The caption of a curve that does not come from a certificate. */
  function whoseAccuracy(row) {
    if (fromFile()) return "";
    return isExample() ? "Example: if it were " + score(table.starts[row]) + " without poison"
      : "If it is " + score(table.starts[row]) + " without poison (assumed)";
  }

  function recordsChanged(edits) {
    return whole.format(edits) + (edits === 1 ? " record" : " records") + " added or removed";
  }

  /* A guarantee with its condition before it, so that they are read together. */
  function conditionalFigure(row, edits, units) {
    const share = score(table.starts[row]);
    const assumption = isExample()
      ? ["If " + share + " of predictions were right on average without poison (", element("strong", "an example, not measured"), "),"]
      : ["If " + share + " of predictions are right on average without poison (",
        element("strong", [element("span", "your", "on-screen"), element("span", "an", "on-paper"), " assumption, not measured"]), "),"];
    const verb = isExample() ? "would be" : "are";
    const then = edits === 0 ? [element("span", "then with no record added or removed", "what"),
      element("span", score(units), "big"), element("span", verb + " right on average.", "what")]
      : units === 0 ? [element("span", "then with " + recordsChanged(edits), "what"),
        element("span", "0%", "big"), element("span", "nothing is guaranteed.", "what")]
      : [element("span", "then at least", "what"), element("span", score(units), "big"),
        element("span", verb + " right on average with " + recordsChanged(edits) + ".", "what")];
    return [...(isExample() ? [element("span", "example", "badge example")] : []), element("span", assumption, "what if"), ...then];
  }

  function measuredFigure(edits, units) {
    const what = edits === 0 ? "expected without poison"
      : units === 0 ? "nothing is guaranteed"
      : "expected accuracy is guaranteed with " + recordsChanged(edits);
    return [element("span", score(units), "big"), element("span", what, "what")];
  }

  function startHint(row) {
    if (row < 0) return "Please type a number from 0 to 1, such as 0.85.";
    const example = "Nothing is typed in. The figures are an example with " + score(table.starts[row]) + ". ";
    const exact = fromFile() || isExample() || Math.abs(typedAccuracy() * table.units - table.starts[row]) < 1e-6;
    return (isExample() ? example : "") + "Expected accuracy on clean data, from 0 to 1. The model does not contain it."
      + (exact ? "" : " Read as " + score(table.starts[row]) + ", the next smaller accuracy in the table.");
  }

  function showPoison() {
    const row = chosenRow(), column = Number(slider.value), edits = table.edits[column];
    sources.length && (start.disabled = fromFile());
    byId("curve-badge").hidden = !fromFile();
    byId("curve-key").textContent = fromFile() ? "guaranteed here" : "guaranteed then";
    byId("curve-example").hidden = !isExample();
    byId("poison-box").classList.toggle("is-example", isExample());
    byId("start-hint").textContent = startHint(row);
    byId("edits-shown").textContent = whole.format(edits);
    slider.setAttribute("aria-valuetext", whole.format(edits) + " records");
    byId("edits-note").textContent = edits > 1
      ? "or " + whole.format(Math.floor(edits / 2)) + " changed: a changed record counts as two."
      : "A changed record counts as two.";
    start.setAttribute("aria-invalid", String(row < 0));
    if (row < 0) {
      figure.replaceChildren(element("span", "–", "big"), element("span", "no valid accuracy given", "what"));
      figure.dataset.units = "";
      curve.replaceChildren();
      return;
    }
    const units = guaranteed(row, column);
    figure.dataset.units = String(units);
    const lines = fromFile() ? measuredFigure(edits, units) : conditionalFigure(row, edits, units);
    if (edits > 0) lines.push(element("span", "the paper's bound: " + score(paper(row, column)), "paper-figure"));
    if (fromFile()) lines.push(element("span", "not private", "badge"));
    figure.replaceChildren(...lines);
    drawCurve(row, column);
  }

  [start, slider, ...sources].forEach((control) => control.addEventListener("input", showPoison));
  const halfway = table.edits.findIndex((number, i) => guaranteed(Math.max(0, chosenRow()), i) < 0.75 * guaranteed(Math.max(0, chosenRow()), 0));
  slider.value = String(Math.max(1, halfway - 1));
  showPoison();
})();
