/* --- poison ------------------------------------------------------------------------------ */

function startPoison(table) {
  byId("poison-box").hidden = false;
  const start = byId("start"), slider = byId("edits"), figure = byId("figure"), curve = byId("curve");
  const sources = [...document.querySelectorAll("input[name=source]")];
  const whole = new Intl.NumberFormat("en");

  const isError = table.range !== null, what = isError ? "error" : "accuracy";
  const exponentOf = (value) => Number(value.toExponential().split("e")[1]);

  /* An error with four digits, or fewer if it is a very small part of the range; rounded up. */
  function errorText(error) {
    if (error <= 0) return "0";
    const last = Math.max(exponentOf(error) - 3, exponentOf(table.range) - 6);
    const unit = Math.pow(10, Math.abs(last)), inUnits = last < 0 ? error * unit : error / unit;
    const count = Math.ceil(inUnits * (1 - 1e-12));
    return last < 0 ? String(Number((count / unit).toFixed(Math.min(-last, 100)))) : String(count * unit);
  }

  /* An accuracy in per cent, rounded down. An error is the share of the range that is left. */
  function score(steps) {
    if (isError) return errorText(table.range * ((table.steps - steps) / table.steps));
    return (steps / table.steps * 100).toFixed(steps % 100 ? 2 : 0) + "%";
  }

  function fromFile() { return sources.some((source) => source.checked && source.value === "file"); }

  /* What is typed in, as an accuracy. */
  function typedAccuracy() {
    const text = start.value.trim().replace(",", ".");
    if (isError) return /^[0-9.]+(e[+-]?[0-9]+)?$/i.test(text) ? 1 - Number(text) / table.range : NaN;
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

  const PLOT = { left: isError ? 76 : 64, right: 622, top: 14, bottom: 292 };

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
    const y = (steps) => PLOT.bottom - (PLOT.bottom - PLOT.top) * (isError ? table.steps - steps : steps) / table.steps;
    const parts = [];
    for (let quarter = 0; quarter <= 4; quarter += 1) {
      const at = y((isError ? 4 - quarter : quarter) * table.steps / 4);
      parts.push(svg("line", { class: "grid", x1: PLOT.left, x2: PLOT.right, y1: at, y2: at }));
      parts.push(svg("text", { x: PLOT.left - 8, y: at + 4, "text-anchor": "end" }, isError ? errorText(table.range * quarter / 4) : quarter * 25 + "%"));
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
    parts.push(svg("path", { class: "area", d: line + "V" + PLOT.bottom + "H" + x(0) + "Z" }));
    parts.push(svg("path", { class: "paper", d: staircase(table.edits.map((number, i) => paper(row, i)), x, y, columns) }));
    parts.push(svg("path", { class: "ours", d: line }));
    const at = x(table.edits[column]), height = y(ours[column]);
    parts.push(svg("line", { class: "marker", x1: at, x2: at, y1: PLOT.top, y2: PLOT.bottom }));
    parts.push(svg("circle", { class: "dot", cx: at, cy: height, r: 6 }));
    const whose = whoseAccuracy(row);
    if (whose) parts.push(svg("text", { class: "whose", x: PLOT.right, y: isError ? PLOT.bottom - 12 : PLOT.top + 24, "text-anchor": "end" }, whose));
    curve.setAttribute("aria-label", (whose ? whose + ": g" : "G")
      + "uaranteed expected " + what + " against the number of poisoned " + table.edited[1]);
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
    if (isError) return conditionalError(row, edits, steps);
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

  /* The same for an error. Where nothing is guaranteed, it can be as large as the range. */
  function conditionalError(row, edits, steps) {
    const example = isExample(), verb = example ? " were " : " is ";
    const whose = example ? element("strong", "an example, not measured")
      : element("strong", [element("span", "your", "on-screen"), element("span", "an", "on-paper"), " assumption, not measured"]);
    const condition = ["If the mean absolute error of ", element("bdi", data.target.called), verb + score(table.starts[row]) + " on average without poison (", whose, "),"];
    const then = "then it " + (example ? "would be" : "is") + (edits === 0 || steps === 0 ? "" : " at most");
    const rest = edits === 0 ? "with no " + table.edited[0] + " added or removed."
      : steps === 0 ? "in the worst case, with " + edited(edits) + ": nothing is guaranteed."
      : "on average with " + edited(edits) + ".";
    return [...(example ? [element("span", "example", "badge example")] : []), element("span", condition, "what if"),
      element("span", then, "what"), element("span", score(steps), "big"), element("span", rest, "what")];
  }

  function measuredFigure(edits, steps) {
    const meaning = edits === 0 ? (isError ? "is the largest expected error without poison" : "expected without poison")
      : steps === 0 ? "nothing is guaranteed"
      : isError ? "is the largest expected error with " + edited(edits)
      : "expected accuracy is guaranteed with " + edited(edits);
    return [element("span", score(steps), "big"), element("span", meaning, "what")];
  }

  function startHint(row) {
    const most = isError ? errorText(table.range) : "1";
    if (row < 0) return "Please type a number from 0 to " + most + (isError ? "." : ", such as 0.85.");
    const example = "Nothing is typed in. The figures are an example with " + score(table.starts[row]) + ". ";
    const exact = fromFile() || isExample() || Math.abs(typedAccuracy() * table.steps - table.starts[row]) < 1e-6;
    return (isExample() ? example : "") + "Expected " + what + " on clean data, from 0 to " + most + ". The model does not contain it."
      + (exact ? "" : " Read as " + score(table.starts[row]) + ", the next " + (isError ? "larger error" : "smaller accuracy") + " in the table.");
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
      figure.replaceChildren(element("span", "–", "big"), element("span", "no valid " + what + " given", "what"));
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
}

if (data.certificate) startPoison(data.certificate);
