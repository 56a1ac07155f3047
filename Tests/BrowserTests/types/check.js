// Compiles the types of the client with those who use them, and prints what the compiler knows.
//
// usage: check.js TYPES GUIDE; the answer is JSON: `faults` by file, and `exports`, `unions` and
// `options` of TYPES. NODE_PATH has the directory of the module `typescript`.

"use strict";

const path = require("path");
const ts = require("typescript");

const [types, guide] = process.argv.slice(2).map((each) => path.resolve(each));
const here = (name) => path.join(__dirname, name);
const common = {
  noEmit: true, strict: true, skipLibCheck: false, skipDefaultLibCheck: true, types: [], baseUrl: "/",
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  paths: { "/navigation-client.js": [types] },
};
// The guide is JavaScript without annotations, so its parameters and errors have the type `any`.
const loose = { allowJs: true, checkJs: true, noImplicitAny: false, useUnknownInCatchVariables: false };

// Both programs read the same files; the compiler's own libraries are the largest of them.
const host = ts.createCompilerHost(common);
const read = host.getSourceFile;
const known = new Map();
host.getSourceFile = (name, ...rest) => {
  if (!known.has(name)) known.set(name, read.call(host, name, ...rest));
  return known.get(name);
};

const strict = ts.createProgram([types, here("uses.ts"), here("misuse.ts")], common, host);
const program = ts.createProgram([guide], { ...common, ...loose }, host);

const faults = {};
for (const each of [strict, program].flatMap((one) => ts.getPreEmitDiagnostics(one))) {
  const { file, start, messageText } = each;
  const place = file ? path.basename(file.fileName) : "options";
  const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  (faults[place] ??= []).push(`${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
}

const checker = strict.getTypeChecker();
const file = strict.getSourceFile(types);
const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(file));

/** How many arguments a call needs: the least of all overloads. */
function required(signatures) {
  return Math.min(...signatures.map((each) => each.minArgumentCount));
}

/** The members that a class itself declares: the arguments of each method, null for a property. */
function members(symbols) {
  const own = symbols.filter((symbol) => symbol.declarations?.every((each) => each.getSourceFile() === file));
  return Object.fromEntries(own.filter(({ name }) => /^[a-z]\w*$/i.test(name) && name !== "prototype").map((symbol) => {
    const signatures = checker.getTypeOfSymbolAtLocation(symbol, file).getCallSignatures();
    return [symbol.name, signatures.length ? required(signatures) : null];
  }));
}

const exports_ = {}, unions = {}, options = {};

function noteOptions(name, signatures) {
  const given = signatures.flatMap((each) => each.parameters).filter((each) => each.name === "options");
  const named = given.map((each) => checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(each, file)));
  if (named.length) {
    options[name] = [...new Set(named.flatMap((each) => each.getProperties()).map((each) => each.name))].sort();
  }
}

for (const symbol of exported) {
  const type = checker.getTypeOfSymbolAtLocation(symbol, file);
  if (symbol.flags & ts.SymbolFlags.Class) {
    const shape = checker.getDeclaredTypeOfSymbol(symbol);
    exports_[symbol.name] = {
      constructor: required(type.getConstructSignatures()),
      statics: members(type.getProperties()), members: members(shape.getProperties()),
    };
    if (symbol.name === "NavigationClient") {
      noteOptions("constructor", type.getConstructSignatures());
      for (const each of [...type.getProperties(), ...shape.getProperties()]) {
        noteOptions(each.name, checker.getTypeOfSymbolAtLocation(each, file).getCallSignatures());
      }
    }
  } else if (symbol.flags & ts.SymbolFlags.Function) {
    exports_[symbol.name] = required(type.getCallSignatures());
    noteOptions(symbol.name, type.getCallSignatures());
  } else {
    const declared = checker.getDeclaredTypeOfSymbol(symbol);
    const values = declared.isUnion() ? declared.types.map((each) => each.value) : [];
    if (values.length && values.every((each) => typeof each === "string")) unions[symbol.name] = values.sort();
  }
}

console.log(JSON.stringify({ faults, exports: exports_, unions, options, compiler: ts.version }));
