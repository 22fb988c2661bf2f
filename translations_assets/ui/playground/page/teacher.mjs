// The teacher, which Marian runs behind the page: one request at a time, and of what is typed meanwhile the last.

import {isVisible, parts, translated} from './parts.mjs';

export class Teacher {
    #asked = null; // what waits for its turn
    #isBusy = false;

    constructor(language, characters) {
        this.language = language;
        this.characters = characters;
    }

    /**
     * Gives {text, seconds}, or null when a later text took the place of this one. Rejects with what to tell people.
     * Sentences that are foreign stay as they are.
     */
    async translate(text, isForeign) {
        if (text.length > this.characters)
            throw new Error(`The teacher translates texts of at most ${this.characters.toLocaleString('en')} characters.`);
        this.#asked?.(false);
        if (this.#isBusy && !await new Promise(turn => { this.#asked = turn; }))
            return null;
        this.#isBusy = true;
        this.#asked = null;
        try {
            return await this.#ask(text, isForeign);
        } finally {
            this.#isBusy = false;
            this.#asked?.(true);
        }
    }

    async #ask(text, isForeign) {
        const all = parts(text, this.language);
        const isGiven = part => isVisible(part) && !isForeign(part);
        let response;
        try {
            response = await fetch('teacher', {
                method: 'POST',
                headers: {'Content-Type': 'application/json'},
                body: JSON.stringify({sentences: all.filter(isGiven).map(part => part.trim())}),
            });
        } catch {
            throw new Error('The server of this page does not answer: it has ended, or the network is cut. What runs in ' +
                'the browser goes on without it.');
        }
        const answer = await response.json();
        if (!response.ok)
            throw new Error(answer.error);
        const translations = answer.translations.values();
        const joined = await Promise.all(all.map(part =>
            isGiven(part) ? translated(part, () => translations.next().value) : part));
        return {text: joined.join(''), seconds: answer.seconds};
    }
}
