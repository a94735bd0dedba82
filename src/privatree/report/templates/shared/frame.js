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

document.querySelectorAll(".bar nav, .drawing").forEach((part) => {
  const fade = () => {
    part.classList.toggle("more-left", part.scrollLeft > 2);
    part.classList.toggle("more-right", part.scrollLeft + part.clientWidth < part.scrollWidth - 2);
  };
  part.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(part);
});

/* --- elements and words -------------------------------------------------------------------- */

function element(tag, content, className) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  [].concat(content).forEach((part) => made.append(part));
  return made;
}

function svg(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/* As in the texts: 0% and 100% for these two probabilities only. */
function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  return share >= 0.9995 && share < 1 ? ">99.9%" : (100 * share).toFixed(1) + "%";
}

/* The probabilities of the likeliest classes as bars. */
function shareBars(shares) {
  const order = shares.map((share, code) => code).sort((a, b) => shares[b] - shares[a]);
  return element("span", order.slice(0, 6).map((code) => {
    const fill = element("span", "", "fill c" + (code % 8));
    fill.style.width = 100 * shares[code] + "%";
    return element("span", [element("bdi", data.classes[code]), element("span", fill, "share-track"),
      element("span", percent(shares[code]))], "share");
  }), "shares");
}
