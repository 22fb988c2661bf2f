// Gives the page's engine the texts of stdin, a JSON array, with a module in the place of browsers' engine that writes
// capitals, and prints its translations, and what it was given for each of them, as JSON.
import {readFileSync} from 'node:fs';
import {openEngine} from '../../translations_assets/ui/playground/page/engine.mjs';
import {parts} from '../../translations_assets/ui/playground/page/parts.mjs';

const FILES = {
    'records.json': JSON.stringify(['model', 'vocab'].map(fileType =>
        ({fileType, name: fileType, sourceLanguage: 'zh_hant', targetLanguage: 'eo'}))),
};
let given = [];

class SupersededError extends Error {}

class LatencyOptimisedTranslator {
    async translate({text, html}) {
        given.push(text);
        await new Promise(resolve => setTimeout(resolve));
        return {target: {text: html ? text : text.toUpperCase()}};
    }
}

const module = {TranslatorBacking: class {}, LatencyOptimisedTranslator, SupersededError};
const engine = await openEngine(module, async name => new TextEncoder().encode(FILES[name] ?? '').buffer);
const answers = [];
for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
    given = [];
    const translation = await engine.translate(text);
    answers.push({translation, given, parts: parts(text, 'en')});
}
given = [];
const long = 'a dog sees. '.repeat(10000);
const first = engine.translate(long).catch(error => error instanceof SupersededError);
const [isSuperseded, later] = await Promise.all([first, engine.translate('a cat')]);
console.log(JSON.stringify({answers, isSuperseded, later, afterwards: given.length}));
