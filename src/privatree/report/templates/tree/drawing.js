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

const MOST_NAMES = 12;

function listed(names) {
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return names.length > MOST_NAMES ? shown + ", … " + (names.length - MOST_NAMES) + " more" : shown;
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
