"use strict";
// Shows the cases that fit the filter, a page at a time, and opens what an address points to. Texts are put on the page
// as texts, never as markup.

const UNPACKS = "DecompressionStream" in window;
const NOT_UNPACKED = "This browser cannot unpack the list of the cases. A newer one can, and report.json has them all.";
const PAGE = 100;
const HEADS = ["Verdict", "Clause", "Expected", "Got"];

const form = document.getElementById("filter");
const list = document.getElementById("listed");
const clauses = [...document.querySelectorAll("details.clause")];
const classes = [...document.querySelectorAll("details.class")];
const clauseTexts = clauses.map((clause) => clause.textContent.toLowerCase());
const fields = ["verdict", "level", "class", "op", "text"];

let data = { command: "", clauses: [], cases: [] };
// What the filter for a text looks at, by the number of the case; made when a text is first looked for.
let lowered = null;
let fitting = [];
let page = 0;

async function unpacked() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// Made of elements and texts ---------------------------------------------------------------------------------------

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function tone(verdict) {
  return { conform: "good", violation: "bad", error: "bad", warning: "warn", "not run": "warn" }[verdict] ?? "faint";
}

const code = (text) => element("span", { class: "code" }, text);
const verdictOf = (text) => element("span", { class: `verdict ${tone(text)}` }, text);
const clauseLink = (name) => element("a", { class: "code", href: `#clause-${encodeURIComponent(name)}` }, name);
const calls = (ops) => element("ol", { class: "calls" }, ...ops.map((op) => element("li", { class: "code" }, op)));

// Words, and behind them paths and commands to be copied.
function reasonOf(text) {
  const [words, ...copied] = text.split("; ");
  return element("div", {}, words, ...(copied.length ? [element("pre", {}, copied.join("\n"))] : []));
}

function facts(pairs) {
  const made = element("dl", { class: "facts" });
  for (const [name, value] of pairs) if (value) made.append(element("dt", {}, name), element("dd", {}, value));
  return made;
}

