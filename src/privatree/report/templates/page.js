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
    folded = [...document.querySelectorAll("section:not(.folded-away) details:not([open])")];
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
  const leftCodes = new Map(), withMissing = new Set(data.with_missing);

  function goesLeft(node, record) {
    const place = data.feature[node], feature = data.features[place];
    let value = record[place];
    if (value === null || value === undefined || Number.isNaN(value)) value = feature.missing;
    if (!feature.names) {
      /* Missing values that are separate go left. A question without a threshold is about them alone. */
      if (value === null || data.threshold[node] === null) return value === null;
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

  /* A threshold is shown rounded down. For a value between the rounded and the exact threshold, and
     for a value of a whole feature that is not whole, the exact threshold is shown. */
  function question(node, value) {
    const feature = data.features[data.feature[node]];
    if (!feature.names) {
      const exact = data.threshold[node], shown = data.shown[node];
      if (exact === null) return " is missing";
      const given = typeof value === "number";
      const misleads = given && (value <= exact) !== (value <= Number(shown));
      return (withMissing.has(node) ? " is missing or ≤ " : " ≤ ")
        + (misleads || isBroken(feature, value) ? String(exact) : shown);
    }
    const yes = new Set(data.codes[node]);
    const toLeft = feature.separate && yes.delete(feature.missing);
    const no = feature.names.length - yes.size;
    const negated = yes.size > Math.max(3, no);
    const names = feature.names.filter((name, code) => yes.has(code) !== negated);
    const among = (negated ? "not in {" : "in {") + listed(names) + "}";
    if (toLeft) return yes.size === 0 ? " is missing" : (negated ? " " : " is missing or ") + among;
    if (!feature.separate || !negated) return " " + among;
    return no === 0 ? " is not missing" : " is not missing and " + among;
  }

  function element(tag, content, className) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    [].concat(content).forEach((part) => made.append(part));
    return made;
  }

  /* As in the texts: 0% and 100% for these two probabilities only. */
  function percent(share) {
    if (share > 0 && share < 0.0005) return "<0.1%";
    return share >= 0.9995 && share < 1 ? ">99.9%" : (100 * share).toFixed(1) + "%";
  }

  /* --- the drawing ------------------------------------------------------------------------- */

  const drawing = byId("drawing"), canvas = drawing.querySelector(".canvas"), boxes = new Map();
  drawing.querySelectorAll(".box").forEach((box) => boxes.set(Number(box.dataset.node), box));
  const itemOf = (node) => boxes.get(node).closest("li");
  const isSeen = (node) => boxes.get(node).checkVisibility();
  let opened = []; /* splits that were unfolded to show a path, and fold again after it */

  function highlight(path) {
    const drawn = path.filter((node) => boxes.has(node)), on = new Set(drawn);
    opened.filter((node) => !on.has(node)).forEach((node) => fold(node, true));
    opened = opened.filter((node) => on.has(node));
    drawn.slice(0, -1).filter(isFolded).forEach((node) => { fold(node, false); opened.push(node); });
    drawing.classList.toggle("followed", path.length > 0);
    boxes.forEach((box, node) => {
      box.classList.toggle("on", on.has(node));
      itemOf(node).classList.toggle("on", on.has(node));
      box.setAttribute("aria-pressed", "false");
    });
    fit();
    if (drawn.length) {
      const last = boxes.get(drawn[drawn.length - 1]);
      last.setAttribute("aria-pressed", "true");
      reveal(last);
    }
  }

  /* Scroll inside the drawing, and never scroll the page. */
  function reveal(box) {
    const around = drawing.getBoundingClientRect(), inside = box.getBoundingClientRect();
    if (inside.left < around.left || inside.right > around.right) {
      drawing.scrollLeft += inside.right - around.right + 24;
    }
    if (inside.top < around.top || inside.bottom > around.bottom) {
      drawing.scrollTop += (inside.top + inside.bottom - around.top - around.bottom) / 2;
    }
  }

  /* --- folding and zooming ------------------------------------------------------------------ */

  /* Widths of a question, of the gap to its answers (as in the style) and of "+ 100 leaves". */
  const NARROWEST = 118, WIDEST = 260, GAP = 44, CHIP = 104;
  const SMALLEST = 0.62, ZOOM_STEP = 1.25, ZOOMS = [0.3, 3];
  const isFolded = (node) => itemOf(node).classList.contains("folded");
  let zoom = 1, isFit = true;

  function fold(node, folds) {
    const item = itemOf(node), button = item.querySelector(".fold"); /* its own comes first */
    item.classList.toggle("folded", folds);
    boxes.get(node).setAttribute("aria-expanded", String(!folds));
    button.setAttribute("aria-label", (folds ? "Unfold " : "Fold ") + button.dataset.leaves + " leaves");
    const more = ["+ " + button.dataset.leaves, element("span", " leaves", "word")];
    button.replaceChildren(...(folds ? more : ["−"]));
  }

  function countSeen() {
    const leaves = [...boxes.keys()].filter((node) => data.feature[node] < 0);
    const seen = leaves.filter(isSeen).length;
    byId("folds-said").textContent = seen < leaves.length
      ? seen + " of " + leaves.length + " leaves are shown." : "";
  }

  /* Questions become narrower first, and then everything smaller, but never too small to read. */
  function fit() {
    countSeen();
    const style = getComputedStyle(drawing);
    const room = drawing.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const leaf = parseFloat(canvas.style.getPropertyValue("--leaf"));
    /* Of each seen box: the number of questions up to its right side, and the width of the rest. */
    const ends = [...boxes.keys()].filter(isSeen).map((node) => {
      const depth = pathTo(node).length - 1, isLeaf = data.feature[node] < 0;
      return [isLeaf ? depth : depth + 1, depth * GAP + (isLeaf ? leaf : isFolded(node) ? CHIP : 0)];
    });
    const wanted = Math.min(...ends.map(([n, rest]) => (n ? (room - rest) / n : WIDEST)));
    const width = Math.floor(Math.min(WIDEST, Math.max(NARROWEST, wanted)));
    canvas.style.setProperty("--split", width + "px");
    const needed = Math.max(...ends.map(([n, rest]) => n * width + rest));
    if (isFit) zoom = Math.max(SMALLEST, Math.min(1, room / needed));
    canvas.style.setProperty("--zoom", String(zoom));
    byId("zoom-fit").setAttribute("aria-pressed", String(isFit));
  }

  function zoomBy(factor) {
    isFit = false;
    zoom = Math.min(ZOOMS[1], Math.max(ZOOMS[0], zoom * factor));
    fit();
  }

  function foldAll(folds) {
    opened = [];
    boxes.forEach((box, node) => { if (boxes.has(data.left[node])) fold(node, folds(itemOf(node))); });
    fit();
  }

  drawing.querySelectorAll(".fold").forEach((button) => {
    const node = Number(button.closest(".row").querySelector(".box").dataset.node);
    button.dataset.leaves = button.textContent;
    button.hidden = false;
    button.addEventListener("click", () => {
      opened = opened.filter((one) => one !== node);
      fold(node, !isFolded(node));
      fit();
    });
  });
  const startsFolded = (item) => item.hasAttribute("data-folded");
  byId("tools").hidden = boxes.size < 4;
  byId("zoom-in").addEventListener("click", () => zoomBy(ZOOM_STEP));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / ZOOM_STEP));
  byId("zoom-fit").addEventListener("click", () => { isFit = true; fit(); });
  byId("unfold").addEventListener("click", () => foldAll(() => false));
  byId("refold").addEventListener("click", () => foldAll(startsFolded));
  byId("refold").hidden = byId("unfold").hidden = !drawing.querySelector("[data-folded]");
  foldAll(startsFolded);
  new ResizeObserver(fit).observe(drawing);

  function countsAs(feature) {
    if (feature.separate) return "counts as missing";
    return "counts as " + (feature.names ? feature.names[feature.missing] : String(feature.missing));
  }

  function valueText(place, record) {
    const feature = data.features[place], value = record[place];
    if (value === null || value === undefined) {
      return feature.separate ? "missing" : "missing, " + countsAs(feature);
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
    if (data.support) parts.push(element("span", data.support[leaf], "support"));
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
      if (input.value === "other") note = countsAs(feature);
      else if (input.value !== "") value = Number(input.value);
    } else if (input.value !== "") {
      const code = feature.names.indexOf(input.value);
      if (code >= 0) value = code;
      else note = "not a category: " + countsAs(feature);
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
    prediction.replaceChildren(element("span", "No record yet.", "result-empty"));
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
    const canFold = boxes.has(data.left[node]);
    const folds = { "-": true, "+": false, ArrowRight: isFolded(node) ? false : undefined }[event.key];
    if (folds !== undefined && canFold) {
      event.preventDefault();
      opened = opened.filter((one) => one !== node);
      fold(node, folds);
      fit();
      return;
    }
    const order = [...boxes.keys()].filter(isSeen);
    const next = {
      ArrowLeft: parent[node],
      ArrowRight: data.left[node],
      ArrowUp: order[order.indexOf(node) - 1],
      ArrowDown: order[order.indexOf(node) + 1],
    }[event.key];
    if (next === undefined || !boxes.has(next)) return;
    event.preventDefault();
    boxes.get(next).focus({ preventScroll: true });
    reveal(boxes.get(next));
    boxes.get(next).scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  /* --- poison ------------------------------------------------------------------------------ */

  const table = data.certificate;
  if (!table) return;
  byId("poison-box").hidden = false;
  const start = byId("start"), slider = byId("edits"), figure = byId("figure"), curve = byId("curve");
  const sources = [...document.querySelectorAll("input[name=source]")];
  const whole = new Intl.NumberFormat("en");

  /* Figures are rounded down. */
  function score(steps) { return (steps / table.steps * 100).toFixed(steps % 100 ? 2 : 0) + "%"; }

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
    while (row + 1 < table.starts.length && table.starts[row + 1] <= typed * table.steps + 1e-9) row += 1;
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

  /* Between two numbers of edits the worse figure holds, so the curve has steps. */
  function staircase(values, x, y, columns) {
    let path = "M" + x(0) + " " + y(values[0]);
    for (let i = 1; i < columns; i += 1) path += "V" + y(values[i]) + "H" + x(table.edits[i]);
    return path;
  }

  function drawCurve(row, column) {
    let columns = Math.max(table.edits.findIndex((number, i) => guaranteed(row, i) < table.steps / 100), 3, column + 1);
    if (columns < 3 || columns > table.edits.length) columns = table.edits.length;
    const last = table.edits[columns - 1];
    const x = (edits) => PLOT.left + (PLOT.right - PLOT.left) * edits / last;
    const y = (steps) => PLOT.bottom - (PLOT.bottom - PLOT.top) * steps / table.steps;
    const parts = [];
    for (let quarter = 0; quarter <= 4; quarter += 1) {
      const at = y(quarter * table.steps / 4);
      parts.push(svg("line", { class: "grid", x1: PLOT.left, x2: PLOT.right, y1: at, y2: at }));
      parts.push(svg("text", { x: PLOT.left - 8, y: at + 4, "text-anchor": "end" }, quarter * 25 + "%"));
    }
    const size = Math.pow(10, Math.floor(Math.log10(last))), spacing = [0.2, 0.5, 1].map((f) => f * size)
      .find((s) => last / s <= 6 && s >= 1) || Math.max(1, size);
    for (let tick = 0; tick <= last; tick += spacing) {
      parts.push(svg("text", { x: x(tick), y: PLOT.bottom + 18, "text-anchor": "middle" }, whole.format(tick)));
    }
    parts.push(svg("text", { class: "axis", x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 40, "text-anchor": "middle" },
      table.edited[1] + " added or removed"));
    const ours = table.edits.map((number, i) => guaranteed(row, i));
    const line = staircase(ours, x, y, columns);
    parts.push(svg("path", { class: "area", d: line + "V" + y(0) + "H" + x(0) + "Z" }));
    parts.push(svg("path", { class: "paper", d: staircase(table.edits.map((number, i) => paper(row, i)), x, y, columns) }));
    parts.push(svg("path", { class: "ours", d: line }));
    const at = x(table.edits[column]), height = y(ours[column]);
    parts.push(svg("line", { class: "marker", x1: at, x2: at, y1: PLOT.top, y2: PLOT.bottom }));
    parts.push(svg("circle", { class: "dot", cx: at, cy: height, r: 6 }));
    const whose = whoseAccuracy(row);
    if (whose) parts.push(svg("text", { class: "whose", x: PLOT.right, y: PLOT.top + 24, "text-anchor": "end" }, whose));
    curve.setAttribute("aria-label", (whose ? whose + ": g" : "G")
      + "uaranteed expected accuracy against the number of poisoned " + table.edited[1]);
    curve.replaceChildren(...parts);
  }

  /* The caption of a curve that does not come from a certificate. */
  function whoseAccuracy(row) {
    if (fromFile()) return "";
    return isExample() ? "Example: if it were " + score(table.starts[row]) + " without poison"
      : "If it is " + score(table.starts[row]) + " without poison (assumed)";
  }

  /* What is added or removed: records, or units of several records. */
  function edited(edits) {
    return whole.format(edits) + " " + table.edited[edits === 1 ? 0 : 1] + " added or removed";
  }

  /* A guarantee with its condition before it, so that they are read together. */
  function conditionalFigure(row, edits, steps) {
    const share = score(table.starts[row]);
    const assumption = isExample()
      ? ["If " + share + " of predictions were right on average without poison (", element("strong", "an example, not measured"), "),"]
      : ["If " + share + " of predictions are right on average without poison (",
        element("strong", [element("span", "your", "on-screen"), element("span", "an", "on-paper"), " assumption, not measured"]), "),"];
    const verb = isExample() ? "would be" : "are";
    const then = edits === 0 ? [element("span", "then with no " + table.edited[0] + " added or removed", "what"),
      element("span", score(steps), "big"), element("span", verb + " right on average.", "what")]
      : steps === 0 ? [element("span", "then with " + edited(edits), "what"),
        element("span", "0%", "big"), element("span", "nothing is guaranteed.", "what")]
      : [element("span", "then at least", "what"), element("span", score(steps), "big"),
        element("span", verb + " right on average with " + edited(edits) + ".", "what")];
    return [...(isExample() ? [element("span", "example", "badge example")] : []), element("span", assumption, "what if"), ...then];
  }

  function measuredFigure(edits, steps) {
    const what = edits === 0 ? "expected without poison"
      : steps === 0 ? "nothing is guaranteed"
      : "expected accuracy is guaranteed with " + edited(edits);
    return [element("span", score(steps), "big"), element("span", what, "what")];
  }

  function startHint(row) {
    if (row < 0) return "Please type a number from 0 to 1, such as 0.85.";
    const example = "Nothing is typed in. The figures are an example with " + score(table.starts[row]) + ". ";
    const exact = fromFile() || isExample() || Math.abs(typedAccuracy() * table.steps - table.starts[row]) < 1e-6;
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
    slider.setAttribute("aria-valuetext", whole.format(edits) + " " + table.edited[1]);
    const twice = " changed " + table.edited[0] + " counts as two.";
    byId("edits-note").textContent = edits > 1
      ? "or " + whole.format(Math.floor(edits / 2)) + " changed: a" + twice
      : "A" + twice;
    start.setAttribute("aria-invalid", String(row < 0));
    if (row < 0) {
      figure.replaceChildren(element("span", "–", "big"), element("span", "no valid accuracy given", "what"));
      figure.dataset.steps = "";
      curve.replaceChildren();
      return;
    }
    const steps = guaranteed(row, column);
    figure.dataset.steps = String(steps);
    const lines = fromFile() ? measuredFigure(edits, steps) : conditionalFigure(row, edits, steps);
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
