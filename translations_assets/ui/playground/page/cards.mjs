// What the page shows of one model, and the words that are marked in all of them.

/** A card: name and kind of a model, its translation, size and speed. */
export class Card {
    constructor(id, name, kind, language, size, download) {
        const card = document.getElementById('card').content.cloneNode(true).firstElementChild;
        card.querySelector('h2').textContent = name;
        card.querySelector('.kind').textContent = kind;
        this.output = card.querySelector('output');
        Object.assign(this.output, {id, lang: language, ariaLabel: `Translation by ${name}`});
        card.querySelector('.size').textContent = size;
        card.querySelector('.download').textContent = download;
        card.querySelector('.download').parentElement.hidden = !download;
        this.card = card;
        followKeys(this.output);
        document.getElementById('cards').append(card);
    }

    set busy(is) {
        this.output.setAttribute('aria-busy', is);
    }

    /** Show a translation, the words of the text, and the seconds that it took; none of an empty text. */
    show(translation, words = 0, seconds = 0) {
        this.#trouble('');
        this.output.replaceChildren(translation);
        if (words && seconds) {
            const speed = Math.round(words / seconds).toLocaleString('en');
            this.card.querySelector('.speed').textContent =
                `${speed} (${words} ${words === 1 ? 'word' : 'words'} in ${shownTime(seconds)})`;
        }
    }

    /** Let the words of the translation be pointed at; words as `aligned` gives them. */
    link(translation, words) {
        if (words.length)
            this.output.replaceChildren(...spans(translation, words));
    }

    /** Say something of the translation that is shown; "": nothing. */
    note(message) {
        const note = this.card.querySelector('.note');
        note.textContent = message;
        note.hidden = !message;
    }

    fail(message) {
        this.output.replaceChildren();
        this.note('');
        this.#trouble(message);
    }

    #trouble(message) {
        const trouble = this.card.querySelector('.trouble');
        trouble.textContent = message;
        trouble.hidden = !message;
    }
}

/** A text's nodes, with an element around each word that has a number. */
export function spans(text, words) {
    const nodes = [];
    let end = 0;
    for (const {start, end: next, number} of words) {
        const span = document.createElement('span');
        span.textContent = text.slice(start, next);
        if (number !== null)
            span.dataset.word = number;
        nodes.push(text.slice(end, start), span);
        end = next;
    }
    return [...nodes, text.slice(end)];
}

/** Mark the word of the text with a number, and all that is aligned with it; null: nothing. */
export function mark(number) {
    for (const marked of document.querySelectorAll('.marked'))
        marked.classList.remove('marked');
    if (number !== null)
        for (const word of document.querySelectorAll(`[data-word="${number}"]`))
            word.classList.add('marked');
}

/** The number of the word under a point, in the text or in a translation, or null. */
export function wordAt(x, y) {
    for (const element of document.elementsFromPoint(x, y))
        if (element.dataset.word !== undefined)
            return Number(element.dataset.word);
    return null;
}

/** Go from word to word of a translation with the arrow keys. */
function followKeys(output) {
    let at = -1;
    output.addEventListener('focus', () => { at = -1; });
    output.addEventListener('keydown', event => {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        const words = [...output.querySelectorAll('[data-word]')];
        if (!step || !words.length)
            return;
        event.preventDefault();
        at = Math.min(Math.max(at + step, 0), words.length - 1);
        mark(Number(words[at].dataset.word));
        words[at].scrollIntoView({block: 'nearest'});
    });
    output.addEventListener('blur', () => mark(null));
}

function shownTime(seconds) {
    return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
}
