/* --- the form ---------------------------------------------------------------------------- */

const form = byId("record"), prediction = byId("prediction");

function isBroken(feature, value) {
  return feature.integer && typeof value === "number" && !Number.isInteger(value);
}

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

function readField(input, brokenNote) {
  const place = Number(input.dataset.place), feature = data.features[place];
  const said = byId("h" + place).querySelector(".said");
  let value = null, note = "";
  if (!feature.names) {
    if (input.value !== "") value = Number(input.value);
    if (input.validity.badInput) note = "not a number: counts as missing";
    else if (value !== null && value < feature.low) note = "counts as " + feature.low;
    else if (value !== null && value > feature.high) note = "counts as " + feature.high;
    else if (isBroken(feature, value)) note = brokenNote;
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

function readForm(brokenNote) {
  const record = new Array(data.features.length).fill(null);
  form.querySelectorAll("[data-place]").forEach((input) => {
    record[Number(input.dataset.place)] = readField(input, brokenNote);
  });
  return record;
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
}

/* Call `followed` with every record that is typed in, and `cleared` when there is none. The note is
   for a value that should be whole, and is not. */
function startForm(followed, cleared, brokenNote) {
  if (!form) return;
  const follows = () => followed(readForm(brokenNote));
  form.addEventListener("input", follows);
  form.addEventListener("submit", (event) => { event.preventDefault(); follows(); });
  form.addEventListener("reset", () => setTimeout(() => {
    form.querySelectorAll(".said").forEach((said) => { said.textContent = ""; });
    cleared();
  }, 0));
  byId("made-up").addEventListener("click", () => { makeUp(); follows(); });
}
