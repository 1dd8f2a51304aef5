// The form of the settings: each field names its setting.
import { setAt, valueAt } from '../settings.js';

export function bindForm(root, settings, onChange) {
    for (const field of root.querySelectorAll('[data-setting]')) {
        const path = field.dataset.setting;
        show(field, valueAt(settings(), path));
        field.addEventListener(field.type === 'checkbox' || field.tagName === 'SELECT' ? 'change' : 'input', () => {
            const value = read(field);
            if (value === undefined) return;
            setAt(settings(), path, value);
            onChange(path, value);
        });
    }
}

function show(field, value) {
    if (field.type === 'checkbox') field.checked = Boolean(value);
    else field.value = String(value);
}

/** Return the field's value; undefined while a number is out of its bounds. */
function read(field) {
    if (field.type === 'checkbox') return field.checked;
    if (field.type === 'number') return field.checkValidity() ? field.valueAsNumber || 0 : undefined;
    if (['true', 'false'].includes(field.value)) return field.value === 'true';
    return field.value;
}
