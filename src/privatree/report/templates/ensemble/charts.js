/* --- charts ---------------------------------------------------------------------------------- */

const SMALL = { width: 300, height: 168, left: 40, right: 12, top: 10, bottom: 24, rows: 6, large: false };

function largeLook(term) {
  const wide = byId("large-chart").clientWidth || 900, narrow = wide < 560;
  const isRows = term.features.length === 1 && data.features[term.features[0]].names;
  const look = { width: wide, height: narrow ? 300 : 420, left: narrow ? 52 : 64, right: 16, top: 16, bottom: 44, rows: 200, large: true };
  if (isRows) look.height = look.top + look.bottom + 26 * Math.min(look.rows, term.shape[0]);
  return look;
}

function drawing(look) {
  return svg("svg", { viewBox: "0 0 " + look.width + " " + look.height, class: "chart", "aria-hidden": "true" });
}

/* Round numbers between two ends. */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [];
  const size = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = size * [1, 2, 5, 10].find((factor) => raw <= factor * size * 1.0001);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) found.push(i * step);
  return found;
}

function cut(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

/* The largest effect, or band of chance, of some terms: the end of a scale. */
function extent(terms) {
  let low = 0, high = 0;
  terms.forEach((term) => {
    for (let flat = 0; flat < countCells(term); flat += 1) {
      const effect = effectAt(term, flat);
      low = Math.min(low, effect);
      high = Math.max(high, effect);
    }
  });
  return [low, high];
}

/* The scale of the effects of a term of one feature: all of its values and, if it is not much wider,
   its band of chance. */
function scaleOf(term, shared) {
  let [low, high] = shared || extent([term]);
  let band = 0;
  for (let cell = 0; term.band && cell < countCells(term); cell += 1) band = Math.max(band, bandAt(term, cell));
  const most = Math.max(high, -low, 1e-9);
  low = Math.min(low, -Math.min(band, most));
  high = Math.max(high, Math.min(band, most));
  const room = 0.06 * (high - low);
  return [low - room, high + room];
}

/* --- a step function ------------------------------------------------------------------------- */

function drawSteps(term, look, shared, record, chosen) {
  const picture = drawing(look), cells = cellsAlong(term, 0), [low, high] = scaleOf(term, shared);
  const x = (part) => look.left + (look.width - look.left - look.right) * part;
  const y = (value) => look.top + (look.height - look.top - look.bottom) * (high - value) / (high - low);
  const bottom = look.height - look.bottom;
  effectTicks(picture, look, low, high, y);
  let band = "", fill = { up: "", down: "" }, line = "", before = null;
  cells.forEach((cell, i) => {
    const effect = effectAt(term, i), chance = bandAt(term, i), box = x(cell.from), end = x(cell.to);
    if (chance !== null) {
      band += "M" + box.toFixed(1) + " " + y(Math.min(chance, high)).toFixed(1) + "H" + end.toFixed(1) + "V" + y(Math.max(-chance, low)).toFixed(1) + "H" + box.toFixed(1) + "Z";
    }
    fill[effect >= 0 ? "up" : "down"] += "M" + box.toFixed(1) + " " + y(0).toFixed(1) + "V" + y(effect).toFixed(1) + "H" + end.toFixed(1) + "V" + y(0).toFixed(1) + "Z";
    line += (before === null || cells[i - 1].missing ? "M" + box.toFixed(1) + " " : "V") + y(effect).toFixed(1) + "H" + end.toFixed(1);
    before = effect;
  });
  if (band) picture.append(svg("path", { class: "band", d: band }));
  picture.append(svg("path", { class: "fill up", d: fill.up }), svg("path", { class: "fill down", d: fill.down }));
  picture.append(svg("line", { class: "zero", x1: look.left, x2: look.width - look.right, y1: y(0), y2: y(0) }));
  picture.append(svg("path", { class: "steps", d: line }));
  numberTicks(picture, look, term, 0, x, bottom, false);
  if (record) {
    const at = cells[cellOf(term, 0, record)], value = recordNumber(term, 0, record);
    const here = value === null ? (at.from + at.to) / 2 : alongAxis(term, 0, value);
    markPlace(picture, x(here), look.top, bottom, y(effectAt(term, cellOf(term, 0, record))));
  }
  if (chosen !== null) markPlace(picture, x((cells[chosen].from + cells[chosen].to) / 2), look.top, bottom, y(effectAt(term, chosen)), "chosen");
  picture.cellAt = (px) => cells.findIndex((cell) => px <= x(cell.to));
  picture.order = cells.map((_, i) => i);
  return picture;
}

function markPlace(picture, x, top, bottom, y, kind = "mark") {
  picture.append(svg("line", { class: kind, x1: x, x2: x, y1: top, y2: bottom }));
  picture.append(svg("circle", { class: kind, cx: x, cy: y, r: 4.5 }));
}

/* The number of a record on an axis, or null if the value is missing with a place of its own. */
function recordNumber(term, axis, record) {
  const place = term.features[axis], feature = data.features[place];
  const value = record[place] === null || Number.isNaN(record[place]) ? feature.missing : record[place];
  return value === null ? null : Math.min(feature.high, Math.max(feature.low, value));
}

function effectTick(tick, low, high) {
  return signed(tick, Math.min(20, Math.max(NUMBER ? 0 : 1, 1 - exponentOf(high - low))));
}

function effectTicks(picture, look, low, high, y) {
  ticks(low, high, look.large ? 6 : 4).forEach((tick) => {
    picture.append(svg("line", { class: "gridline", x1: look.left, x2: look.width - look.right, y1: y(tick), y2: y(tick) }));
    picture.append(svg("text", { x: look.left - 5, y: y(tick) + 4, "text-anchor": "end" }, effectTick(tick, low, high)));
  });
}

/* The ticks of a number: its ends, the ends of the released interval, and round numbers between. */
function numberTicks(picture, look, term, axis, x, at, upright) {
  const feature = data.features[term.features[axis]];
  const bent = isBent(feature), inner = bent ? feature.interval : [feature.low, feature.high];
  const powers = bent ? Array.from({ length: 15 }, (_, i) => Math.pow(10, i)) : [];
  const beyond = powers.filter((value) => value > inner[1] && value < feature.high);
  const wanted = [feature.low, feature.high, ...inner, ...ticks(...inner, look.large ? 6 : 3), ...beyond];
  const missing = hasMissingCell(term, axis), room = (upright ? 16 : look.large ? 52 : 38);
  const taken = missing ? [x(MISSING_WIDTH / 2)] : [];
  if (bent) {
    feature.interval.filter((end) => end > feature.low && end < feature.high).forEach((end) => {
      const here = x(alongAxis(term, axis, end));
      picture.append(upright ? svg("line", { class: "interval", x1: look.left, x2: look.width - look.right, y1: here, y2: here })
        : svg("line", { class: "interval", x1: here, x2: here, y1: look.top, y2: look.height - look.bottom }));
    });
  }
  wanted.forEach((value) => {
    const here = x(alongAxis(term, axis, value));
    if (taken.some((other) => Math.abs(other - here) < room)) return;
    taken.push(here);
    const end = bent ? inner.indexOf(value) : -1, text = end < 0 ? shortNumber(value) : intervalTexts(feature)[end], isFirst = value === feature.low && !missing;
    picture.append(upright
      ? svg("text", { x: look.left - 5, y: Math.min(look.height - look.bottom, Math.max(look.top + 8, here + 4)), "text-anchor": "end" }, text)
      : svg("text", { x: here, y: at + 16, "text-anchor": value === feature.high ? "end" : isFirst && !look.large ? "start" : "middle" }, text));
  });
  if (missing) {
    const here = x(MISSING_WIDTH / 2);
    picture.append(upright ? svg("text", { x: look.left - 5, y: here + 4, "text-anchor": "end" }, "missing")
      : svg("text", { x: here, y: at + 16, "text-anchor": "middle" }, "missing"));
  }
}

/* --- categories, sorted by effect --------------------------------------------------------------- */

function sortedCells(term) {
  return Array.from({ length: term.shape[0] }, (_, i) => i).sort((a, b) => effectAt(term, b) - effectAt(term, a));
}

/* The cells of the rows that fit: the highest and the lowest, and that of a record. */
function rowsThatFit(term, most, own) {
  const order = sortedCells(term);
  if (order.length <= most) return order;
  const half = Math.floor(most / 2), high = order.slice(0, half), low = order.slice(half - most);
  const isHidden = own !== null && ![...high, ...low].includes(own);
  return [...high, isHidden ? own : null, ...low];
}

function drawRows(term, look, shared, record, chosen) {
  const own = record ? cellOf(term, 0, record) : null;
  const rows = rowsThatFit(term, look.rows, own), words = cellWords(term, 0);
  const left = look.large ? Math.min(260, look.width * 0.36) : 108;
  const picture = drawing(look), [low, high] = scaleOf(term, shared);
  const x = (value) => left + (look.width - left - look.right) * (value - low) / (high - low);
  const height = (look.height - look.top - look.bottom) / rows.length;
  ticks(low, high, look.large ? 6 : 4).filter((tick) => x(tick) < look.width - look.right - 8).forEach((tick) => {
    picture.append(svg("line", { class: "gridline", x1: x(tick), x2: x(tick), y1: look.top, y2: look.height - look.bottom }));
    picture.append(svg("text", { x: x(tick), y: look.height - look.bottom + 16, "text-anchor": "middle" }, effectTick(tick, low, high)));
  });
  rows.forEach((cell, row) => {
    const y = look.top + height * (row + 0.5), thick = Math.min(14, height * 0.62);
    if (cell === null) {
      picture.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end", class: "more" }, "… " + (term.shape[0] - rows.length + 1) + " more"));
      return;
    }
    const effect = effectAt(term, cell), chance = bandAt(term, cell), side = effect >= 0 ? "up" : "down";
    if (chance !== null) {
      picture.append(svg("rect", { class: "band", x: x(Math.max(-chance, low)), width: x(Math.min(chance, high)) - x(Math.max(-chance, low)), y: y - thick / 2, height: thick }));
    }
    picture.append(svg("line", { class: "stem " + side, x1: x(0), x2: x(effect), y1: y, y2: y }));
    const isMarked = cell === own || cell === chosen, kind = cell === own ? " own" : isMarked ? " chosen" : "";
    picture.append(svg("circle", { class: "dot " + side + kind, cx: x(effect), cy: y, r: isMarked ? 5.5 : 4 }));
    picture.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end", class: "name" + kind },
      cut(words[cell], Math.floor((left - 10) / (look.large ? 7.2 : isMarked ? 7.7 : 6.4)))));
  });
  picture.append(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: look.top, y2: look.height - look.bottom }));
  picture.cellAt = (px, py) => rows[Math.min(rows.length - 1, Math.max(0, Math.floor((py - look.top) / height)))];
  picture.order = rows.filter((cell) => cell !== null);
  return picture;
}

