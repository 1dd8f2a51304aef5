// Dates in the language of the page, which need not be that of the browser.

/** Return a day as text; `seconds` since 1970. */
export function dayText(seconds, locale) {
    return text(seconds, locale, { dateStyle: 'medium' });
}

/** Return a day and a time as text. */
export function momentText(seconds, locale) {
    return text(seconds, locale, { dateStyle: 'medium', timeStyle: 'short' });
}

function text(seconds, locale, style) {
    const [known] = supported(locale);
    return new Intl.DateTimeFormat(known, style).format(new Date(seconds * 1000));
}

function supported(locale) {
    try {
        return Intl.DateTimeFormat.supportedLocalesOf(locale ? [locale] : []);
    } catch {
        return []; // no language at all: that of the browser
    }
}
