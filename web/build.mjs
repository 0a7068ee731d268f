// Builds ../proof_r1_formal/web/report.html, or the file that is named: style, fonts and program, and places for data.
// The file names the hash of its sources, so that a test can tell whether it was built from them.

import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import subsetFont from "subset-font";

const OUT = process.argv[2] ?? new URL("../proof_r1_formal/web/report.html", import.meta.url);
const SYMBOLS = "∀∃∧∨⊕→↔¬⊤⊥⊢⊨λ✓✗·…–—≡αβ∅∈≤≥≠×←↑↓−‘’“”«»₀₁₂₃₄₅₆₇₈₉";
const FONTS = [
  ["Inter", "100 900", "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"],
  ["Newsreader", "200 800", "@fontsource-variable/newsreader/files/newsreader-latin-wght-normal.woff2"],
  ["Fira Code", "300 700", "firacode/distr/woff2/FiraCode-VF.woff2"],
];
const NOTICE = `<!--
This file holds, besides the program of proof-r1-formal (Apache-2.0):
Preact, Copyright (c) 2015-present Jason Miller (MIT); dagre and graphlib, Copyright (c) 2012-2014 Chris Pettitt (MIT);
Inter, Copyright 2016 The Inter Project Authors; Newsreader, Copyright 2020 The Newsreader Project Authors; Fira Code,
Copyright 2014-2020 The Fira Code Project Authors (subsets of the three, SIL Open Font License 1.1).
The licences: https://opensource.org/license/mit and https://openfontlicense.org
-->`;

const sha = (algorithm, ...parts) => parts.reduce((hash, part) => hash.update(part), createHash(algorithm));

/** The hash of what the file is made from: each name and its content. */
async function sources() {
  const names = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];
  for (const name of await readdir(new URL("src/", import.meta.url))) names.push(`src/${name}`);
  const parts = [];
  for (const name of names.sort()) parts.push(name, "\0", await readFile(new URL(name, import.meta.url)), "\0");
  return sha("sha256", ...parts).digest("hex");
}

async function fontFaces() {
  const text = Array.from({ length: 0x180 - 0x20 }, (_, code) => String.fromCharCode(code + 0x20)).join("") + SYMBOLS;
  const faces = [];
  for (const [family, weights, path] of FONTS) {
    const whole = await readFile(new URL(`node_modules/${path}`, import.meta.url));
    const part = await subsetFont(whole, text, { targetFormat: "woff2" });
    const url = `data:font/woff2;base64,${part.toString("base64")}`;
    faces.push(`@font-face{font-family:"${family}";font-weight:${weights};font-display:block;src:url(${url})}`);
  }
  return faces.join("");
}

async function bundled(entry) {
  const result = await build({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
  });
  return result.outputFiles[0].text.trim();
}

const program = (await bundled("src/main.tsx")).replaceAll("</script", "<\\/script");
const style = (await fontFaces()) + (await bundled("src/style.css"));
const allow = (text) => `'sha256-${sha("sha256", text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${allow(program)}`,
  `style-src ${allow(style)}`,
  "font-src data:",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

await writeFile(
  OUT,
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${NOTICE}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<meta name="sources" content="${await sources()}">
<link rel="icon" href="data:,">
<title>Proof report</title>
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript; it uses no network.</noscript></div>
<!-- index -->
<script>${program}</script>
<!-- traces -->
</body>
</html>
`,
);