/* --- two features: a heat map ------------------------------------------------------------------ */

/* The colour of an effect: towards one colour above 0, towards another below. */
function heat(effect, most) {
  const part = Math.round(100 * Math.pow(Math.min(1, Math.abs(effect) / most), 0.8));
  return "color-mix(in oklab, var(" + (effect >= 0 ? "--hot" : "--cold") + ") " + part + "%, var(--none))";
}

function drawHeat(term, look, shared, record, chosen) {
  const picture = drawing(look), across = cellsAlong(term, 0), upright = cellsAlong(term, 1);
  const isNamed = (axis) => Boolean(data.features[term.features[axis]].names);
  const left = isNamed(1) ? (look.large ? Math.min(200, look.width * 0.3) : 84) : look.left;
  const frame = { ...look, left };
  const x = (part) => left + (look.width - left - look.right) * part;
  const bottom = look.height - look.bottom;
  /* Numbers grow upwards; categories are listed downwards. */
  const y = (part) => (isNamed(1) ? look.top + (bottom - look.top) * part : bottom - (bottom - look.top) * part);
  const most = Math.max(...(shared || extent([term])).map(Math.abs), 1e-9);
  upright.forEach((row, j) => {
    const top = Math.min(y(row.from), y(row.to)), high = Math.abs(y(row.to) - y(row.from));
    let start = 0;
    across.forEach((cell, i) => {
      const colour = heat(effectAt(term, flatPlace(term, [i, j])), most);
      const next = across[i + 1] && !cell.missing && heat(effectAt(term, flatPlace(term, [i + 1, j])), most);
      if (next === colour) return; /* one box for cells of one colour */
      const from = x(across[start].from), wide = x(cell.to) - from;
      picture.append(svg("rect", { x: from, y: top, width: Math.max(wide, 0.5), height: Math.max(high, 0.5), style: "fill:" + colour }));
      start = i + 1;
    });
  });
  if (look.large) heatNumbers(picture, term, across, upright, x, y);
  picture.append(svg("rect", { class: "frame", x: left, y: look.top, width: x(1) - left, height: bottom - look.top }));
  [[0, x, false], [1, y, true]].forEach(([axis, scale, isUpright]) => {
    if (isNamed(axis)) heatNames(picture, frame, term, axis, axis === 0 ? across : upright, scale, isUpright);
    else numberTicks(picture, frame, term, axis, scale, bottom, isUpright);
  });
  const outline = (cells, kind) => {
    const [column, row] = [across[cells[0]], upright[cells[1]]];
    picture.append(svg("rect", { class: kind, x: x(column.from), y: Math.min(y(row.from), y(row.to)), width: x(column.to) - x(column.from), height: Math.abs(y(row.to) - y(row.from)) }));
  };
  if (record) outline(placeOf(term, record), "mark box");
  if (chosen !== null) outline([Math.floor(chosen / term.shape[1]), chosen % term.shape[1]], "chosen box");
  picture.cellAt = (px, py) => {
    const column = across.findIndex((cell) => px >= x(cell.from) && px <= x(cell.to));
    const row = upright.findIndex((cell) => py >= Math.min(y(cell.from), y(cell.to)) && py <= Math.max(y(cell.from), y(cell.to)));
    return column < 0 || row < 0 ? -1 : flatPlace(term, [column, row]);
  };
  return picture;
}

