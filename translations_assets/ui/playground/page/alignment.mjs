// Which word of a translation stands for which word of the text. The engine gives no alignments, but it keeps HTML: an
// element around a word of the text comes back around the words of the translation that are aligned with it.

/** The words of a text: what stands between its white space. */
export function wordsOf(text) {
    return [...text.matchAll(/\S+/g)].map(({0: word, index}) => ({start: index, end: index + word.length}));
}

/** The text as HTML, with an element around each word whose id is the word's number. */
export function asHtml(text) {
    let end = 0, html = '';
    for (const [number, word] of wordsOf(text).entries()) {
        html += `${text.slice(end, word.start)}<b id="${number}">${escaped(text.slice(word.start, word.end))}</b>`;
        end = word.end;
    }
    return html + text.slice(end);
}

/**
 * The words of a translation, each with the number of the word of the text that it is aligned with, or null: from the
 * translation, and what the engine made of the text as HTML. Empty where the two differ in their words.
 */
export function aligned(translation, html) {
    const body = new DOMParser().parseFromString(html, 'text/html').body; // which shows nothing and runs nothing
    const found = [], texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(), open = false; node; node = texts.nextNode()) {
        const number = node.parentElement.closest('b[id]')?.id;
        for (const part of node.data.split(/(\s+)/)) {
            if (!part.trim()) {
                open &&= !part;
            } else if (open) { // it goes on with the word before
                found.at(-1).text += part;
            } else {
                found.push({text: part, number: number === undefined ? null : Number(number)});
                open = true;
            }
        }
    }
    const words = wordsOf(translation);
    const isSame = words.length === found.length &&
        words.every(({start, end}, index) => translation.slice(start, end) === found[index].text);
    return isSame ? words.map((word, index) => ({...word, number: found[index].number})) : [];
}

function escaped(text) {
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
