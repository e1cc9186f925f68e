import { visibleLine } from '../../visibleText.ts';
import type { Finding } from '../finding.ts';
import { FEATURE, METHOD, PERSPECTIVE, URL_TEXT } from './aliases.ts';
import { firstHit, type JsonObject } from './json.ts';

/** Longest feature name and address (API reference, section 2.7). */
const maxLength = 5_000;

/** What a finding of a live application says of the place where it was found; nothing of a finding about code. */
export function readLive(fields: JsonObject): Pick<Finding, 'method' | 'url' | 'feature' | 'perspective'> {
  const live = {
    method: firstHit(fields, METHOD, toMethod),
    url: firstHit(fields, URL_TEXT, toAddress),
    feature: firstHit(fields, FEATURE, toLine),
    perspective: firstHit(fields, PERSPECTIVE, toWord),
  };
  // One alone may be anything: `url` a reference, `feature` a part of the code.
  return Object.values(live).filter((each) => each !== undefined).length > 1 ? live : {};
}

/** Upper case alone: `get` is more often the name of a function. */
function toMethod(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{3,10}$/.test(value) ? value : undefined;
}

/** A web address, or a path that starts with `/`. */
function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:https?:\/)?\/\S*$/i.test(value) ? toLine(value) : undefined;
}

function toWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{N} _-]{0,63}$/u.test(value) ? value : undefined;
}

function toLine(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;
  return isText ? visibleLine(value) : undefined;
}
