// Translates what someone types, one text at a time, as a browser does.
import * as module from './engine/translator.js';
import {openEngine} from './engine.mjs';

const [source, target, status] = ['source', 'target', 'status'].map(id => document.getElementById(id));
let latest = 0;

async function read(name) {
    const response = await fetch(`exported/${name}`);
    if (!response.ok)
        throw new Error(`${name}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

function show(error) {
    console.error(error);
    status.value = `This failed, and the browser's console says more: ${error.message}`;
}

/** The loaded engine, for the page and for what measures it. */
export const engine = openEngine(module, read, {onerror: show}).then(opened => {
    const {from, to} = opened;
    [source.lang, target.lang, document.title] = [from, to, `${from} → ${to}`];
    return opened;
});

async function update() {
    const number = ++latest, text = source.value, began = performance.now();
    target.ariaBusy = 'true';
    try {
        const translation = await (await engine).translate(text);
        if (number === latest) {
            target.value = translation;
            const words = text.split(/\s+/).filter(Boolean).length;
            status.value = `${words} words in ${Math.round(performance.now() - began)} ms`;
        }
    } catch (error) {
        if (!(error instanceof module.SupersededError))
            show(error);
    } finally {
        if (number === latest)
            target.ariaBusy = 'false';
    }
}

source.addEventListener('input', update);
await update(); // what was typed before this ran