/* The effect in every cell with room for it; what chance explains is slanted. */
function heatNumbers(picture, term, across, upright, x, y) {
  across.forEach((cell, i) => upright.forEach((row, j) => {
    const wide = x(cell.to) - x(cell.from), high = Math.abs(y(row.to) - y(row.from));
    if (wide < 44 || high < 18) return;
    const flat = flatPlace(term, [i, j]), effect = effectAt(term, flat);
    picture.append(svg("text", { x: x(cell.from) + wide / 2, y: (y(row.from) + y(row.to)) / 2 + 4.5, "text-anchor": "middle",
      class: "inside" + (isWithin(term, flat) ? " within" : "") }, signed(effect)));
  }));
}

function heatNames(picture, look, term, axis, cells, scale, isUpright) {
  const words = cellWords(term, axis, look.large ? 3 : 1), letter = look.large ? 7 : 6;
  const wide = isUpright ? look.left - 8 : Math.abs(scale(cells[0].to) - scale(cells[0].from)) - 4;
  const high = Math.abs(scale(cells[0].to) - scale(cells[0].from));
  const every = isUpright ? Math.ceil(13 / high) : Math.ceil(34 / (wide + 4));
  cells.forEach((cell, i) => {
    if (i % every) return;
    const middle = (scale(cell.from) + scale(cell.to)) / 2;
    const text = cut(words[i], Math.max(3, Math.floor((isUpright ? wide : wide * every) / letter)));
    picture.append(isUpright ? svg("text", { x: look.left - 6, y: middle + 4, "text-anchor": "end" }, text)
      : svg("text", { x: middle, y: look.height - look.bottom + 16, "text-anchor": "middle" }, text));
  });
}

