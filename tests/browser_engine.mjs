// Translates the lines of stdin, one at a time, with the engine of browsers in Node.js, and prints them and the
// seconds of processors that they took as JSON: node browser_engine.mjs PACKAGE EXPORTED MODEL [html]
// PACKAGE: folder of @browsermt/bergamot-translator; EXPORTED: what pipeline.quantize.export wrote.
// MODEL: intgemm.alphas or intgemm8, the form of the model. html: the lines are HTML, of which the tags are kept.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {openEngine} from '../translations_assets/ui/playground/page/engine.mjs';

const [, , packageFolder, exported, form, html] = process.argv;
const module = await import(pathToFileURL(join(packageFolder, 'translator.js')));
const read = async name => new Uint8Array(readFileSync(join(exported, name))).buffer;
const engine = await openEngine(module, read, {form});
const translations = [], began = process.cpuUsage();
for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1))
    translations.push(await (html ? engine.align(line) : engine.translate(line)));
const {user, system} = process.cpuUsage(began);
console.log(JSON.stringify({translations, seconds: (user + system) / 1e6}));
await engine.end();
