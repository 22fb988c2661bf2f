// Translates the lines of stdin with the engine of browsers: node browser_engine.mjs PACKAGE EXPORTED PAIR MODEL
// PACKAGE: folder of @browsermt/bergamot-translator; EXPORTED: what pipeline.quantize.export wrote.
// MODEL: intgemm.alphas or intgemm8, the form of the model.
import {readFileSync, existsSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [, , packageFolder, exported, pair, form] = process.argv;
const {BatchTranslator, TranslatorBacking} = await import(pathToFileURL(join(packageFolder, 'translator.js')));

// As Firefox chooses it, by the name of the file
const PRECISIONS = {'intgemm.alphas': 'int8shiftAlphaAll', intgemm8: 'int8shiftAll'};

const path = name => join(exported, name);
const read = name => new Uint8Array(readFileSync(path(name))).buffer;

class ExportedModel extends TranslatorBacking {
    async loadModelRegistery() {
        return [{from: 'en', to: 'eo', files: {}}];
    }

    async loadTranslationModel() {
        const vocabularies = existsSync(path(`vocab.${pair}.spm`)) ? ['vocab'] : ['srcvocab', 'trgvocab'];
        const shortlist = `lex.50.50.${pair}.s2t.bin`;
        return {
            model: read(`model.${pair}.${form}.bin`),
            shortlist: existsSync(path(shortlist)) ? read(shortlist) : new ArrayBuffer(0),
            vocabs: vocabularies.map(name => read(`${name}.${pair}.spm`)),
            config: {'gemm-precision': PRECISIONS[form]},
        };
    }
}

const translator = new BatchTranslator({}, new ExportedModel());
const lines = readFileSync(0, 'utf8').trimEnd().split('\n');
const translate = text => translator.translate({from: 'en', to: 'eo', text, html: false, qualityScores: false});
for (const {target} of await Promise.all(lines.map(translate)))
    console.log(target.text);
await translator.delete();
