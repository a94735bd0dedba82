/* --- the grid of small charts, and one of them large ----------------------------------------- */

const FEW = 20;
const isCrowded = data.terms.filter((term) => term.features.length === 1).length > FEW;
const grid = byId("grid"), large = byId("large"), several = data.terms.filter((term) => term.features.length > 1);
let record = null, nShown = FEW, showsWeak = false, sameScale = false, listed = [], opened = null, opener = null, pointed = null;

function strengthText(term) {
  const beyond = term.beyond === null ? "direction declared"
    : term.beyond === 0 ? "within chance" : "beyond chance for " + percent(term.beyond) + " of values";
  return "strength " + shortNumber(Number(term.strength.toPrecision(2))) + ", " + beyond;
}

const total = data.strength || 1;
const strongest = data.terms.reduce((most, term) => Math.max(most, term.strength), 1e-300);

function cardOf(term, shared) {
  const bar = element("span", "", "strength-bar");
  bar.style.width = (100 * term.strength / strongest).toFixed(2) + "%";
  const isList = term.features.length > 2;
  const picture = element("span", chartOf(term, SMALL, shared, record), "picture");
  if (!isList) picture.setAttribute("aria-hidden", "true");
  const scale = term.features.length === 2 ? [heatKey(term, shared)] : [];
  const card = element("button", [
    element("span", [element("bdi", titleOf(term), "card-title"), ...(isWeak(term) ? [element("span", "within chance", "tag weak")] : [])], "card-head"),
    element("span", [bar], "strength"),
    picture, ...scale,
  ], "card" + (isWeak(term) ? " is-weak" : ""));
  card.type = "button";
  card.tabIndex = -1;
  card.dataset.term = String(data.terms.indexOf(term));
  card.setAttribute("aria-label", titleOf(term) + ": " + strengthText(term));
  card.setAttribute("aria-haspopup", "dialog");
  return card;
}

/* The scale of a heat map, in numbers. */
function heatKey(term, shared) {
  const most = Math.max(...(shared || extent([term])).map(Math.abs));
  return element("span", [element("span", signed(-most)), element("span", "", "ramp"), element("span", signed(most))], "heat-key");
}

/* --- which terms are shown ---------------------------------------------------------------------- */

function countPairs() { return byId("pairs") ? Number(byId("pairs").value) : several.length; }

function showGrid() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const left = new Set(several.slice(countPairs()));
  const matching = data.terms.filter((term) => !left.has(term)
    && (!wanted || namesOf(term).some((name) => name.toLowerCase().includes(wanted))));
  /* A single feature is shown even if chance explains it, unless there are many. */
  const folded = wanted ? [] : matching.filter((term) => isWeak(term) && (isCrowded || term.features.length > 1));
  const first = matching.filter((term) => !folded.includes(term));
  listed = showsWeak ? [...first, ...folded] : first;
  const shared = sameScale ? extent(matching) : null;
  const focused = document.activeElement && document.activeElement.dataset.term;
  grid.replaceChildren(...listed.slice(0, nShown).map((term) => cardOf(term, shared)));
  const cards = [...grid.children];
  const focus = cards.find((card) => card.dataset.term === focused);
  if (cards.length) (focus || cards[0]).tabIndex = 0;
  if (focus) focus.focus({ preventScroll: true });
  const rest = listed.length - Math.min(nShown, listed.length);
  byId("more").hidden = rest === 0;
  byId("more").textContent = "Show " + Math.min(rest, FEW) + " more";
  byId("weak").hidden = folded.length === 0;
  byId("weak").textContent = showsWeak ? "Hide what is weaker than chance" : "Weaker than chance: " + folded.length + " more";
  byId("weak").setAttribute("aria-expanded", String(showsWeak));
  byId("grid-said").textContent = listed.length === 0 ? "No term fits."
    : cards.length + " of " + data.n_terms + " terms are shown.";
  showPairsNote();
}

/* What leaving out terms of several features would change. */
function showPairsNote() {
  if (!byId("pairs")) return;
  const n = countPairs(), left = several.slice(n);
  byId("pairs-shown").textContent = n === several.length ? "all " + n : n + " of " + several.length;
  const typical = Math.sqrt(left.reduce((sum, term) => sum + term.typical ** 2, 0));
  const most = left.reduce((sum, term) => sum + term.largest, 0);
  byId("pairs-said").textContent = left.length === 0 ? ""
    : "Without the other " + left.length + ", " + scoreName() + " would typically change by "
      + size(typical) + ", and never by more than " + size(most) + "." + (form ? " Predictions on this page always count all terms." : "");
}

