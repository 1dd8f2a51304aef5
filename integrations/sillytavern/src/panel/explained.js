// What is wrong, for people.

/** Say in a sentence what is wrong and what helps. */
export function explained(error, t) {
    switch (error.kind) {
        case 'unreachable':
            return t('The hub cannot be reached. Is it running, and is the address right?');
        case 'timeout':
            return t('The hub did not answer in time.');
        case 'unauthorized':
            return t('The hub does not know this key.');
        case 'forbidden':
            return `${t('The hub does not allow this.')} ${error.message}`;
        case 'not_a_hub':
            return t('Something answers at this address, but it is no hub.');
        default:
            return error.message;
    }
}
