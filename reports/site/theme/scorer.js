// A heading that is what was asked for comes first, then the index and the newest release of each plugin. The numbers
// below are those of Sphinx.
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) =>
    score + (kind === "title" ? 1000 : 0) + (page === "index" ? 600 : /^plugins\/[^/]+\/index$/.test(page) ? 500 : 0),
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
};
