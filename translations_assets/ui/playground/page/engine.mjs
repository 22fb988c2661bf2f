// What pipeline.quantize.export wrote, in the engine of browsers (@browsermt/bergamot-translator): in a page, or in
// Node.js. `read` gives the content of a file of the export.

import {isForeign, knownLetters, passages, unknownWords} from './letters.mjs';
import {translatedMarkup} from './markup.mjs';
import {isVisible, requests, translated} from './parts.mjs';

// As Firefox chooses it, by the name of the file
const PRECISIONS = {'intgemm.alphas': 'int8shiftAlphaAll', intgemm8: 'int8shiftAll'};

// What ends a text in the engine, or is no character: half of a pair of UTF-16
const UNSOUND = /[\0\p{Surrogate}]/gu;

/**
 * Load the engine, a module of the npm package, and the model in it. Gives its languages and
 *
 * translate        translates a text of any length
 * translateMarkup  the same for HTML, of which the tags are kept; in browsers only
 * align            what the engine makes of well-formed HTML, given to it at once
 * unknown          the words of a text in letters that the model does not know
 * isForeign        whether a sentence has mostly such words: then it stays as it is
 * end              ends the engine
 *
 * What translates rejects with SupersededError when a later text takes the place of one that is not finished: a long
 * one goes to the engine in parts.
 */
export async function openEngine(module, read, {form = 'intgemm.alphas', onerror = console.error} = {}) {
    const {from, to, files} = await readExport(read, form);
    const known = knownLetters(files.vocabs[0]);
    const models = new (class extends module.TranslatorBacking {
        async loadModelRegistery() { // spelled so there; the engine's own asks the network
            return [{from, to, files: {}}];
        }

        async loadTranslationModel() {
            return files;
        }
    })();
    models.onerror = onerror; // of what happens in the worker outside of a request
    const translator = new module.LatencyOptimisedTranslator({}, models);
    await translator.worker;
    let latest = 0;
    const inTurn = work => { // gives it what asks the engine, until a later text is there
        const asked = ++latest;
        return work(async (text, html) => {
            if (asked !== latest)
                throw new module.SupersededError();
            const request = {from, to, text: text.replace(UNSOUND, '\ufffd'), html, qualityScores: false};
            return (await translator.translate(request)).target.text;
        });
    };
    const ofText = async (text, ask) => {
        let translation = '';
        for (const {text: passage, foreign} of isVisible(text) ? passages(text, from, known) : []) {
            translation += foreign ? passage : '';
            for (const part of foreign ? [] : requests(passage, from))
                translation += await translated(part, inner => ask(inner, false));
        }
        return translation;
    };
    const translate = text => inTurn(ask => ofText(text, ask));
    const translateMarkup = markup => inTurn(ask => translatedMarkup(markup, text => ofText(text, ask),
        (html, text) => isForeign(text, known) ? html : ask(html, true)));
    await translate('.'); // loads the model
    return {
        from, to, translate, translateMarkup,
        align: html => inTurn(ask => ask(html, true)),
        unknown: text => unknownWords(text, known),
        isForeign: sentence => isForeign(sentence, known),
        end: () => translator.delete(),
    };
}

async function readExport(read, form) {
    const records = JSON.parse(new TextDecoder().decode(await read('records.json')));
    const names = type => records.filter(({fileType}) => fileType === type).map(({name}) => name);
    const vocabularies = ['vocab', 'srcvocab', 'trgvocab'].flatMap(names);
    const [name] = names('model');
    const [model, shortlist, ...vocabs] = await Promise.all([
        read(name.replace('intgemm.alphas', form)),
        names('lex').length ? read(names('lex')[0]) : new ArrayBuffer(0), // the engine's way to have none
        ...vocabularies.map(read),
    ]);
    const {sourceLanguage: from, targetLanguage: to} = records[0];
    return {from, to, files: {model, shortlist, vocabs, config: {'gemm-precision': PRECISIONS[form]}}};
}
