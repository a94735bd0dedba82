/* --- the distribution of a leaf with a number ---------------------------------------------- */

/* The interval of a number: an end belongs to the interval below it. */
function intervalOf(value) {
  const inner = data.numbers.ends.slice(1, -1);
  return inner.filter((end) => end < value).length;
}

function showSpread(leaf) {
  const spread = byId("spread");
  spread.hidden = !data.numbers || leaf === null || !data.numbers.intervals.length;
  if (spread.hidden) return;
  const { value, shares, spread: most, noise } = data.numbers.leaves[leaf];
  byId("spread-title").replaceChildren("How ", element("bdi", data.target.called), " is distributed in this leaf, roughly and with noise");
  byId("spread-rows").replaceChildren(...shares.map((share, i) => {
    const fill = element("span", "", "fill"), isHere = i === intervalOf(value);
    fill.style.width = (100 * share / Math.max(...shares)).toFixed(2) + "%";
    return element("li", [element("span", data.numbers.intervals[i], "interval"), element("span", fill, "share-track"),
      element("span", percent(share), "share"), element("span", isHere ? "predicted" : "", "here")], isHere ? "on" : "");
  }));
  byId("spread-note").textContent = !shares.length ? "No more records than noise explains, so nothing is shown."
    : (most ? "Most records: " + most + ". " : "")
      + (noise ? "A share below about " + noise + " can be nothing but noise. " : "The shares are noisy. ")
      + "Shares are coarse, too: a record counts in part for two neighbouring intervals. "
      + (data.target.log ? "The prediction is a mean of logarithms, turned back" : "The prediction is a mean")
      + ": single records can be far from it.";
}

/* --- a record, or a chosen box -------------------------------------------------------------- */

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
  showSpread(isLeaf ? end : null);
  highlight(path);
}

/* What a leaf predicts: a class, or a number. */
function answerOf(leaf) {
  if (!data.numbers) {
    const label = data.label[leaf];
    return element("span", element("bdi", data.classes[label]), "label c" + (label % 8));
  }
  const { text, place } = data.numbers.leaves[leaf];
  const answer = element("span", text, "label number");
  answer.style.setProperty("--place", place + "%");
  return answer;
}

function outcome(leaf, words) {
  const parts = [element("span", words, "word"), answerOf(leaf)];
  if (data.numbers) parts.push(element("bdi", data.target.called, "word"));
  if (data.probability) {
    parts.push(shareBars(data.probability[leaf]));
  }
  if (data.support) parts.push(element("span", data.support[leaf], "support"));
  return parts;
}

/* No record is followed any more. */
function forget() {
  delete prediction.dataset.leaf;
  delete prediction.dataset.value;
}

function clear() {
  forget();
  prediction.classList.remove("of-leaf");
  prediction.replaceChildren(element("span", "No record yet.", "result-empty"));
  byId("path").hidden = true;
  document.querySelectorAll(".rules li.on").forEach((item) => item.classList.remove("on"));
  highlight([]);
}

startForm((record) => {
  const path = follow(record), leaf = path[path.length - 1];
  prediction.dataset.leaf = String(leaf);
  if (data.numbers) prediction.dataset.value = String(data.numbers.leaves[leaf].value);
  prediction.classList.remove("of-leaf");
  prediction.replaceChildren(...outcome(leaf, "Prediction for this record:"));
  showPath(path, record);
}, clear, "not a whole number: compared without rounding. The rules are worded for whole numbers.");

boxes.forEach((box, node) => box.addEventListener("click", () => {
  const again = form && box.getAttribute("aria-pressed") === "true" && !prediction.dataset.leaf;
  if (form) {
    forget();
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
