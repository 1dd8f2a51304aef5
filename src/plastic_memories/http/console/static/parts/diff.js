// The difference between two texts, character by character (or word by word in Latin script).

const MOST = 1200;

/** @param {string} text */
function pieces(text) {
  return text.match(/[\p{Script=Latin}\p{N}]+|\s+|./gu) ?? [];
}

/**
 * Return runs of the two texts: kept, removed, added.
 * @param {string} before
 * @param {string} after
 * @returns {{kind: "same" | "del" | "ins", text: string}[]}
 */
export function textDiff(before, after) {
  const a = pieces(before);
  const b = pieces(after);
  if (a.length > MOST || b.length > MOST) return [{ kind: "del", text: before }, { kind: "ins", text: after }];
  const lengths = commonLengths(a, b);
  /** @type {{kind: "same" | "del" | "ins", text: string}[]} */
  const runs = [];
  const add = (/** @type {"same" | "del" | "ins"} */ kind, /** @type {string} */ text) => {
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return runs;
}

/**
 * @param {string[]} a
 * @param {string[]} b
 */
function commonLengths(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}
