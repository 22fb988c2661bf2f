// What pipeline.quantize.export wrote, in the engine of browsers (@browsermt/bergamot-translator): in a page, or in
// Node.js. `read` gives the content of a file of the export.

import {isVisible, requests, translated} from './parts.mjs';

// As Firefox chooses it, by the name of the file
const PRECISIONS = {'intgemm.alphas': 'int8shiftAlphaAll', intgemm8: 'int8shiftAll'};

/**
 * Load the engine, a module of the npm package, and the model in it. Gives its languages, a function that translates
 * a text of any length, or of HTML, and one that ends the engine. The first rejects with SupersededError when a later
 * text takes the place of one that is not finished: a long one goes to the engine in parts.
 */
export async function openEngine(module, read, {form = 'intgemm.alphas', onerror = console.error} = {}) {
    const {from, to, files} = await readExport(read, form);
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
    const ask = async (text, html) =>
        (await translator.translate({from, to, text, html, qualityScores: false})).target.text;
    let latest = 0;
    const translate = async (text, {html = false} = {}) => {
        const asked = ++latest;
        if (!isVisible(text))
            return '';
        if (html)
            return ask(text, true);
        let translation = '';
        for (const part of requests(text, from)) {
            if (asked !== latest)
                throw new module.SupersededError();
            translation += await translated(part, inner => ask(inner, false));
        }
        return translation;
    };
    await translate('.'); // loads the model
    return {from, to, translate, end: () => translator.delete()};
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
