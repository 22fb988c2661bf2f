// A text cut into what a model translates at once, as pipeline/common/sentences.py cuts it for evaluation. There is
// no vocabulary here: a length in characters takes the place of one in pieces.

const LONGEST = 400; // of a sentence, about a hundred pieces: the engine cuts inside words at 127
const REQUEST = 2000; // characters of sentences that the engine gets together, which is faster
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/gu;
const WIDTH = 3; // a wide character is as many pieces as so many letters
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
// Where a long sentence is cut: where one may end all the same, behind a clause, at white space
const PLACES = [/[.!?…]['"\p{Pe}\p{Pf}]*\s+/gu, /[,:;–—՝،؛]\s+|[、，；：､]/gu, /\s+/gu];
const NEAR = 32; // of the middle: a character that is longer is cut all the same

/** Whether a text has more than white space and characters of no width: of others the engine makes words. */
export function isVisible(text) {
    return VISIBLE.test(text);
}

/** The sentences of a text and the parts of those that are too long, with the white space around them: joined, the text. */
export function parts(text, language) {
    return sentences(text, language).flatMap(halves);
}

/** The same for an engine that finds sentences itself: those that are not too long stand together. */
export function requests(text, language) {
    const found = [''];
    for (const sentence of sentences(text, language)) {
        if (!fits(sentence))
            found.push(...halves(sentence), '');
        else if (found.at(-1).length + sentence.length <= REQUEST)
            found[found.length - 1] += sentence;
        else
            found.push(sentence);
    }
    return found.filter(Boolean);
}

/** What `translate` makes of a part, which gets it without the white space around it; of nothing visible that itself. */
export async function translated(part, translate) {
    if (!isVisible(part))
        return part;
    const before = part.length - part.trimStart().length, after = part.trimEnd().length;
    return part.slice(0, before) + await translate(part.slice(before, after)) + part.slice(after);
}

/** The sentences of a text with the white space behind them; its lines where the browser finds none. */
export function sentences(text, language) {
    const segmenter = segmenterOf('sentence', language);
    const lines = text.split(/(\n+)/).filter(Boolean);
    return segmenter ? lines.flatMap(line => [...segmenter.segment(line)].map(({segment}) => segment)) : lines;
}

function fits(text) {
    return text.length <= LONGEST / WIDTH || text.length + (WIDTH - 1) * (text.match(WIDE) ?? []).length <= LONGEST;
}

function halves(text) {
    if (fits(text))
        return text ? [text] : [];
    const place = placeIn(text);
    const first = text.slice(0, place).trimEnd(), rest = text.slice(place).trimStart();
    const space = text.slice(first.length, text.length - rest.length);
    return [...halves(first), ...(space ? [space] : []), ...halves(rest)];
}

/** Where to cut a text: behind what is found nearest to its middle. */
function placeIn(text) {
    const middle = Math.floor(text.length / 2), quarter = Math.floor(text.length / 4);
    const part = text.slice(quarter, text.length - quarter);
    for (const pattern of PLACES) {
        const ends = [...part.matchAll(pattern)].map(({0: found, index}) => quarter + index + found.length);
        if (ends.length)
            return ends.reduce((best, end) => Math.abs(end - middle) < Math.abs(best - middle) ? end : best);
    }
    const segmenter = segmenterOf('grapheme');
    if (!segmenter)
        return middle + /[\uDC00-\uDFFF]/.test(text[middle]); // not inside a character of two units
    const near = [...segmenter.segment(text.slice(middle - NEAR, middle + NEAR))];
    return middle - NEAR + near.find(({index, segment}) => index + segment.length >= NEAR).index;
}

/** Null in browsers that have none. */
function segmenterOf(granularity, language) {
    if (!globalThis.Intl?.Segmenter)
        return null;
    try {
        return new Intl.Segmenter(language?.replace('_', '-'), {granularity});
    } catch { // a code that is none of BCP 47's
        return new Intl.Segmenter(undefined, {granularity});
    }
}