/* --- one term, large ------------------------------------------------------------------------------ */

function openTerm(term, from = opener) {
  opener = from;
  opened = term;
  pointed = null;
  if (!large.open) large.showModal();
  byId("large-table").open = false;
  showLarge();
  (term.features.length > 2 ? byId("close") : byId("large-chart")).focus();
}

function showLarge() {
  const term = opened, place = data.terms.indexOf(term);
  byId("large-title").replaceChildren(element("bdi", titleOf(term)));
  const shares = term.features.map((at) => data.features[at].name + " has " + percent(data.features[at].share) + " of all strengths");
  byId("large-facts").textContent = "Strength " + shortNumber(Number(term.strength.toPrecision(3))) + ": place " + (term.place + 1) + " of " + data.n_terms
    + ", " + percent(term.strength / total) + " of all. " + (term.beyond === null ? "Its direction was declared, so there is no band of chance."
    : term.beyond === 0 ? "Nowhere beyond chance." : "Beyond chance for " + percent(term.beyond) + " of the values that the schema allows.")
    + " With all of its terms, " + shares.join(", and ") + ".";
  drawLarge();
  byId("large-notes").textContent = notesOf(term).join(" ");
  byId("before").disabled = place === 0;
  byId("after").disabled = place === data.terms.length - 1;
  byId("large-table").hidden = false;
  byId("large-table").querySelector(".table-box").replaceChildren(tableOf(term));
}

function drawLarge() {
  byId("large-chart").replaceChildren(chartOf(opened, largeLook(opened), null, record, pointed),
    ...(opened.features.length === 2 ? [axisNames(opened), heatKey(opened, null)] : []));
  byId("readout").textContent = pointed === null
    ? record ? "This record: " + readoutText(opened, flatPlace(opened, placeOf(opened, record)))
      : opened.features.length > 2 ? "The cells with the largest effects." : "Point at the chart, or use the arrow keys."
    : readoutText(opened, pointed);
}

function axisNames(term) {
  const [across, upright] = namesOf(term);
  return element("p", ["Horizontal: ", element("bdi", across), " · vertical: ", element("bdi", upright)], "axis-names quiet");
}

/* What an effect does to the odds of a class, or to a number. */
function meaningOf(effect) {
  const factor = Math.exp(effect).toPrecision(3);
  if (TWO) return ", odds of " + data.classes[1] + " times " + factor;
  if (!NUMBER) return " for " + data.classes[about];
  return data.target.log ? ", 1 + " + data.target.called + " times " + factor : "";
}

function readoutText(term, flat) {
  const effect = effectAt(term, flat), chance = bandAt(term, flat);
  const band = chance === null ? "" : isWithin(term, flat) ? "; chance alone explains up to ±" + size(chance)
    : "; beyond the ±" + size(chance) + " of chance";
  return conditionText(term, flat) + ": " + signed(effect) + meaningOf(effect) + band + ".";
}

function notesOf(term) {
  const notes = [];
  term.features.forEach((at) => {
    const feature = data.features[at];
    if (feature.interval) notes.push("An interval of " + feature.name + " was released with the model: " + intervalTexts(feature).join(" to ") + ". It was drawn with noise, and probably has most of the records."
      + (isBent(feature) ? " The axis is bent: the interval, with dotted lines at its ends, has half of it, and beyond it the axis is logarithmic." : ""));
    if (feature.direction) notes.push(feature.name + " was declared to " + (feature.direction > 0 ? "never lower" : "never raise") + (NUMBER ? " the prediction." : " the probability of " + data.classes[1] + "."));
  });
  if (term.features.length === 2) notes.push("A pair shows what remains when both features have their own terms. Numbers that chance explains are slanted.");
  if (term.features.length === 1 && data.features[term.features[0]].names && term.shape[0] > 200) notes.push("The chart has the 200 categories with the largest effects.");
  return notes;
}

const MOST_ROWS = 500;

/* All cells of a term as a table, for screen readers and for exact figures. */
function tableOf(term) {
  const n = countCells(term), flats = n <= MOST_ROWS ? Array.from({ length: n }, (_, i) => i) : largestCells(term, MOST_ROWS);
  const words = term.shape.map((_, axis) => cellWords(term, axis));
  const head = [...namesOf(term), "effect", "chance"].map((name) => {
    const made = element("th", element("bdi", name));
    made.scope = "col";
    return made;
  });
  const rows = flats.map((flat) => {
    const chance = bandAt(term, flat);
    return element("tr", [...cellsOfFlat(term, flat).map((cell, axis) => element("td", element("bdi", words[axis][cell]))),
      element("td", signed(effectAt(term, flat), data.digits + 1)), element("td", chance === null ? "" : "±" + size(chance, data.digits + 1))]);
  });
  const caption = n > MOST_ROWS ? "The " + MOST_ROWS + " largest of " + n + " values of " : "Values of ";
  return element("table", [element("caption", caption + titleOf(term), "hidden"), element("thead", element("tr", head)), element("tbody", rows)], "values");
}

