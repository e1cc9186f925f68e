/** Where a place is now, compared with the text that was scanned; `unknown` when that text is not at hand. */
export type Drift = 'same' | 'moved' | 'changed' | 'gone' | 'unknown';
