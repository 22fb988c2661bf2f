// Translates what someone types, in the models that the browser runs, and beside them by the teacher.
import * as module from './engine/translator.js';
import {aligned, asHtml, wordsOf} from './alignment.mjs';
import {Card, mark, spans, wordAt} from './cards.mjs';
import {openEngine} from './engine.mjs';
import {looksLikeMarkup, textOf} from './markup.mjs';
import {Teacher} from './teacher.mjs';

const MOST_ALIGNED = 2000; // characters of a text whose words are aligned, which takes as long as translating it
const PAUSE = 300; // ms without a key until the teacher is asked
const MOST_NAMED = 5; // words that a model does not know

const [source, mirror, status, isMarkup] = ['source', 'mirror', 'status', 'markup'].map(id => document.getElementById(id));
const about = await (await fetch('about.json')).json();
const {from, to} = about.models[0];
const translators = [];
let latest = 0, isChosen = false; // whether the text is HTML, by people
let isPointing = false; // at a text

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
        `This model failed: ${error.message}. Try another text, or load the page again; if that does not help, the ` +
        "browser's console (F12) says more." :
        'This browser has no WebAssembly, in which the model runs. Try Firefox, Chromium or Safari.');
    status.textContent = 'A model has failed: below it stands what to do.';
}

async function translate(number) {
    const card = inBrowser[number], {text, plain, markup} = asked(), now = latest;
    card.busy = true;
    try {
        const model = await translators[number], began = performance.now();
        const translation = await (markup ? model.translateMarkup(text) : model.translate(text));
        if (now !== latest)
            return;
        card.show(translation, countWords(plain), (performance.now() - began) / 1000);
        card.note(unknownNote(model.unknown(plain)));
        card.busy = false;
        performance.mark('translated');
        if (!markup && text.trim() && text.length <= MOST_ALIGNED)
            await align(model, card, text, translation);
    } catch (error) {
        if (!(error instanceof module.SupersededError))
            fail(number, error);
    }
}

async function align(model, card, text, translation) {
    const now = latest;
    try {
        const html = await model.align(asHtml(text));
        if (now === latest)
            card.link(translation, aligned(translation, html));
    } catch (error) { // the translation is there all the same
        if (!(error instanceof module.SupersededError))
            console.error(error);
    }
}

/** What is to be translated, its text without tags, and whether it has any that are kept. */
function asked() {
    const text = source.value, markup = isMarkup.checked;
    return {text, plain: markup ? textOf(text) : text, markup};
}

function unknownNote(words) {
    if (!words.length)
        return '';
    const named = words.slice(0, MOST_NAMED).join(' ') + (words.length > MOST_NAMED ? ' …' : '');
    return `The model does not know the letters of ${named}. Sentences of such words stay as they are; in others it ` +
        'makes nonsense of them.';
}

async function teach() {
    const text = asked().plain, now = latest;
    if (!text.trim()) {
        teacherCard.show('');
        teacherCard.busy = false;
        return;
    }
    teacherCard.busy = true;
    try {
        const model = await engine.catch(() => null); // which knows the same letters
        if (now !== latest)
            return;
        const answer = await teacher.translate(text, sentence => model?.isForeign(sentence));
        if (answer && now === latest)
            teacherCard.show(answer.text, countWords(text), answer.seconds);
    } catch (error) {
        if (now === latest)
            teacherCard.fail(error.message);
    }
    if (now === latest)
        teacherCard.busy = false;
}

function update() {
    latest++;
    const text = source.value;
    isChosen &&= Boolean(text);
    if (!isChosen)
        isMarkup.checked = looksLikeMarkup(text);
    const words = isMarkup.checked ? [] : wordsOf(text); // of HTML none are aligned
    mirror.replaceChildren(...spans(text, words.map((word, number) => ({...word, number}))), '\n');
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
isMarkup.addEventListener('change', () => {
    isChosen = true;
    update();
});
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
