// Translates what someone types, in the models that the browser runs, and beside them by the teacher.
import * as module from './engine/translator.js';
import {aligned, asHtml, wordsOf} from './alignment.mjs';
import {Card, mark, spans, wordAt} from './cards.mjs';
import {openEngine} from './engine.mjs';
import {Teacher} from './teacher.mjs';

const MOST_ALIGNED = 2000; // characters of a text whose words are aligned, which takes as long as translating it
const PAUSE = 300; // ms without a key until the teacher is asked

const [source, mirror, status] = ['source', 'mirror', 'status'].map(id => document.getElementById(id));
const about = await (await fetch('about.json')).json();
const {from, to} = about.models[0];
const translators = [];
let latest = 0, isPointing = false; // at a text

source.lang = from;
document.title = `${from} → ${to}: ${about.models[0].name}`;
document.querySelector('h1').textContent = `${languageName(from)} → ${languageName(to)}`;
const inBrowser = about.models.map((model, number) => new Card(number ? `target-${number}` : 'target', model.name,
    'exported: runs in this browser', to, megabytes(model.bytes), megabytes(model.packedBytes)));
const teacherCard = about.teacher && new Card(
    'teacher', about.teacher.name, 'runs in Marian, behind this page', to, megabytes(about.teacher.bytes));
const teacher = about.teacher && new Teacher(from, about.teacher.characters);
for (const example of about.examples) {
    const button = Object.assign(document.createElement('button'), {type: 'button', textContent: example, lang: from});
    button.addEventListener('click', () => write(example));
    document.getElementById('examples').append(button);
}
if (!source.value && about.examples.length) {
    source.value = about.examples[0];
    source.select();
}

/** The first model's engine, once it is loaded, for the page and for what measures it. */
export const engine = open(0);
engine.catch(() => {}); // its card says what has failed

function open(number) {
    const {folder} = about.models[number];
    const opened = openEngine(module, name => read(`${folder}/${name}`), {onerror: error => fail(number, error)});
    translators[number] = opened;
    opened.catch(error => fail(number, error));
    return opened;
}

async function read(path) {
    const response = await fetch(path);
    if (!response.ok)
        throw new Error(`${path}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

function fail(number, error) {
    console.error(error);
    inBrowser[number].busy = false;
    inBrowser[number].fail(globalThis.WebAssembly ?
        `This model failed, and the browser's console says more: ${error.message}. Load the page again.` :
        'This browser has no WebAssembly, in which the model runs. Try Firefox, Chromium or Safari.');
    status.textContent = 'A model has failed.';
}

async function translate(number) {
    const card = inBrowser[number], text = source.value, asked = latest;
    card.busy = true;
    try {
        const model = await translators[number], began = performance.now();
        const translation = await model.translate(text);
        if (asked !== latest)
            return;
        card.show(translation, countWords(text), (performance.now() - began) / 1000);
        card.busy = false;
        performance.mark('translated');
        if (text.trim() && text.length <= MOST_ALIGNED) {
            const html = await model.translate(asHtml(text), {html: true});
            if (asked === latest)
                card.link(translation, aligned(translation, html));
        }
    } catch (error) {
        if (!(error instanceof module.SupersededError))
            fail(number, error);
    }
}

async function teach() {
    const text = source.value, asked = latest;
    if (!text.trim()) {
        teacherCard.show('');
        teacherCard.busy = false;
        return;
    }
    teacherCard.busy = true;
    try {
        const answer = await teacher.translate(text);
        if (answer && asked === latest)
            teacherCard.show(answer.text, countWords(text), answer.seconds);
    } catch (error) {
        if (asked === latest)
            teacherCard.fail(error.message);
    }
    if (asked === latest)
        teacherCard.busy = false;
}

function update() {
    latest++;
    const text = source.value;
    mirror.replaceChildren(...spans(text, wordsOf(text).map((word, number) => ({...word, number}))), '\n');
    translators.forEach((_, number) => translate(number));
    if (teacher) {
        teacherCard.busy = true;
        clearTimeout(update.pause);
        update.pause = setTimeout(teach, PAUSE);
    }
}

function write(text) {
    source.value = text;
    source.focus();
    update();
}

function countWords(text) {
    if (!globalThis.Intl?.Segmenter)
        return wordsOf(text).length;
    return [...new Intl.Segmenter(from, {granularity: 'word'}).segment(text)].filter(({isWordLike}) => isWordLike).length;
}

function languageName(code) {
    try {
        return new Intl.DisplayNames(['en'], {type: 'language'}).of(code.replace('_', '-'));
    } catch { // a code that is none of BCP 47's
        return code;
    }
}

function megabytes(bytes) {
    return `${(bytes / 1e6).toLocaleString('en', {maximumFractionDigits: 1, minimumFractionDigits: 1})} MB`;
}

source.addEventListener('input', update);
source.addEventListener('scroll', () => { mirror.scrollTop = source.scrollTop; });
document.addEventListener('selectionchange', () => {
    if (document.activeElement !== source)
        return;
    const at = source.selectionStart;
    const number = wordsOf(source.value).findIndex(({start, end}) => start <= at && at <= end);
    mark(number < 0 || source.selectionEnd > at ? null : number);
});
document.addEventListener('pointermove', event => {
    const isText = Boolean(event.target.closest?.('.text'));
    if (isText || isPointing)
        mark(isText ? wordAt(event.clientX, event.clientY) : null);
    isPointing = isText;
});
document.addEventListener('click', event => {
    if (event.target.closest?.('output'))
        mark(wordAt(event.clientX, event.clientY));
});

update(); // what was typed before this ran, or the first example
await engine;
for (let number = 1; number < about.models.length; number++) {
    await open(number).catch(() => {});
    translate(number);
}
await Promise.allSettled(translators);
if (status.textContent.startsWith('Loading'))
    status.textContent = 'Everything is loaded: what runs in the browser needs no network from now on.';
