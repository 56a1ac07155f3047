// What the tests call in the page; `document.documentElement.dataset.ready` says that it is there.

import * as module from "/navigation-client.js";
import { runClaims } from "./claims.js";
import "./module.js";
import "./requests.js";
import "./cluster.js";
import { runVectors } from "./vectors.js";

window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
Object.assign(window, module, { runClaims, runVectors: (text, spoil) => runVectors(module, text, spoil) });
document.documentElement.dataset.ready = "1";