// Where nothing was compared, why the case did not come to it.
function checkTable(checks, why) {
  const rows = checks.map(({ clause, verdict, expected, got, said, reading, times }) => {
    const seen = [expected || got ? code(got) : element("span", { class: "faint" }, why)];
    if (said) seen.push(element("br", {}), "The plugin said: ", code(said));
    if (reading) seen.push(element("br", {}), `Reading: ${reading}`);
    const count = times > 1 ? ` × ${times}` : "";
    const cells = [[verdictOf(verdict), count], [clauseLink(clause)], [code(expected)], seen];
    return element("tr", {}, ...cells.map((cell, place) => element("td", { "data-head": HEADS[place] }, ...cell)));
  });
  const heads = HEADS.map((title) => element("th", { scope: "col" }, title));
  return element("div", { class: "scroll", role: "group", "aria-label": "Checks", tabindex: "0" },
    element("table", { class: "stacked" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function contentOf(one) {
  const pre = (text) => element("pre", {}, text);
  const about = one.clauses.flatMap((clause, place) => [place ? ", " : "", clauseLink(clause)]);
  const content = element("div", {}, facts([
    ["What was done", one.stimulus],
    ["Reason", one.why && reasonOf(one.why)],
    ["Due to", one.cause && code(one.cause)],
    ["About", about.length ? element("span", {}, ...about) : ""],
    ["Plugin", one.executed ? "" : "None of its ops ran beyond registration."],
    ["Tier", one.tier],
    ["Seconds", one.seconds.toFixed(3)],
    ["All of the calls", one.cut ? `traces/${one.cut} beside the report` : ""],
    ["The plugin wrote", one.output ? pre(one.output) : ""],
    ["Try it again", pre(`${data.command} ${one.option}`)],
    ["Address", element("a", { href: `#case-${encodeURIComponent(one.address)}` }, "of this case")],
  ]));
  if (one.checks.length) content.append(checkTable(one.checks, one.why));
  if (one.ops.length) content.append(element("p", {}, "Calls:"), calls(one.ops));
  return content;
}

function rowOf(number) {
  const one = data.cases[number];
  const summary = element("summary", {}, verdictOf(one.verdict), " ", code(one.id), " ",
    element("span", { class: "faint" }, one.stimulus.slice(0, 300)));
  const row = element("details", { id: `case-${one.address}`, class: "case" }, summary);
  row.addEventListener("toggle", () => fill(row, one));
  return row;
}

function fill(row, one) {
  if (row.open && row.childElementCount === 1) row.append(contentOf(one));
}

// The filter -------------------------------------------------------------------------------------------------------

const wanted = () => Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));

function apply() {
  const want = wanted();
  const query = want.text.trim().toLowerCase();
  showClauses(want, query);
  const fits = fitsCase(want, query);
  fitting = [...data.cases.keys()].filter(fits);
  showPage(0);
  const said = fields.some((name) => want[name]) ? ` of ${data.cases.length.toLocaleString("en")}` : "";
  const count = `${fitting.length.toLocaleString("en")}${said} cases`;
  document.getElementById("cases-shown").textContent = UNPACKS ? count : NOT_UNPACKED;
}

// A case fits where one of its checks does. One that has none, because it is about no clause, has its own verdict.
function fitsCase(want, query) {
  const fitting = data.clauses.filter((clause) => ["level", "class", "op"].every((key) => !want[key] || want[key] === clause[key]));
  const names = new Set(fitting.map((clause) => clause.name));
  const isOpen = !want.level && !want.class && !want.op && !want.verdict;
  if (query) lowered ??= data.cases.map(textOf);
  return (number) => {
    const one = data.cases[number];
    if (!isOpen && !one.checks.some((check) => names.has(check.clause) && (!want.verdict || check.verdict === want.verdict))) {
      if (one.checks.length || one.verdict !== want.verdict || want.level || want.class || want.op) return false;
    }
    return !query || lowered[number].includes(query);
  };
}

// All that a reader can look for in a case. The field of the filter has one line, so no query fits across two texts.
function textOf(one) {
  const checks = one.checks.flatMap(({ clause, expected, got, said, reading }) => [clause, expected, got, said, reading]);
  return [one.id, one.stimulus, one.why, one.output, ...one.clauses, ...one.ops, ...checks].join("\n").toLowerCase();
}

function showClauses(want, query) {
  let count = 0;
  clauses.forEach((clause, place) => {
    clause.hidden = ["verdict", "level", "class", "op"].some((name) => want[name] && want[name] !== clause.dataset[name])
      || !clauseTexts[place].includes(query);
    count += !clause.hidden;
  });
  const isActive = count < clauses.length;
  for (const group of classes) {
    group.hidden = isActive && !group.querySelector("details.clause:not([hidden])");
    group.open = isActive && !group.hidden && count <= PAGE;
  }
  document.getElementById("clauses-shown").textContent = `${count}${isActive ? ` of ${clauses.length}` : ""} clauses`;
}

function showPage(wantedPage) {
  const pages = Math.max(1, Math.ceil(fitting.length / PAGE));
  page = Math.min(Math.max(0, wantedPage), pages - 1);
  list.replaceChildren(...fitting.slice(page * PAGE, (page + 1) * PAGE).map(rowOf));
  document.getElementById("pages").hidden = pages === 1;
  document.getElementById("page").textContent = `Page ${page + 1} of ${pages}`;
  document.getElementById("before").disabled = page === 0;
  document.getElementById("after").disabled = page === pages - 1;
}

function turn(by) {
  showPage(page + by);
  list.querySelector("summary")?.focus();
}

// Addresses --------------------------------------------------------------------------------------------------------

function setFilter(values) {
  for (const name of fields) form.elements[name].value = values.get(name) ?? "";
  apply();
}

function open(target) {
  for (let one = target; one; one = one.parentElement) if (one.localName === "details") one.open = true;
  const focused = target.querySelector("summary") ?? target;
  target.scrollIntoView();
  focused.focus({ preventScroll: true });
}

function openCase(address) {
  const number = data.cases.findIndex((one) => one.address === address);
  if (number < 0) return;
  if (!fitting.includes(number)) setFilter(new URLSearchParams());
  const place = fitting.indexOf(number);
  if (Math.floor(place / PAGE) !== page) showPage(Math.floor(place / PAGE));
  const row = list.children[place % PAGE];
  row.open = true;
  fill(row, data.cases[number]);
  open(row);
}

function follow() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("?")) {
    setFilter(new URLSearchParams(hash.slice(1)));
    document.getElementById("all").scrollIntoView();
    return;
  }
  let name;
  try { name = decodeURIComponent(hash); } catch { return; }
  if (name.startsWith("case-")) return openCase(name.slice(5));
  const target = document.getElementById(name);
  if (target?.closest("[hidden]")) setFilter(new URLSearchParams());
  if (target?.localName === "details") open(target);
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(keep));
form.addEventListener("input", keep);
document.getElementById("before").addEventListener("click", () => turn(-1));
document.getElementById("after").addEventListener("click", () => turn(1));
window.addEventListener("hashchange", follow);
// A second click on the address where one is already does not change it, and is followed all the same.
document.addEventListener("click", (event) => {
  if (event.target.closest?.("a[href^='#']")?.getAttribute("href") === location.hash) follow();
});

function keep() {
  const values = new URLSearchParams(Object.entries(wanted()).filter(([, value]) => value));
  history.replaceState(null, "", values.size ? `#?${values}` : "#all");
  apply();
}

async function start() {
  if (UNPACKS) data = await unpacked();
  apply();
  form.hidden = false;
  // When a page has loaded, the browser goes to its address and takes the focus along.
  if (document.readyState === "complete") setTimeout(follow);
  else window.addEventListener("load", () => setTimeout(follow));
}

start();
