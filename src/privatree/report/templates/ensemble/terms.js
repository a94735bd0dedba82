/* --- terms: their cells, values and words -------------------------------------------------- */

const MINUS = "\u2212", N_CLASSES = data.classes.length, TWO = N_CLASSES === 2;
const NUMBER = data.target !== null, ONE_SCORE = TWO || NUMBER;
const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
let about = TWO ? 1 : 0; /* the class that the charts are about */

/* A number on an axis: short, but 1990 stays 1990. */
function shortNumber(value) {
  const text = Math.abs(value) >= 10000 ? compact.format(value) : plain.format(value);
  return text.replace("-", MINUS);
}

function size(value, digits = data.digits) {
  return Math.abs(value) < 1e6 ? Math.abs(value).toFixed(digits) : shortNumber(Math.abs(value));
}

function signed(value, digits = data.digits) {
  const text = size(value, digits);
  return Number(text) === 0 ? text : (value < 0 ? MINUS : "+") + text;
}

function namesOf(term) { return term.features.map((place) => data.features[place].name); }

function titleOf(term) { return namesOf(term).join(" and "); }

/* The terms that chance alone explains. Of a declared direction the sign was not drawn. */
function isWeak(term) { return term.beyond === 0; }

/* The place of a cell among all cells, from its places on the axes. */
function flatPlace(term, cells) {
  return cells.reduce((place, cell, axis) => place * term.shape[axis] + cell, 0);
}

/* What a term adds for a class, without what it adds for all classes alike. */
function effectAt(term, flat, label = about) { return term.effects[ONE_SCORE ? flat : flat * N_CLASSES + label]; }

function bandAt(term, flat, label = about) {
  if (!term.band) return null;
  return term.band[ONE_SCORE ? flat : flat * N_CLASSES + label];
}

/* Whether chance explains an effect; one that is as large as its band is not beyond it. */
function isWithin(term, flat) {
  const chance = bandAt(term, flat);
  return chance !== null && Math.abs(effectAt(term, flat)) <= chance * (1 + 1e-9);
}

function countCells(term) { return term.shape.reduce((product, n) => product * n, 1); }

/* --- cells of an axis ---------------------------------------------------------------------- */

/* The categories of each cell, as codes. */
function codesOfCells(term, axis) {
  const feature = data.features[term.features[axis]], cells = data.groupings[term.cells[axis]];
  const n = feature.names.length + (feature.separate ? 1 : 0);
  const found = Array.from({ length: term.shape[axis] }, () => []);
  for (let code = 0; code < n; code += 1) found[cells ? cells[code] : code].push(code);
  return found;
}

function categoryName(feature, code) { return code < feature.names.length ? feature.names[code] : "missing"; }

/* The cut points between the cells of a number. A first one of null has missing values below it. */
function cutsOf(term, axis) { return term.cells[axis].map((place) => data.features[term.features[axis]].cuts[place]); }

function hasMissingCell(term, axis) {
  return !data.features[term.features[axis]].names && cutsOf(term, axis)[0] === null;
}

/* The words for the cells of an axis, as in the table of all terms. */
function cellWords(term, axis, mostNames = 3) {
  const feature = data.features[term.features[axis]];
  if (feature.names) {
    return codesOfCells(term, axis).map((codes) => {
      const names = codes.slice(0, mostNames).map((code) => categoryName(feature, code));
      if (codes.length > mostNames) return names.join(", ") + " or " + (codes.length - mostNames) + " more";
      return names.length > 1 ? names.slice(0, -1).join(", ") + " or " + names[names.length - 1] : names[0];
    });
  }
  const missing = hasMissingCell(term, axis);
  const shown = term.cells[axis].map((place) => feature.shown[place]).slice(missing ? 1 : 0);
  const words = missing ? ["missing"] : [];
  if (!shown.length) return [...words, "any number"];
  words.push((feature.separate && !missing ? "missing or " : "") + "at most " + shown[0]);
  for (let i = 1; i < shown.length; i += 1) words.push("above " + shown[i - 1] + ", at most " + shown[i]);
  return [...words, "above " + shown[shown.length - 1]];
}

/* Whether the axis of a number is bent: the range is much wider than the released interval. */
function isBent(feature) {
  return Boolean(feature.interval) && feature.interval[1] - feature.interval[0] < 0.25 * (feature.high - feature.low);
}

