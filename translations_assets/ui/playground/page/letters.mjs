// The letters that a model was taught, as its vocabulary (SentencePiece's) has them: of others it has bytes alone, and
// makes bytes of them that are no text.

import {sentences} from './parts.mjs';

const PIECE = 1, TYPE = 3, NORMAL = 1, USER_DEFINED = 4; // fields and values of sentencepiece_model.proto
const LETTERS = /[\p{L}\p{M}]+/gu;
const SHARE = 0.5; // of a word's letters, of a sentence's: a foreign letter in a name is no foreign script

/** The letters among a vocabulary's pieces, in lower case; null where it has none, as one of bytes. */
export function knownLetters(vocabulary) {
    const known = new Set();
    for (const [field, piece] of fields(new Uint8Array(vocabulary))) {
        if (field !== PIECE)
            continue;
        const {[PIECE]: text, [TYPE]: type = NORMAL} = Object.fromEntries(fields(piece));
        if (type === NORMAL || type === USER_DEFINED)
            for (const [letters] of new TextDecoder().decode(text).matchAll(LETTERS))
                for (const letter of letters.toLowerCase())
                    known.add(letter);
    }
    return known.size ? known : null;
}

/** The words of a text that are spelled in letters that a model does not know, each once. */
export function unknownWords(text, known) {
    return [...new Set(words(text).filter(word => isUnknown(word, known)))];
}

/** Whether most letters of a text stand in such words. */
export function isForeign(text, known) {
    const all = words(text), unknown = all.filter(word => isUnknown(word, known));
    return unknown.length > 0 && length(unknown) > SHARE * length(all);
}

/** A text cut between sentences in such letters and others: [{text, foreign}], joined the text. */
export function passages(text, language, known) {
    const found = [];
    for (const sentence of known ? sentences(text, language) : [text]) {
        const foreign = isForeign(sentence, known);
        if (found.length && (found.at(-1).foreign === foreign || !sentence.trim()))
            found.at(-1).text += sentence;
        else
            found.push({text: sentence, foreign});
    }
    return found;
}

function words(text) {
    return text.normalize('NFKC').match(LETTERS) ?? []; // which all rules of vocabularies hold
}

function isUnknown(word, known) {
    const letters = [...word.toLowerCase()];
    return known !== null && letters.filter(letter => !known.has(letter)).length > SHARE * letters.length;
}

function length(words) {
    return words.reduce((sum, word) => sum + word.length, 0);
}

/** The fields of a message of Protocol Buffers: [number, value], a value that is no number as bytes. */
function* fields(bytes) {
    let at = 0;
    const number = () => {
        let value = 0, scale = 1, byte;
        do {
            byte = bytes[at++];
            value += (byte & 127) * scale;
            scale *= 128;
        } while (byte & 128);
        return value;
    };
    while (at < bytes.length) {
        const tag = number(), kind = tag & 7;
        const long = kind === 2 ? number() : {1: 8, 5: 4}[kind];
        yield [tag >> 3, kind === 0 ? number() : bytes.subarray(at, at += long)];
    }
}
