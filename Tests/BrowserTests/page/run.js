// Runs the module that the query names, such as run.html?guide.js, and notes how it ended.
//
// `window.program` has what the module exports. `confirm` would block the page and the tests with
// it, so `answers` are given in its place, and `asked` has the questions.

Object.assign(window, { violations: [], asked: [], answers: [], program: null });
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
window.confirm = (text) => {
  window.asked.push(text);
  return window.answers.shift();
};

const root = document.documentElement;
root.dataset.ready = "1";
import(`./${location.search.slice(1)}`).then((program) => {
  window.program = program;
  root.dataset.ended = "";
}, (error) => { root.dataset.ended = `${error}\n${error.stack}`; });
