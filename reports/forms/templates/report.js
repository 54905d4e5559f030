"use strict";
// Shows the cases that fit the filter, a page at a time, and opens what an address points to. Texts are put on the page
// as texts, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const [ID, VERDICT, STIMULUS, , TIER, CUT, OUTPUT, SECONDS, EXECUTED, CLAUSES, CHECKS, OPS, , CAUSE, WHY] = Array(15).keys();
const { texts, cases, odd } = data;
const lowered = texts.map((text) => text.toLowerCase());
const PAGE = 100;
const HEADS = ["Verdict", "Clause", "Expected", "Got"];

const form = document.getElementById("filter");
const list = document.getElementById("listed");
const clauses = [...document.querySelectorAll("details.clause")];
const classes = [...document.querySelectorAll("details.class")];
const clauseTexts = clauses.map((clause) => clause.textContent.toLowerCase());
const fields = ["verdict", "level", "class", "op", "text"];

let fitting = [];
let page = 0;

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
const addressOf = (number) => odd[number]?.[0] ?? texts[cases[number][ID]];
const clauseLink = (name) => element("a", { class: "code", href: `#clause-${encodeURIComponent(name)}` }, name);
const calls = (ops) => element("ol", { class: "calls" }, ...ops.map((op) => element("li", { class: "code" }, texts[op])));

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
  const rows = checks.map(([clause, verdict, expected, got, said, reading, times]) => {
    const seen = [expected || got ? code(texts[got]) : element("span", { class: "faint" }, texts[why])];
    if (said) seen.push(element("br", {}), `The plugin said: `, code(texts[said]));
    if (reading) seen.push(element("br", {}), `Reading: ${texts[reading]}`);
    const count = times > 1 ? ` × ${times}` : "";
    const cells = [[verdictOf(texts[verdict]), count], [clauseLink(texts[clause])], [code(texts[expected])], seen];
    return element("tr", {}, ...cells.map((cell, place) => element("td", { "data-head": HEADS[place] }, ...cell)));
  });
  const heads = HEADS.map((title) => element("th", { scope: "col" }, title));
  return element("div", { class: "scroll", role: "group", "aria-label": "Checks", tabindex: "0" },
    element("table", { class: "stacked" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function contentOf(number) {
  const one = cases[number];
  const word = odd[number]?.[1] ?? `'--case=${texts[one[ID]]}'`;
  const pre = (text) => element("pre", {}, text);
  const about = one[CLAUSES].flatMap((clause, place) => [place ? ", " : "", clauseLink(texts[clause])]);
  const content = element("div", {}, facts([
    ["What was done", texts[one[STIMULUS]]],
    ["Reason", one[WHY] && reasonOf(texts[one[WHY]])],
    ["Due to", one[CAUSE] && code(texts[one[CAUSE]])],
    ["About", about.length ? element("span", {}, ...about) : ""],
    ["Plugin", one[EXECUTED] ? "" : "None of its ops ran beyond registration."],
    ["Tier", texts[one[TIER]]],
    ["Seconds", one[SECONDS].toFixed(3)],
    ["All of the calls", one[CUT] ? `traces/${texts[one[CUT]]} beside the report` : ""],
    ["The plugin wrote", one[OUTPUT] ? pre(texts[one[OUTPUT]]) : ""],
    ["Try it again", pre(`${data.command} ${word}`)],
    ["Address", element("a", { href: `#case-${encodeURIComponent(addressOf(number))}` }, "of this case")],
  ]));
  if (one[CHECKS].length) content.append(checkTable(one[CHECKS], one[WHY]));
  if (one[OPS].length) content.append(element("p", {}, "Calls:"), calls(one[OPS]));
  return content;
}

function rowOf(number) {
  const one = cases[number];
  const summary = element("summary", {}, verdictOf(texts[one[VERDICT]]), " ", code(texts[one[ID]]), " ",
    element("span", { class: "faint" }, texts[one[STIMULUS]].slice(0, 300)));
  const row = element("details", { id: `case-${addressOf(number)}`, class: "case" }, summary);
  row.addEventListener("toggle", () => fill(row, number));
  return row;
}

function fill(row, number) {
  if (row.open && row.childElementCount === 1) row.append(contentOf(number));
}

// The filter -------------------------------------------------------------------------------------------------------

const wanted = () => Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));

function apply() {
  const want = wanted();
  const query = want.text.trim().toLowerCase();
  showClauses(want, query);
  const fits = fitsCase(want, query);
  fitting = [...cases.keys()].filter(fits);
  showPage(0);
  const said = fields.some((name) => want[name]) ? ` of ${cases.length.toLocaleString("en")}` : "";
  document.getElementById("cases-shown").textContent = `${fitting.length.toLocaleString("en")}${said} cases`;
}

// A case fits where one of its checks does. One that has none, because it is about no clause, has its own verdict.
function fitsCase(want, query) {
  const clauseFits = {};
  for (const [clause, [level, group, op]] of Object.entries(data.clauses))
    clauseFits[clause] = (!want.level || want.level === level) && (!want.class || want.class === group) && (!want.op || want.op === op);
  const verdict = want.verdict ? texts.indexOf(want.verdict) : 0;
  const isOpen = !want.level && !want.class && !want.op && !verdict;
  const said = query ? lowered.map((text) => text.includes(query)) : null;
  const fits = (clause, its) => clauseFits[clause] && (!verdict || its === verdict);
  return (number) => {
    const one = cases[number];
    if (!isOpen && !one[CHECKS].some((check) => fits(check[0], check[1]))) {
      if (one[CHECKS].length || one[VERDICT] !== verdict || want.level || want.class || want.op) return false;
    }
    return !said || said[one[ID]] || said[one[STIMULUS]] || said[one[WHY]] || said[one[OUTPUT]]
      || one[CLAUSES].some((place) => said[place]) || one[OPS].some((place) => said[place])
      || one[CHECKS].some(([clause, , ...more]) => said[clause] || more.slice(0, 4).some((place) => said[place]));
  };
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
  const number = cases.findIndex((_, place) => addressOf(place) === address);
  if (number < 0) return;
  if (!fitting.includes(number)) setFilter(new URLSearchParams());
  const place = fitting.indexOf(number);
  if (Math.floor(place / PAGE) !== page) showPage(Math.floor(place / PAGE));
  const row = list.children[place % PAGE];
  row.open = true;
  fill(row, number);
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

form.hidden = false;
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

apply();
// When a page has loaded, the browser goes to its address and takes the focus along.
window.addEventListener("load", () => setTimeout(follow));
