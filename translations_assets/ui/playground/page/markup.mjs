// HTML through the engine, which keeps tags, but ends at markup that is not well-formed: the browser reads a text's,
// and the engine gets what stands in one block after another.

import {isVisible, translated} from './parts.mjs';

const TAGS = /<\/[a-z][a-z\d-]*\s*>|<(?:br|hr|img|wbr)(?:\s[^<>]*)?\/?>|<!doctype\s/i;
const PAGE = /<(?:!doctype|html|head|body)[\s>]/i;
// What stands inside sentences; what anything else holds is read by itself
const INLINE = new Set(['a', 'abbr', 'acronym', 'b', 'bdi', 'bdo', 'big', 'cite', 'code', 'data', 'del', 'dfn', 'em',
    'font', 'i', 'img', 'ins', 'kbd', 'label', 'mark', 'q', 's', 'samp', 'small', 'span', 'strike', 'strong', 'sub',
    'sup', 'time', 'tt', 'u', 'var', 'wbr']);
const NO_TEXT = 'canvas,iframe,math,noembed,noframes,object,plaintext,script,style,svg,template,textarea,xmp,' +
    '[translate=no],.notranslate';

/** Whether a text has tags that people write, and not only `<`. */
export function looksLikeMarkup(text) {
    return TAGS.test(text);
}

/** The text of markup, without tags, a block a line. */
export function textOf(markup) {
    return [...runs(parsed(markup).root)].map(shownText).filter(isVisible).join('\n');
}

/** Markup whose text is translated: `ofText` translates a text, `ofMarkup` a text with inline tags, given as both. */
export async function translatedMarkup(markup, ofText, ofMarkup) {
    const {root, written} = parsed(markup);
    for (const run of [...runs(root)]) {
        const text = shownText(run), [first] = run, holder = document.createElement('template');
        if (!isVisible(text))
            continue;
        holder.content.append(...run.map(node => node.cloneNode(true)));
        if (run.every(node => node.nodeType === Node.TEXT_NODE))
            holder.content.replaceChildren(await translated(text, ofText));
        else
            holder.innerHTML = await translated(holder.innerHTML, inner => ofMarkup(inner, text));
        first.before(holder.content);
        run.forEach(node => node.remove());
    }
    return written();
}

/** A page, or a part of one: its root, and what writes it. Neither is shown, and nothing in it runs or is loaded. */
function parsed(markup) {
    if (PAGE.test(markup)) {
        const page = new DOMParser().parseFromString(markup, 'text/html');
        const type = page.doctype ? '<!DOCTYPE html>\n' : '';
        return {root: page, written: () => type + page.documentElement.outerHTML};
    }
    const part = document.createElement('template');
    part.innerHTML = markup;
    return {root: part.content, written: () => part.innerHTML};
}

/** The longest rows of neighbours that one sentence may go through. */
function* runs(node) {
    let run = [];
    for (const child of node.childNodes) {
        if (isInline(child)) {
            run.push(child);
            continue;
        }
        if (run.length)
            yield run;
        run = [];
        if (child.nodeType === Node.ELEMENT_NODE && !child.matches(NO_TEXT))
            yield* runs(child);
    }
    if (run.length)
        yield run;
}

function isInline(node) {
    if (node.nodeType === Node.TEXT_NODE)
        return true;
    return INLINE.has(node.localName) && !node.matches(NO_TEXT) && [...node.childNodes].every(isInline);
}

function shownText(run) {
    return run.map(node => node.textContent).join('');
}