function moveOpened(by) {
  const next = data.terms[data.terms.indexOf(opened) + by];
  if (next) openTerm(next);
}

/* The next cell in the direction of an arrow key. */
function movePointed(key) {
  const term = opened, isOne = term.features.length === 1;
  if (term.features.length > 2) return false;
  const start = pointed === null ? (record ? flatPlace(term, placeOf(term, record)) : null) : pointed;
  if (isOne) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (!by) return false;
    const { order } = byId("large-chart").querySelector("svg"); /* the cells that are drawn */
    const at = start === null ? (by > 0 ? -1 : order.length) : order.indexOf(start);
    pointed = order[Math.min(order.length - 1, Math.max(0, at + by))];
    return true;
  }
  const down = data.features[term.features[1]].names ? 1 : -1; /* numbers grow upwards */
  const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, down], ArrowUp: [0, -down] }[key];
  if (!by) return false;
  const cells = start === null ? [0, 0] : cellsOfFlat(term, start).map((cell, axis) => Math.min(term.shape[axis] - 1, Math.max(0, cell + by[axis])));
  pointed = flatPlace(term, cells);
  return true;
}

function startGrid() {
  document.documentElement.classList.add("scripted");
  byId("browse").hidden = false;
  const pairs = byId("pairs"), select = byId("about-class");
  if (pairs) {
    pairs.max = String(several.length);
    pairs.value = pairs.max;
    pairs.addEventListener("input", showGrid);
  }
  if (select) {
    data.classes.forEach((name, label) => {
      const option = element("option", name);
      option.value = String(label);
      select.append(option);
    });
    select.addEventListener("input", () => { about = Number(select.value); showGrid(); showRecord(); });
  }
  byId("filter").addEventListener("input", () => { nShown = FEW; showGrid(); });
  byId("same-scale").addEventListener("click", () => {
    sameScale = !sameScale;
    byId("same-scale").setAttribute("aria-pressed", String(sameScale));
    showGrid();
  });
  byId("more").addEventListener("click", () => {
    const first = grid.children.length;
    nShown += FEW;
    showGrid();
    if (grid.children[first]) grid.children[first].focus();
  });
  byId("weak").addEventListener("click", () => {
    showsWeak = !showsWeak;
    nShown = showsWeak ? Math.max(nShown, listed.length + FEW) : FEW;
    showGrid();
  });
  grid.addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (card) openTerm(data.terms[Number(card.dataset.term)], card);
  });
  /* The Tab key stops once at the grid. From there the arrow keys move between charts. */
  grid.addEventListener("focusin", (event) => {
    [...grid.children].forEach((card) => { card.tabIndex = card === event.target ? 0 : -1; });
  });
  grid.addEventListener("keydown", (event) => {
    const cards = [...grid.children], at = cards.indexOf(event.target);
    if (at < 0) return;
    const columns = Math.max(1, cards.filter((card) => card.offsetTop === cards[0].offsetTop).length);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: cards.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    if (cards[next]) cards[next].focus();
  });
  byId("close").addEventListener("click", () => large.close());
  byId("before").addEventListener("click", () => moveOpened(-1));
  byId("after").addEventListener("click", () => moveOpened(1));
  large.addEventListener("click", (event) => { if (event.target === large) large.close(); });
  large.addEventListener("close", () => {
    const card = grid.contains(opener) && grid.querySelector("[data-term='" + data.terms.indexOf(opened) + "']");
    (card || opener).focus();
  });
  const chart = byId("large-chart");
  chart.addEventListener("keydown", (event) => {
    if (!movePointed(event.key)) return;
    event.preventDefault();
    drawLarge();
  });
  const point = (event) => {
    const picture = chart.querySelector("svg");
    if (!picture || !picture.cellAt) return;
    const box = picture.getBoundingClientRect(), factor = picture.viewBox.baseVal.width / box.width;
    const at = picture.cellAt((event.clientX - box.left) * factor, (event.clientY - box.top) * factor);
    if (at === pointed || at === null || at < 0) return;
    pointed = at;
    drawLarge();
  };
  chart.addEventListener("pointermove", point);
  chart.addEventListener("pointerdown", point);
  new ResizeObserver(() => { if (large.open) drawLarge(); }).observe(large);
  showGrid();
}