/* --- three features: the cells with the largest effects ----------------------------------------- */

function largestCells(term, most) {
  const order = Array.from({ length: countCells(term) }, (_, i) => i);
  return order.sort((a, b) => Math.abs(effectAt(term, b)) - Math.abs(effectAt(term, a))).slice(0, most);
}

function cellsOfFlat(term, flat) {
  const cells = [];
  for (let axis = term.shape.length - 1; axis >= 0; axis -= 1) {
    cells.unshift(flat % term.shape[axis]);
    flat = Math.floor(flat / term.shape[axis]);
  }
  return cells;
}

function conditionText(term, flat) {
  const words = term.shape.map((n, axis) => cellWords(term, axis));
  return cellsOfFlat(term, flat).map((cell, axis) => namesOf(term)[axis] + " is " + words[axis][cell]).join(" and ");
}

function listCells(term, most, record) {
  const own = record ? flatPlace(term, placeOf(term, record)) : null;
  return element("span", largestCells(term, most).map((flat) => element("span",
    [element("b", signed(effectAt(term, flat))), " if ", element("bdi", conditionText(term, flat))], flat === own ? "cell own" : "cell")), "cells");
}

/* The chart of a term; `chosen` is the place of a cell that is pointed at. */
function chartOf(term, look, shared, record, chosen = null) {
  if (term.features.length > 2) return listCells(term, look.large ? 40 : 2, record);
  if (term.features.length === 2) return drawHeat(term, look, shared, record, chosen);
  return (data.features[term.features[0]].names ? drawRows : drawSteps)(term, look, shared, record, chosen);
}