/* Where a number is on an axis from 0 to 1. On a bent axis the interval has half of the room, and
   the distance from it is logarithmic. */
function along(feature, value) {
  const part = (low, high) => Math.min(1, Math.max(0, (value - low) / (high - low)));
  if (!isBent(feature)) return part(feature.low, feature.high);
  const [start, end] = feature.interval;
  const far = (distance) => Math.log1p(Math.max(0, distance) / (end - start));
  const below = far(start - feature.low), outside = below + far(feature.high - end);
  return 0.5 * part(start, end) + 0.5 * (below - far(start - value) + far(value - end)) / outside;
}

/* The ends of a released interval as text; of whole numbers, the first and the last inside. A value
   equal to the lower end is outside, unless it is the lowest of all. */
function intervalTexts(feature) {
  const [start, end] = feature.interval;
  if (!feature.integer) return [shortNumber(start), shortNumber(end)];
  return [shortNumber(start === feature.low ? Math.ceil(start) : Math.floor(start) + 1), shortNumber(Math.floor(end))];
}

const MISSING_WIDTH = 0.1, MISSING_GAP = 0.03;

/* The cells of an axis with their ends from 0 to 1. Missing values have a place before the numbers. */
function cellsAlong(term, axis) {
  const feature = data.features[term.features[axis]], n = term.shape[axis];
  if (feature.names) return Array.from({ length: n }, (_, i) => ({ from: i / n, to: (i + 1) / n }));
  const missing = hasMissingCell(term, axis);
  const inner = cutsOf(term, axis).slice(missing ? 1 : 0);
  const ends = [feature.low, ...inner, feature.high].map((value) => alongAxis(term, axis, value));
  const cells = ends.slice(1).map((end, i) => ({ from: ends[i], to: end }));
  return missing ? [{ from: 0, to: MISSING_WIDTH, missing: true }, ...cells] : cells;
}

function alongAxis(term, axis, value) {
  const room = hasMissingCell(term, axis) ? MISSING_WIDTH + MISSING_GAP : 0;
  return room + (1 - room) * along(data.features[term.features[axis]], value);
}

/* --- a record -------------------------------------------------------------------------------- */

/* The cell of a value, as in predict: a value equal to a cut point is below it. */
function cellOf(term, axis, record) {
  const place = term.features[axis], feature = data.features[place];
  let value = record[place];
  if (value === null || Number.isNaN(value)) value = feature.missing;
  if (feature.names) return term.cells[axis] === null ? value : data.groupings[term.cells[axis]][value];
  if (value === null) return 0; /* missing values that are separate */
  return cutsOf(term, axis).filter((cut) => cut === null || cut < value).length;
}

function placeOf(term, record) {
  return term.shape.map((n, axis) => cellOf(term, axis, record));
}

/* The score of each class; two classes have the score 0 and the log-odds. For a number there is one.
   Scores are an origin plus multiples of a unit. Without their rounding errors, ties are ties, as in
   predict. */
function scoresOf(record) {
  const scores = [...data.start];
  data.terms.forEach((term) => {
    const flat = flatPlace(term, placeOf(term, record));
    scores.forEach((_, i) => { scores[i] += term.effects[flat * scores.length + i]; });
  });
  const exact = scores.map((score) => data.origin + Math.round((score - data.origin) / data.unit) * data.unit);
  return TWO ? [0, ...exact] : exact;
}

/* The predicted number of a score, as in predict. */
function targetOf(score) {
  const [low, high] = data.target.ends;
  return Math.min(high, Math.max(low, data.target.log ? Math.expm1(score) : score));
}

function exponentOf(value) { return Number(value.toExponential().split("e")[1]); }

/* A predicted number with four digits, or more where the range is far from 0. */
function targetText(value) {
  const [low, high] = data.target.ends, exponent = exponentOf(value);
  const digits = value === 0 ? 1 : exponent - Math.min(exponent, exponentOf(high - low)) + 4;
  return String(Number(value.toPrecision(Math.min(digits, 100)))).replace("-", MINUS);
}

/* What the terms add to: the score of a class, or a number, or its logarithm. */
function scoreName() {
  if (TWO) return "the log-odds";
  if (!NUMBER) return "a score";
  return data.target.log ? "the logarithm of 1 + " + data.target.called : data.target.called;
}

function probabilities(scores) {
  const most = Math.max(...scores), powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
