// Reads a vocabulary's file, and prints its letters, and of each text of stdin, a JSON array, the words that it does not
// know, whether the text is foreign and its passages, as JSON.
import {readFileSync} from 'node:fs';
import {isForeign, knownLetters, passages, unknownWords} from '../../translations_assets/ui/playground/page/letters.mjs';

const known = knownLetters(readFileSync(process.argv[2]));
const texts = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify({
    known: known && [...known],
    texts: texts.map(text => ({
        unknown: unknownWords(text, known), foreign: isForeign(text, known), passages: passages(text, 'en', known),
    })),
}));
