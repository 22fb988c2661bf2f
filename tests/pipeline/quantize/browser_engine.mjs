// Translates the lines of stdin with the engine of browsers: node browser_engine.mjs PACKAGE EXPORTED PAIR
// PACKAGE: folder of @browsermt/bergamot-translator; EXPORTED: what pipeline.quantize.export wrote.
import {readFileSync, existsSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {gunzipSync} from 'node:zlib';

const [, , packageFolder, exported, pair] = process.argv;
const {BatchTranslator, TranslatorBacking} = await import(pathToFileURL(join(packageFolder, 'translator.js')));

const path = name => join(exported, name);
const unzip = name => new Uint8Array(gunzipSync(readFileSync(path(name)))).buffer;

class ExportedModel extends TranslatorBacking {
    async loadModelRegistery() {
        return [{from: 'en', to: 'eo', files: {}}];
    }

    async loadTranslationModel() {
        const vocabularies = existsSync(path(`vocab.${pair}.spm.gz`)) ? ['vocab'] : ['srcvocab', 'trgvocab'];
        return {
            model: unzip(`model.${pair}.intgemm8.bin.gz`),
            shortlist: unzip(`lex.50.50.${pair}.s2t.bin.gz`),
            vocabs: vocabularies.map(name => unzip(`${name}.${pair}.spm.gz`)),
            config: {'gemm-precision': 'int8shiftAll'},
        };
    }
}

const translator = new BatchTranslator({}, new ExportedModel());
const lines = readFileSync(0, 'utf8').trimEnd().split('\n');
const translate = text => translator.translate({from: 'en', to: 'eo', text, html: false, qualityScores: false});
for (const {target} of await Promise.all(lines.map(translate)))
    console.log(target.text);
await translator.delete();
