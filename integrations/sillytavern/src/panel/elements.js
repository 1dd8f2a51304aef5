// Small builders of page elements. Text is always set as text, never as markup.

export function element(tag, { className, text, title, onClick, ...more } = {}, children = []) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    if (title) made.title = title;
    if (onClick) made.addEventListener('click', onClick);
    Object.assign(made, more);
    made.append(...children);
    return made;
}

export function iconButton(icon, title, onClick) {
    const button = element('button', {
        type: 'button', className: `pm-icon fa-solid ${icon}`, title, onClick,
    });
    button.setAttribute('aria-label', title);
    return button;
}

export function hint(text) {
    return element('div', { className: 'pm-hint', text });
}
