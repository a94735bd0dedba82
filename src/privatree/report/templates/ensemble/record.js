/* --- a record as a waterfall --------------------------------------------------------------------- */

const MOST_BARS = 10;

/* The sum of the effects of terms on the score of the chosen class, largest first. */
function pushes() {
  return data.terms.map((term) => ({ term, effect: effectAt(term, flatPlace(term, placeOf(term, record))) }))
    .filter((push) => push.effect !== 0)
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

function startOf() { return data.start[ONE_SCORE ? 0 : about]; }

function valuesText(term) {
  return term.features.map((place) => valueText(place, record)).join(", ");
}

/* A bar from one score to another, in per cent of the width. */
function barRow(words, value, from, to, scale, kind) {
  const bar = element("span", "", "bar-part " + kind);
  bar.style.left = scale(Math.min(from, to)).toFixed(3) + "%";
  bar.style.width = Math.max(0.25, Math.abs(scale(to) - scale(from))).toFixed(3) + "%";
  return element("li", [element("span", words, "what"), element("span", bar, "bar-track"), element("span", value, "push")]);
}

function showRecord() {
  if (!form || record === null) return;
  const scores = scoresOf(record);
  prediction.replaceChildren(element("span", "Prediction for this record:", "word"), ...answerOf(scores));
  const all = pushes(), shown = all.slice(0, MOST_BARS), rest = all.slice(MOST_BARS);
  const start = startOf(), steps = shown.map((push) => push.effect);
  if (rest.length) steps.push(rest.reduce((sum, push) => sum + push.effect, 0));
  let at = start;
  const ends = [start, ...steps.map((step) => (at += step))];
  const low = Math.min(...ends), high = Math.max(...ends), room = 0.04 * (high - low || 1);
  const scale = (score) => 100 * (score - low + room) / (high - low + 2 * room);
  const chance = (score) => (NUMBER ? targetText(targetOf(score)) : TWO ? percent(1 / (1 + Math.exp(-score))) : signed(score));
  const pin = (score) => barRow("", "", score, score, scale, "pin").children[1];
  const row = (words, value, score, kind) => element("li", [element("span", words, "what"), pin(score), element("span", value, "push")], kind);
  const items = [row("Where it starts", chance(start), start, "end")];
  shown.forEach((push, i) => {
    const open = element("button", [element("bdi", titleOf(push.term)), element("span", valuesText(push.term), "value")], "link");
    open.type = "button";
    open.addEventListener("click", () => openTerm(push.term, open));
    items.push(barRow(open, signed(push.effect), ends[i], ends[i + 1], scale, push.effect > 0 ? "up" : "down"));
  });
  if (rest.length) {
    const sum = steps[steps.length - 1];
    items.push(barRow(rest.length + " other term" + (rest.length === 1 ? "" : "s"), signed(sum), ends[ends.length - 2], ends[ends.length - 1], scale, sum > 0 ? "up" : "down"));
  }
  items.push(row("This record", chance(ends[ends.length - 1]), ends[ends.length - 1], "end"));
  byId("waterfall").hidden = false;
  byId("waterfall-title").replaceChildren("What moves ", element("bdi", NUMBER ? data.target.called : data.classes[about]));
  byId("sentence").replaceChildren(...sentenceOf(chanceOf(scores), chance(start), shown));
  byId("steps").replaceChildren(...items);
  byId("waterfall-note").textContent = NUMBER ? numberNote(ends[ends.length - 1]) : TWO
    ? "Bars are log-odds: +0.69 doubles the odds, " + MINUS + "0.69 halves them. It starts where all terms are 0: the mean over all values that the schema allows, which says nothing of how frequent the class is."
    : "Bars are scores of the class, compared with the average of all classes. The probabilities follow from the scores of all classes.";
}

/* The class with the largest score and all probabilities, or the number. */
function answerOf(scores) {
  if (NUMBER) {
    const value = targetOf(scores[0]);
    prediction.dataset.value = String(value);
    return [element("span", targetText(value), "label c0"), element("bdi", data.target.called, "word")];
  }
  const shares = probabilities(scores), label = scores.indexOf(Math.max(...scores));
  prediction.dataset.probability = JSON.stringify(shares);
  return [element("span", element("bdi", data.classes[label]), "label c" + (label % 8)), shareBars(shares)];
}

/* The probability of the chosen class, or the number, in words. */
function chanceOf(scores) { return NUMBER ? targetText(targetOf(scores[0])) : percent(probabilities(scores)[about]); }

/* What the bars of a number are, and whether their sum is outside the range. */
function numberNote(score) {
  const { called, log, ends: [low, high] } = data.target, value = log ? Math.expm1(score) : score;
  return (log ? "Bars are logarithms of 1 + " + called + ": +0.69 doubles it, " + MINUS + "0.69 halves it."
    : "Bars are in the units of " + called + ".")
    + " It starts where all terms are 0: the mean over all values that the schema allows, which says nothing of how frequent they are."
    + (value < low || value > high ? " The sum is outside the range of " + called + ", so the prediction is the nearer end." : "");
}

/* One sentence: the probability or the number, and the terms that raise and lower it most. */
function sentenceOf(chance, start, shown) {
  const said = (sign) => shown.filter((push) => Math.sign(push.effect) === sign).slice(0, 3)
    .map((push) => titleOf(push.term) + " (" + valuesText(push.term) + ")");
  const joined = (names) => (names.length > 1 ? names.slice(0, -1).join(", ") + " and " + names[names.length - 1] : names[0]);
  const up = said(1), down = said(-1);
  const parts = NUMBER ? ["The prediction is " + chance]
    : ["The probability of ", element("bdi", data.classes[about]), " is " + chance];
  if (ONE_SCORE) parts.push(". It starts at " + start);
  const causes = [];
  if (up.length) causes.push("raised most by " + joined(up));
  if (down.length) causes.push("lowered most by " + joined(down));
  if (causes.length) parts.push((ONE_SCORE ? "; it is " : ". Its score is ") + causes.join(", and "));
  return [...parts, "."];
}

if (data.terms.length && byId("browse")) {
  startGrid();
  startForm((typed) => { record = typed; showGrid(); showRecord(); }, () => {
    record = null;
    delete prediction.dataset.probability;
    delete prediction.dataset.value;
    prediction.replaceChildren(element("span", "No record yet.", "result-empty"));
    byId("waterfall").hidden = true;
    showGrid();
  }, "not a whole number: compared without rounding");
}
